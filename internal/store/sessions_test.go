package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// signedIn is a session that was opened at noon, told apart by its first byte.
func signedIn(first byte, lasts time.Duration) ipn.Session {
	return ipn.Session{Digest: [32]byte{first}, Token: "maria", Proof: [32]byte{first, 1}, OpenedAt: noon, ExpiresAt: noon.Add(lasts)}
}

func TestASessionIsKeptUntilItIsClosed(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	opened := signedIn(1, time.Hour)
	if err := s.OpenSession(t.Context(), opened, [32]byte{}, byMaria); err != nil {
		t.Fatal(err)
	}
	got, err := s.Session(t.Context(), opened.Digest)
	if err != nil || got.Token != "maria" || got.Digest != opened.Digest || got.Proof != opened.Proof || !got.OpenedAt.Equal(opened.OpenedAt) || !got.ExpiresAt.Equal(opened.ExpiresAt) {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := s.CloseSession(t.Context(), opened.Digest, byMaria); err != nil {
		t.Error(err)
	}
	if got, err := s.Session(t.Context(), opened.Digest); !errors.Is(err, ipn.ErrNotFound) {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := s.CloseSession(t.Context(), opened.Digest, byMaria); !errors.Is(err, ipn.ErrNotFound) {
		t.Errorf("closed twice: got %v", err)
	}
	entries, err := s.Audit(t.Context(), 0, 10)
	if err != nil || len(entries) != 2 || entries[0].Action != "sign-out" || entries[1].Action != "sign-in" || entries[1].Actor != byMaria.Actor {
		t.Errorf("got %+v, %v", entries, err)
	}
}

func TestASessionThatOpensEndsThoseThatAreOverAndTheOneBefore(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	later := signedIn(4, time.Hour)
	later.OpenedAt, later.ExpiresAt = noon.Add(time.Minute), noon.Add(time.Hour)
	for _, session := range []ipn.Session{signedIn(1, time.Minute), signedIn(2, time.Hour), signedIn(3, time.Hour)} {
		if err := s.OpenSession(t.Context(), session, [32]byte{}, byMaria); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.OpenSession(t.Context(), later, [32]byte{2}, byMaria); err != nil {
		t.Fatal(err)
	}
	for first, want := range map[byte]error{1: ipn.ErrNotFound, 2: ipn.ErrNotFound, 3: nil, 4: nil} {
		if _, err := s.Session(t.Context(), [32]byte{first}); !errors.Is(err, want) {
			t.Errorf("session %d: got %v, want %v", first, err, want)
		}
	}
}

func TestASessionWithoutAnActIsNotOpened(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	opened := signedIn(1, time.Hour)
	if err := s.OpenSession(t.Context(), opened, [32]byte{}, ipn.Act{Actor: "page:maria"}); err == nil || errors.Is(err, ipn.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Session(t.Context(), opened.Digest); !errors.Is(err, ipn.ErrNotFound) {
		t.Errorf("it was opened: %v", err)
	}
}

func TestSessionsOfARecordThatIsAwayAreUnavailable(t *testing.T) {
	t.Parallel()
	s := open(t, "host="+t.TempDir()+" user=nobody dbname=nothing")
	_, looked := s.Session(t.Context(), [32]byte{1})
	for what, err := range map[string]error{
		"open": s.OpenSession(t.Context(), signedIn(1, time.Hour), [32]byte{}, byMaria), "look": looked,
		"close": s.CloseSession(t.Context(), [32]byte{1}, byMaria), "witness": s.WitnessAct(t.Context(), "reveal", byMaria, nil),
	} {
		if !errors.Is(err, ipn.ErrUnavailable) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

func TestALookAtWhatIsHiddenIsInTheAudit(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	for _, details := range []any{nil, map[string]any{"eventId": 7}} {
		if err := s.WitnessAct(t.Context(), "reveal", byMaria, details); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := s.Audit(t.Context(), 0, 10)
	if err != nil || len(entries) != 2 {
		t.Fatalf("got %+v, %v", entries, err)
	}
	for i, want := range []string{`{"eventId": 7}`, ""} {
		if e := entries[i]; e.Action != "reveal" || e.Actor != byMaria.Actor || e.Reason != byMaria.Reason || e.Handler != "" || string(e.Details) != want {
			t.Errorf("got %+v with %s, want %s", e, e.Details, want)
		}
	}
	if err := s.WitnessAct(t.Context(), "reveal", ipn.Act{Actor: "page:maria"}, nil); err == nil || errors.Is(err, ipn.ErrUnavailable) {
		t.Errorf("without a reason: got %v", err)
	}
}
