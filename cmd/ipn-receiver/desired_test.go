package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// paid are the settings of a payment service that can be asked.
var paid = map[string]string{
	"IPN_PAYMENTS_URL": "https://api.payments.example", "IPN_PAYMENTS_CREDENTIALS": "merchant:" + canary, "IPN_PUBLIC_URL": "https://hooks.example/ipn",
}

func TestSettingsOfThePaymentServiceThatCannotBeAreRefused(t *testing.T) {
	file := func(text string) string { return "--configuration-file=" + mustWrite(t, text) }
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		want string // the setting complained of
	}{
		{"credentials without an address", with(paid, "IPN_PAYMENTS_URL", ""), nil, "payments-url"},
		{"an address without credentials", with(paid, "IPN_PAYMENTS_CREDENTIALS", ""), nil, "payments-credentials"},
		{"credentials without a colon", with(paid, "IPN_PAYMENTS_CREDENTIALS", canary), nil, "payments-credentials"},
		{"a name without a password", with(paid, "IPN_PAYMENTS_CREDENTIALS", canary+":"), nil, "payments-credentials"},
		{"an address with credentials in it", with(paid, "IPN_PAYMENTS_URL", "https://a:"+canary+"@api.payments.example"), nil, "payments-url"},
		{"an address with a query", with(paid, "IPN_PAYMENTS_URL", "https://api.payments.example/?a=b"), nil, "payments-url"},
		{"an address in the clear", with(paid, "IPN_PAYMENTS_URL", "http://api.payments.example"), nil, "payments-url"},
		{"an address that is none", with(paid, "IPN_PAYMENTS_URL", "api.payments.example"), nil, "payments-url"},
		{"a version header that is none", paid, []string{"--payments-version-header=a b"}, "payments-version-header"},
		{"a public door for all that has no URL", with(with(paid, "IPN_PUBLIC_URL", ""), "IPN_SIGNING_SECRETS", canary), []string{"--listen=:8080"}, "public-url"},
		{"a public URL in the clear", with(paid, "IPN_PUBLIC_URL", "http://hooks.example/ipn"), nil, "public-url"},
		{"a public URL without a path", with(paid, "IPN_PUBLIC_URL", "https://hooks.example"), nil, "public-url"},
		{"a notification nobody knows", paid, []string{"--notifications=CHARGE,TEAPOT"}, "notifications"},
		{"a notification without a flag", paid, []string{"--notifications=UNDER_REVIEW"}, "notifications"},
		{"an interval of nothing", paid, []string{"--configure-interval=0s"}, "configure-interval"},
		{"a file that is not there", with(paid, "IPN_PUBLIC_URL", ""), []string{"--configuration-file=/nowhere/at/all"}, "configuration-file"},
		{"a file and settings", paid, []string{file("ipnUrl: https://hooks.example/ipn")}, "configuration-file"},
		{"a file without a URL", with(paid, "IPN_PUBLIC_URL", ""), []string{file("notifications: [all]")}, "configuration-file"},
		{"a file with a field nobody knows", with(paid, "IPN_PUBLIC_URL", ""), []string{file("ipnUrl: https://hooks.example/ipn\nnotification: [all]")}, "configuration-file"},
		{"a file with a word for a list", with(paid, "IPN_PUBLIC_URL", ""), []string{file("ipnUrl: https://hooks.example/ipn\nensureNotificationReceipt: perhaps")}, "configuration-file"},
		{"a file that excepts everything", with(paid, "IPN_PUBLIC_URL", ""), []string{file("ipnUrl: https://hooks.example/ipn\nexcept: [all]")}, "configuration-file"},
		{"a file that names nothing", with(paid, "IPN_PUBLIC_URL", ""), []string{file("ipnUrl: https://hooks.example/ipn\nnotifications: []")}, "configuration-file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := checked(t, c.env, c.args...)
			if err == nil || !strings.Contains(err.Error(), name(c.want)+": ") {
				t.Fatalf("got %v, want a complaint about %s", err, name(c.want))
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestWithoutAPaymentServiceNothingIsAskedOfTheSettings(t *testing.T) {
	if _, err := checked(t, map[string]string{"IPN_SIGNING_SECRETS": canary}, "--listen=:8080"); err != nil {
		t.Error(err)
	}
}

func TestTheDesiredConfigurationIsWhatSettingsOrFileSay(t *testing.T) {
	all := ipn.Flags()
	but := func(less ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(flag string) bool { return slices.Contains(less, flag) })
	}
	fromFile := with(paid, "IPN_PUBLIC_URL", "")
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		want []string // flags that are on
	}{
		{"all, when nothing is said", paid, nil, all},
		{"types, flags and any letter case", paid, []string{"--notifications=CHARGE,sendrefund,payment_update_failure"}, []string{"sendCharge", "sendRefund", "sendPaymentUpdateFailure"}},
		{"a file", fromFile, []string{"--configuration-file=" + mustWrite(t, "ipnUrl: https://hooks.example/ipn\nexcept: [CHARGE]")}, but("sendCharge")},
		{"a file in JSON", fromFile, []string{"--configuration-file=" + mustWrite(t, `{"ipnUrl": "https://hooks.example/ipn", "notifications": ["PAYOUT"]}`)}, []string{"sendPayout"}},
		{"the example", fromFile, []string{"--configuration-file=../../deploy/configuration.example.yaml"}, but("sendShopperDeleted", "sendVendorReportAvailable")},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := checked(t, c.env, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			d := s.wanted("").Destinations[0]
			if d.URL != "https://hooks.example/ipn" || len(d.Send) != 28 {
				t.Errorf("got %q with %d flags, want the URL and 28", d.URL, len(d.Send))
			}
			for flag, on := range d.Send {
				if on != slices.Contains(c.want, flag) {
					t.Errorf("%s: got %t", flag, on)
				}
			}
		})
	}
}

func TestADoorOnLoopbackIsItsOwnURL(t *testing.T) {
	s, err := checked(t, with(paid, "IPN_PUBLIC_URL", ""), "--ensure-notification-receipt=on")
	if err != nil {
		t.Fatal(err)
	}
	desired := s.wanted("http://127.0.0.1:4711/ipn")
	if desired.Destinations[0].URL != "http://127.0.0.1:4711/ipn" || !desired.EnsureReceipt || desired.ReceiveAffiliate || s.Desired.Destinations[0].URL != "" {
		t.Errorf("got %+v", desired)
	}
}

func TestCredentialsFollowTheirFile(t *testing.T) {
	path := mustWrite(t, "merchant:first:with a colon\n")
	s, err := checked(t, map[string]string{"IPN_PAYMENTS_URL": "https://api.payments.example", "IPN_PAYMENTS_CREDENTIALS_FILE": path})
	if err != nil {
		t.Fatal(err)
	}
	if user, password, err := s.credentials(); user != "merchant" || password != "first:with a colon" || err != nil {
		t.Errorf("got %q, %q, %v", user, password, err)
	}
	if err := os.WriteFile(path, []byte("merchant:second"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, password, err := s.credentials(); password != "second" || err != nil {
		t.Errorf("after the rotation: got %q, %v", password, err)
	}
}

// TestFlagsAndResultsAreThoseOfTheClient holds two lists together that stand apart because neither room may know the other.
func TestFlagsAndResultsAreThoseOfTheClient(t *testing.T) {
	if flags := payments.NotificationFlags(); !slices.Equal(flags, ipn.Flags()) {
		t.Errorf("flags: the client has %v, the table of types %v", flags, ipn.Flags())
	}
	for _, result := range []payments.Result{payments.ResultInSync, payments.ResultDrift, payments.ResultReplaced, payments.ResultUnconfirmed, payments.ResultRefused, payments.ResultFailed} {
		if !slices.Contains(ipn.ConfigurationResults(), string(result)) || lookWords[string(result)].words == "" || pushWords[string(result)] == "" {
			t.Errorf("the client's result %q is not told", result)
		}
	}
}
