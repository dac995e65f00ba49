package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

const (
	configurationPath = "/services/2/notification-config/"
	rest              = `"ensureNotificationReceipt":true,"receiveAffiliateNotifications":false`
)

func TestAConfigurationIsReplacedWholeInJSONAndInXML(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, kind, body string }{
		{"JSON, as a list", "application/json",
			`{"ipnDestinations":[{"ipnUrl":"https://hooks.example.com/a?b=1&c=2","sendCharge":true,"sendCcFailure":"Y","sendRefund":"false"}],` + rest + `}`},
		{"JSON, as the object itself", "application/json; charset=utf-8",
			`{"ipnDestinations":{"ipnUrl":"https://hooks.example.com/a?b=1&c=2","sendCharge":"true","sendCcFailure":true},"ensureNotificationReceipt":"true","receiveAffiliateNotifications":"N"}`},
		{"XML", "application/xml",
			`<notification-config xmlns="http://ns.example.com"><ipn-destinations><ipn-destination><ipn-url>https://hooks.example.com/a?b=1&amp;c=2</ipn-url>
			<send-charge>true</send-charge><send-cc-failure> true </send-cc-failure></ipn-destination></ipn-destinations>
			<ensure-notification-receipt>true</ensure-notification-receipt><receive-affiliate-notifications>false</receive-affiliate-notifications></notification-config>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t)
			w.ask(t, http.MethodPost, configurationPath, `{"ipnDestinations":[{"ipnUrl":"https://old.example.com","sendDecline":true}],`+rest+`}`)
			got := w.ask(t, http.MethodPost, configurationPath, c.body, "Content-Type: "+c.kind)
			wants(t, "status of "+got.text, got.status, http.StatusNoContent)
			read := w.ask(t, http.MethodGet, configurationPath, "", "service-version: 2.0")
			wants(t, "status", read.status, http.StatusOK)
			read.fields(t, map[string]string{
				"ipnDestinations.0.ipnUrl": "https://hooks.example.com/a?b=1&c=2", "ipnDestinations.1": "",
				"ensureNotificationReceipt": "true", "receiveAffiliateNotifications": "false",
			})
			for _, flag := range ipn.Flags() {
				want := map[string]string{"sendCharge": "true", "sendCcFailure": "true"}[flag]
				if want == "" {
					want = "false"
				}
				wants(t, flag, read.at("ipnDestinations.0."+flag), want)
			}
		})
	}
}

func TestAConfigurationReadInXMLCanBeSentBack(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	w.ask(t, http.MethodPost, configurationPath, `{"ipnDestinations":[{"ipnUrl":"https://hooks.example.com/a?b=1&c=2","sendCharge":true}],`+rest+`}`)
	before := w.ask(t, http.MethodGet, configurationPath, "")
	read := w.ask(t, http.MethodGet, configurationPath, "", "Accept: application/xml")
	if !strings.Contains(read.text, "<send-cancel-on-renewal>false</send-cancel-on-renewal>") || strings.Count(read.text, "<send-") != len(ipn.Flags()) {
		t.Errorf("not all flags are told: %s", read.text)
	}
	w.ask(t, http.MethodDelete, configurationPath, "")
	wants(t, "status", w.ask(t, http.MethodPost, configurationPath, read.text, "Content-Type: text/xml").status, http.StatusNoContent)
	wants(t, "what is read then", w.ask(t, http.MethodGet, strings.TrimSuffix(configurationPath, "/"), "").text, before.text)
}

func TestAConfigurationIsDeletedWithAllItsDestinations(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	w.ask(t, http.MethodPost, configurationPath, `{"ipnDestinations":[{"ipnUrl":"https://a.example.com"},{"ipnUrl":"https://b.example.com"}],`+rest+`}`)
	wants(t, "the second one", w.ask(t, http.MethodGet, configurationPath, "").at("ipnDestinations.1.ipnUrl"), "https://b.example.com")
	for range 2 {
		wants(t, "status", w.ask(t, http.MethodDelete, configurationPath, "", "service-version: 2.0").status, http.StatusNoContent)
	}
	read := w.ask(t, http.MethodGet, configurationPath, "")
	wants(t, "what is read then", read.text, `{"ipnDestinations":[],"ensureNotificationReceipt":false,"receiveAffiliateNotifications":false}`)
}

func TestAConfigurationIsRefusedAndTheOldOneStays(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	w.ask(t, http.MethodPost, configurationPath, `{"ipnDestinations":[{"ipnUrl":"https://old.example.com"}],`+rest+`}`)
	const there = `{"ipnDestinations":[{"ipnUrl":"https://new.example.com"`
	for _, c := range []struct{ name, kind, body, code, property string }{
		{"no destinations", "application/json", `{` + rest + `}`, "16001", "ipnDestinations"},
		{"an empty list", "application/json", `{"ipnDestinations":[],` + rest + `}`, "16001", "ipnDestinations"},
		{"no URL", "application/json", `{"ipnDestinations":[{"sendCharge":true}],` + rest + `}`, "16001", "ipnUrl"},
		{"a path for a URL", "application/json", `{"ipnDestinations":[{"ipnUrl":"/ipn"}],` + rest + `}`, "10001", "ipnUrl"},
		{"another scheme", "application/json", `{"ipnDestinations":[{"ipnUrl":"ftp://new.example.com"}],` + rest + `}`, "10001", "ipnUrl"},
		{"no receipt setting", "application/json", there + `}],"receiveAffiliateNotifications":false}`, "16001", "ensureNotificationReceipt"},
		{"no affiliate setting", "application/json", there + `}],"ensureNotificationReceipt":false}`, "16001", "receiveAffiliateNotifications"},
		{"a misspelt flag", "application/json", there + `,"sendCharges":true}],` + rest + `}`, "10001", "sendCharges"},
		{"a flag that is a number", "application/json", there + `,"sendCharge":1}],` + rest + `}`, "10001", "sendCharge"},
		{"a flag that is null", "application/json", there + `,"sendCharge":null}],` + rest + `}`, "10001", "sendCharge"},
		{"a flag that is neither", "application/json", there + `,"sendCharge":"perhaps"}],` + rest + `}`, "10001", "sendCharge"},
		{"destinations that are a text", "application/json", `{"ipnDestinations":"https://new.example.com",` + rest + `}`, "10001", "ipnDestinations"},
		{"a setting nobody knows", "application/json", there + `}],"more":true,` + rest + `}`, "10001", "more"},
		{"XML of something else", "application/xml", `<messages/>`, "10001", ""},
		{"XML whose destinations have another name", "application/xml", inXML(`<destination><ipn-url>https://new.example.com</ipn-url></destination>`), "10001", "ipnDestinations"},
		{"XML with the names of JSON", "application/xml", inXML(`<ipn-destination><ipn-url>https://new.example.com</ipn-url><sendCharge>true</sendCharge></ipn-destination>`), "10001", "sendCharge"},
		{"XML with something behind it", "application/xml", inXML(`<ipn-destination><ipn-url>https://new.example.com</ipn-url></ipn-destination>`) + `<more/>`, "10001", ""},
		{"XML that is cut", "application/xml", `<notification-config>`, "10001", ""},
		{"a form", "application/x-www-form-urlencoded", `ipnUrl=a`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := w.ask(t, http.MethodPost, configurationPath, c.body, "Content-Type: "+c.kind)
			wants(t, "code in "+got.text, got.code(), c.code)
			wants(t, "property", got.at("message.0.invalidProperty.name"), c.property)
			wants(t, "refused", got.status >= 400, true)
			wants(t, "URL", w.ask(t, http.MethodGet, configurationPath, "").at("ipnDestinations.0.ipnUrl"), "https://old.example.com")
		})
	}
}

// inXML is a configuration in XML with these destinations.
func inXML(destinations string) string {
	return `<notification-config><ipn-destinations>` + destinations + `</ipn-destinations><ensure-notification-receipt>true</ensure-notification-receipt>` +
		`<receive-affiliate-notifications>false</receive-affiliate-notifications></notification-config>`
}

// Every answer follows from what was asked: which of two mistakes is told must not be a matter of luck.
func TestOfTwoMistakesTheSameOneIsToldEachTime(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	for name, body := range map[string]string{
		"two members that nobody knows":  `{"ipnDestinations":[{"ipnUrl":"https://new.example.com","a":true,"b":true,"c":true}],` + rest + `}`,
		"two settings that nobody knows": `{"ipnDestinations":[{"ipnUrl":"https://new.example.com"}],"a":true,"b":true,"c":true,` + rest + `}`,
		"two values that cannot be":      `{"ipnDestinations":[{"ipnUrl":"https://new.example.com","a":1,"b":1,"c":1}],` + rest + `}`,
	} {
		for range 20 {
			wants(t, name, w.ask(t, http.MethodPost, configurationPath, body).at("message.0.invalidProperty.name"), "a")
		}
	}
}
