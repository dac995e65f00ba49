package access_test

import (
	"context"
	"slices"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
)

func TestEachRoleHasItsRightsAndNoOthers(t *testing.T) {
	t.Parallel()
	all := []access.Right{access.See, access.Reveal, access.Export, access.Record, access.Operate, access.Audit}
	for role, want := range map[access.Role][]access.Right{
		access.Viewer:   {access.See},
		access.Finance:  {access.See, access.Reveal, access.Export, access.Record},
		access.Operator: {access.See, access.Operate, access.Audit},
		access.Admin:    all,
		"":              nil,
		"root":          nil,
		"Admin":         nil,
	} {
		for _, right := range append([]access.Right{"", "SEE"}, all...) {
			if got := role.May(right); got != slices.Contains(want, right) {
				t.Errorf("%q may %q: got %t", role, right, got)
			}
		}
		if got := role.Rights(); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", role, got, want)
		}
	}
}

func TestWhatOneCallerDoesToTheRightsDoesNotReachAnother(t *testing.T) {
	t.Parallel()
	access.Viewer.Rights()[0] = access.Operate
	if access.Viewer.May(access.Operate) || !access.Viewer.May(access.See) {
		t.Error("a viewer was made an operator")
	}
}

func TestAnOperationNamesARightOrNone(t *testing.T) {
	t.Parallel()
	if right, named := access.Needed(access.Needs(access.Export)); right != access.Export || !named {
		t.Errorf("got %q, %t", right, named)
	}
	for name, metadata := range map[string]map[string]any{
		"no metadata": nil, "another entry": {"rights": access.See}, "a text": {"right": "see"},
		"the zero right": access.Needs(""), "a right nobody has": access.Needs("fly"),
	} {
		if right, named := access.Needed(metadata); named {
			t.Errorf("%s: got %q", name, right)
		}
	}
}

func TestAContextKnowsNobodyUntilItIsTold(t *testing.T) {
	t.Parallel()
	if p, known := access.From(context.Background()); known || p.May(access.See) {
		t.Errorf("got %+v", p)
	}
	maria := access.Person{Name: "maria", Role: access.Finance, Via: access.ViaPage}
	if p, known := access.From(access.With(t.Context(), maria)); !known || p != maria {
		t.Errorf("got %+v, %t", p, known)
	}
}

func TestTheAuditTellsHowSomebodyCame(t *testing.T) {
	t.Parallel()
	for via, want := range map[string]string{
		access.ViaToken: "api:maria", access.ViaPage: "page:maria", access.ViaProxy: "proxy:maria", access.ViaOpen: "open:maria", access.ViaCLI: "cli:maria",
	} {
		if got := (access.Person{Name: "maria", Role: access.Admin, Via: via}).Actor(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestARoleIsReadInAnyCaseAndNothingElseIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]access.Role{"viewer": access.Viewer, "Finance": access.Finance, "OPERATOR": access.Operator, "admin": access.Admin} {
		if got, err := access.ParseRole(text); got != want || err != nil {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "root", "admin ", "viewer,admin"} {
		if got, err := access.ParseRole(text); got != "" || err == nil {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
}
