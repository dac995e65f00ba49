package control_test

import (
	"strings"
	"testing"
)

func TestIPNsGoToAddressesOfTheWebOnly(t *testing.T) {
	w := start(t)
	for _, address := range []string{"file:///etc/hosts", "gopher://192.0.2.1/", "javascript:alert(1)", "http:///ipn", "192.0.2.1", "http://[::1"} {
		for _, ask := range []struct{ method, path, body string }{
			{"POST", "/burst", `{"count":1,"url":"` + address + `"}`},
			{"PUT", "/portal/configuration", `{"ipnDestinations":[{"ipnUrl":"` + address + `"}]}`},
		} {
			var answer struct{ Error string }
			if status := w.ask(t, ask.method, ask.path, ask.body, &answer); status != 400 || !strings.Contains(answer.Error, "http or https") {
				t.Errorf("%s %s: got %d %q", ask.path, address, status, answer.Error)
			}
		}
	}
}
