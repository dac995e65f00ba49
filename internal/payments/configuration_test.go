package payments_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

func TestTheFlagsAreThoseOfTheTypeTable(t *testing.T) {
	t.Parallel()
	flags := payments.NotificationFlags()
	if !slices.Equal(flags, ipn.Flags()) || len(flags) != 28 {
		t.Errorf("got %v, want %v", flags, ipn.Flags())
	}
	flags[0] = "changed"
	if payments.NotificationFlags()[0] == "changed" {
		t.Error("the list can be changed from outside")
	}
}

func TestEveryFlagIsSentExplicitly(t *testing.T) {
	t.Parallel()
	s, client := serve(t, says(http.StatusOK, ""))
	desired := configuration("https://hooks.example/ipn?shop=7&lang=en", "sendCharge", "sendRefund", "sendLaterAddition")
	desired.EnsureReceipt = true
	must(t, client.ReplaceNotificationConfiguration(t.Context(), desired))
	must(t, client.ReplaceNotificationConfigurationXML(t.Context(), desired))
	var pretty bytes.Buffer
	must(t, json.Indent(&pretty, []byte(s.requests()[0].body), "", "  "))
	golden(t, "testdata/configuration.json", pretty.String()+"\n")
	golden(t, "testdata/configuration.xml", strings.ReplaceAll(s.requests()[1].body, "><", ">\n<")+"\n")
}

func TestAConfigurationIsReadInAllItsSpellings(t *testing.T) {
	t.Parallel()
	want := configuration("https://hooks.example/ipn", "sendCharge", "sendLaterAddition")
	want.EnsureReceipt = true
	for name, text := range map[string]string{
		"booleans":      `{"ipnDestinations":[{"ipnUrl":"https://hooks.example/ipn","sendCharge":true,"sendLaterAddition":true}],"ensureNotificationReceipt":true}`,
		"strings":       `{"ipnDestinations":[{"ipnUrl":"https://hooks.example/ipn","sendCharge":"true","sendRefund":"False","sendLaterAddition":"Y"}],"ensureNotificationReceipt":"Y","receiveAffiliateNotifications":"n"}`,
		"an object":     `{"ipnDestinations":{"ipnUrl":"https://hooks.example/ipn","sendCharge":true,"sendRefund":null,"sendLaterAddition":true},"ensureNotificationReceipt":true}`,
		"more of all":   `{"links":{},"ipnDestinations":[{"id":7,"ipnUrl":"https://hooks.example/ipn","sendCharge":true,"sender":"x","sendLaterAddition":true}],"ensureNotificationReceipt":true}`,
		"its own words": string(marshal(t, want)),
	} {
		_, client := serve(t, says(http.StatusOK, text))
		got, err := client.NotificationConfiguration(t.Context())
		if err != nil || !bytes.Equal(marshal(t, got), marshal(t, want)) {
			t.Errorf("%s: got %s, %v", name, marshal(t, got), err)
		}
	}
}

func marshal(tb testing.TB, v any) []byte {
	tb.Helper()
	text, err := json.Marshal(v)
	must(tb, err)
	return text
}

func TestAConfigurationThatCannotBeReadNamesItsField(t *testing.T) {
	t.Parallel()
	for text, field := range map[string]string{
		`{"ipnDestinations":[{"ipnUrl":"x","sendCharge":"perhaps"}]}`:   "ipnDestinations.sendCharge",
		`{"ipnDestinations":[{"ipnUrl":7}]}`:                            "ipnDestinations.ipnUrl",
		`{"ipnDestinations":"none"}`:                                    "ipnDestinations",
		`{"ipnDestinations":[],"ensureNotificationReceipt":"perhaps"}`:  "ensureNotificationReceipt",
		`{"ensureNotificationReceipt":true}`:                            "ipnDestinations",
		`{"ipnDestinations":[],"receiveAffiliateNotifications":[true]}`: "receiveAffiliateNotifications",
	} {
		_, client := serve(t, says(http.StatusOK, text))
		_, err := client.NotificationConfiguration(t.Context())
		if !errors.Is(err, payments.ErrUnreadable) || !strings.Contains(err.Error(), ": "+field+" ") {
			t.Errorf("%s: got %v", text, err)
		}
		tells(t, err, "perhaps")
	}
}

func TestAConfigurationThatCannotBeIsNotSent(t *testing.T) {
	t.Parallel()
	s, client := serve(t, says(http.StatusOK, ""))
	twice := configuration("https://hooks.example/ipn")
	twice.Destinations = append(twice.Destinations, twice.Destinations...)
	alike := configuration("https://hooks.example/ipn")
	alike.Destinations = append(alike.Destinations, configuration("HTTPS://Hooks.example:443/ipn").Destinations...)
	for name, bad := range map[string]struct {
		configuration payments.NotificationConfiguration
		field         string
	}{
		"no destination":                   {payments.NotificationConfiguration{}, "ipnDestinations"},
		"no ipnUrl":                        {configuration(""), "ipnUrl"},
		"a relative ipnUrl":                {configuration("/ipn"), "ipnUrl"},
		"another scheme":                   {configuration("ftp://hooks.example/ipn"), "ipnUrl"},
		"no host":                          {configuration("https:///ipn"), "ipnUrl"},
		"the same URL twice":               {twice, "ipnUrl"},
		"the same URL in another spelling": {alike, "ipnUrl"},
		"a flag that is none":              {configuration("https://hooks.example/ipn", `send":true,"x`), "ipnDestinations"},
		"the URL as a flag":                {configuration("https://hooks.example/ipn", "ipnUrl"), "ipnDestinations"},
	} {
		for _, send := range []func() error{
			func() error { return client.ReplaceNotificationConfiguration(t.Context(), bad.configuration) },
			func() error { return client.ReplaceNotificationConfigurationXML(t.Context(), bad.configuration) },
		} {
			var field *payments.FieldError
			if err := send(); !errors.As(err, &field) || field.Field != bad.field {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
	if len(s.requests()) != 0 {
		t.Errorf("%d requests were sent", len(s.requests()))
	}
}
