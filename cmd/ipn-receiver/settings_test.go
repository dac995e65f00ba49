package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// canary is a secret that must be seen nowhere.
const canary = "canary-0123456789-secret"

// checked returns the settings of serve as the variables and flags make them.
func checked(tb testing.TB, env map[string]string, args ...string) (*Settings, error) {
	tb.Helper()
	if env["HOME"] == "" {
		env = with(env, "HOME", "/home/ann")
	}
	var stderr strings.Builder
	p := &program{args: args, stderr: &stderr, stdout: &stderr,
		lookupEnv: func(name string) (string, bool) { value, ok := env[name]; return value, ok }}
	chosen, _ := p.parse()
	serve, ok := chosen.(*serveCommand)
	if !ok {
		tb.Fatalf("no settings: %s", stderr.String())
	}
	return &serve.Settings, serve.check(machine{uid: 1000, lookupEnv: p.lookupEnv})
}

func with(env map[string]string, name, value string) map[string]string {
	more := map[string]string{}
	for k, v := range env {
		more[k] = v
	}
	more[name] = value
	return more
}

func TestTheDefaultsStartOnThisMachine(t *testing.T) {
	s, err := checked(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !s.UsesEmbedded() || s.VerificationMode() != "observe" || s.Production() || s.Zone.String() != "America/Los_Angeles" ||
		s.Hold != 4*time.Second || len(s.NodeFields) != 1 || s.DataDir == "" || s.CacheDir == "" {
		t.Errorf("got %+v", s)
	}
}

// production is the least that production needs.
var production = map[string]string{
	"IPN_ENV": "production", "IPN_LISTEN": ":8080", "IPN_DATABASE_URL": "postgres://db/" + canary,
	"IPN_SIGNING_SECRETS": canary, "IPN_API_TOKEN": canary,
}

func TestProductionStartsWithWhatItNeeds(t *testing.T) {
	s, err := checked(t, production)
	if err != nil {
		t.Fatal(err)
	}
	if s.UsesEmbedded() || s.VerificationMode() != "enforce" || !s.Production() || s.DataDir != "" {
		t.Errorf("got %+v", s)
	}
}

func TestSettingsThatCannotBeAreRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		want string // the setting complained of
	}{
		{"production on the private PostgreSQL", production, []string{"--database-url="}, "database-url"},
		{"production without verification", production, []string{"--verification=off"}, "verification"},
		{"production without verification, though accepted", production, []string{"--verification=off", "--accept-unverified"}, "verification"},
		{"production without a key", with(production, "IPN_LISTEN", "127.0.0.1:1"), []string{"--signing-secrets="}, "verification"},
		{"production that only observes", production, []string{"--verification=observe"}, "verification"},
		{"a public door for all that only observes", nil, []string{"--listen=:1", "--verification=observe", "--signing-secrets=" + canary}, "verification"},
		{"production that asks nobody who they are", production, []string{"--api-token="}, "tokens-file"},
		{"a private door for all that asks nobody", nil, []string{"--private-listen=0.0.0.0:1"}, "tokens-file"},
		{"a private door for the world by its empty host", nil, []string{"--private-listen=:8081"}, "tokens-file"},
		{"a tokens file that is not there", nil, []string{"--tokens-file=/nowhere/tokens"}, "tokens-file"},
		{"single sign-on from anywhere", nil, []string{"--sso-user-header=X-User", "--sso-default-role=viewer"}, "sso-proxies"},
		{"single sign-on from everywhere", nil, []string{"--sso-user-header=X-User", "--sso-default-role=viewer", "--sso-proxies=192.0.2.7,0.0.0.0/0"}, "sso-proxies"},
		{"single sign-on from everywhere in IPv6", nil, []string{"--sso-user-header=X-User", "--sso-default-role=viewer", "--sso-proxies=::/0"}, "sso-proxies"},
		{"single sign-on without any role", nil, []string{"--sso-user-header=X-User", "--sso-proxies=192.0.2.7"}, "sso-default-role"},
		{"single sign-on by a header that is none", nil, []string{"--sso-user-header=X User", "--sso-default-role=viewer", "--sso-proxies=192.0.2.7"}, "sso-user-header"},
		{"single sign-on by the header of tokens", nil, []string{"--sso-user-header=authorization", "--sso-default-role=viewer", "--sso-proxies=192.0.2.7"}, "sso-user-header"},
		{"one header for user and role", nil, []string{"--sso-user-header=X-User", "--sso-role-header=x-user", "--sso-proxies=192.0.2.7"}, "sso-role-header"},
		{"a role of nobody", nil, []string{"--sso-default-role=viewer"}, "sso-default-role"},
		{"a proxy of nobody", nil, []string{"--sso-proxies=192.0.2.7"}, "sso-proxies"},
		{"groups of nobody", nil, []string{"--sso-role-header=X-Groups"}, "sso-role-header"},
		{"a short token", nil, []string{"--api-token=short"}, "api-token"},
		{"a public door for all and no key", nil, []string{"--listen=:1"}, "verification"},
		{"a public door for all and a key that is not used", nil, []string{"--listen=[::]:1", "--verification=off", "--signing-secrets=" + canary}, "verification"},
		{"enforce without a key", nil, []string{"--verification=enforce"}, "verification"},
		{"enforce without senders", nil, []string{"--senders-mode=enforce"}, "senders-mode"},
		{"a short signing secret", nil, []string{"--signing-secrets=short"}, "signing-secrets"},
		{"a signing secret twice", nil, []string{"--signing-secrets=" + canary + "," + canary}, "signing-secrets"},
		{"a short search key", nil, []string{"--search-key=short"}, "search-key"},
		{"a short data protection key", nil, []string{"--data-protection-key=short"}, "data-protection-key"},
		{"no database at all", nil, []string{"--embedded=off"}, "database-url"},
		{"an address that is none", nil, []string{"--listen=8080"}, "listen"},
		{"one address for both doors", nil, []string{"--private-listen=127.0.0.1:8080"}, "private-listen"},
		{"a path with a slash at its end", nil, []string{"--path=/ipn/"}, "path"},
		{"a path with a query", nil, []string{"--path=/ipn?x"}, "path"},
		{"a return path that is none", nil, []string{"--return-path=return"}, "return-path"},
		{"a return path with a slash at its end", nil, []string{"--return-path=/return/"}, "return-path"},
		{"one path for IPNs and returns", nil, []string{"--return-path=/ipn"}, "return-path"},
		{"a page that is a path", nil, []string{"--return-to=/thanks"}, "return-to"},
		{"a page of another scheme", nil, []string{"--return-to=javascript:alert(1)"}, "return-to"},
		{"a page without a host", nil, []string{"--return-to=https:///thanks"}, "return-to"},
		{"a page with a password in it", nil, []string{"--return-to=https://ann:secret@shop.example/"}, "return-to"},
		{"a page with a fragment, which the query would follow", nil, []string{"--return-to=https://shop.example/#thanks"}, "return-to"},
		{"a page that is no URL", nil, []string{"--return-to=https://shop.example/%zz"}, "return-to"},
		{"cards as bank transfers", nil, []string{"--transfer-methods=SOFORT,CC"}, "transfer-methods"},
		{"a method without a name", nil, []string{"--transfer-methods=SOFORT, ,IDEAL"}, "transfer-methods"},
		{"a header that is none", nil, []string{"--signature-header=a b"}, "signature-header"},
		{"one header for both", nil, []string{"--timestamp-header=x-ipn-signature"}, "timestamp-header"},
		{"a window of nothing", nil, []string{"--signature-window=0s"}, "signature-window"},
		{"a small body", nil, []string{"--max-body=65535"}, "max-body"},
		{"a huge body", nil, []string{"--max-body=1GiB", "--memory-budget=2GiB", "--quarantine-max-bytes=2GiB"}, "max-body"},
		{"a budget smaller than a body", nil, []string{"--memory-budget=1000KiB"}, "memory-budget"},
		{"a quarantine smaller than a body", nil, []string{"--quarantine-max-bytes=1000KiB"}, "quarantine-max-bytes"},
		{"few fields", nil, []string{"--max-fields=99"}, "max-fields"},
		{"no connections", nil, []string{"--max-connections=0"}, "max-connections"},
		{"an endless hold", nil, []string{"--hold=2m"}, "hold"},
		{"a wait below nothing", nil, []string{"--admission-wait=-1s"}, "admission-wait"},
		{"a delay as long as the drain", nil, []string{"--drain-delay=10s"}, "drain-delay"},
		{"no time to drain", nil, []string{"--drain-timeout=0s"}, "drain-timeout"},
		{"a batch of nothing", nil, []string{"--batch-size=0"}, "batch-size"},
		{"a batch that is a flood", nil, []string{"--batch-size=10001"}, "batch-size"},
		{"no wait between two claims", nil, []string{"--claim-interval=0s"}, "claim-interval"},
		{"a poll that is busy", nil, []string{"--poll-interval=1ms"}, "poll-interval"},
		{"no attempts", nil, []string{"--retry-attempts=0"}, "retry-attempts"},
		{"a first wait longer than the longest", nil, []string{"--retry-first=2m", "--retry-longest=1m"}, "retry-first"},
		{"waits of days", nil, []string{"--retry-longest=25h"}, "retry-longest"},
		{"no time to retry in", nil, []string{"--retry-age=0s"}, "retry-age"},
		{"a deadline before the dispute", nil, []string{"--dispute-days=-1"}, "dispute-days"},
		{"a source with a user", nil, []string{"--event-source=https://user@shop.example/"}, "event-source"},
		{"a targets file that is not there", nil, []string{"--targets-file=/nowhere/targets.yaml"}, "targets-file"},
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

func TestSettingsThatAreOddButMeantAreTaken(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
	}{
		{"a public door for all, unverified and accepted", nil, []string{"--listen=:1", "--accept-unverified"}},
		{"the same in production", production, []string{"--signing-secrets=", "--accept-unverified"}},
		{"verification off on loopback", nil, []string{"--verification=off", "--listen=localhost:1"}},
		{"the older proof alone", nil, []string{"--listen=:1", "--data-protection-key=" + canary}},
		{"observe with a key", nil, []string{"--listen=:1", "--verification=observe", "--signing-secrets=" + canary, "--accept-unverified"}},
		{"production with single sign-on alone", with(production, "IPN_API_TOKEN", ""), []string{"--sso-user-header=X-User", "--sso-role-header=X-Groups", "--sso-proxies=192.0.2.7"}},
		{"a private door for all, and single sign-on", nil, []string{"--private-listen=:1", "--sso-user-header=X-User", "--sso-default-role=viewer", "--sso-proxies=192.0.2.0/24"}},
		{"both doors on any port", nil, []string{"--listen=127.0.0.1:0", "--private-listen=127.0.0.1:0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := checked(t, c.env, c.args...); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSecretsComeFromFiles(t *testing.T) {
	s, err := checked(t, map[string]string{
		"IPN_DATABASE_URL_FILE":    mustWrite(t, "postgres://db/ipn\n"),
		"IPN_SIGNING_SECRETS_FILE": mustWrite(t, "first, with a comma\r\n\nsecond-0123456789\n"),
		"IPN_API_TOKEN_FILE":       mustWrite(t, canary+"\n"),
	}, "--data-protection-key-file="+mustWrite(t, canary))
	if err != nil {
		t.Fatal(err)
	}
	if s.DatabaseURL.Reveal() != "postgres://db/ipn" || s.APIToken.Reveal() != canary || len(s.Keys) != 2 || s.AuthKey.IsZero() {
		t.Errorf("got %q, %q, %d keys", s.DatabaseURL.Reveal(), s.APIToken.Reveal(), len(s.Keys))
	}
	if s.texts[0] != "first, with a comma" || s.texts[1] != "second-0123456789" {
		t.Errorf("secrets: got %q", s.texts)
	}
}

func TestASecretAndItsFileAreNotBothSet(t *testing.T) {
	for _, flag := range []string{"database-url", "signing-secrets", "data-protection-key", "api-token", "search-key", "payments-credentials"} {
		t.Run(flag, func(t *testing.T) {
			_, err := checked(t, map[string]string{variable(flag): canary}, "--"+flag+"-file="+mustWrite(t, canary))
			if err == nil || !strings.Contains(err.Error(), name(flag)+" and "+name(flag+"-file")) || strings.Contains(err.Error(), canary) {
				t.Errorf("got %v, want both named and no secret", err)
			}
		})
	}
}

func TestAFileOfSecretsMustBeOne(t *testing.T) {
	for _, c := range []struct{ name, path, want string }{
		{"one that is not there", "/nowhere/at/all", "no such file"},
		{"an empty one", mustWrite(t, "\n"), "empty"},
		{"a large one", mustWrite(t, strings.Repeat("x", maxSecretFile+1)), "another file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := checked(t, nil, "--api-token-file="+c.path)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name("api-token-file")) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestNothingThatPrintsShowsASecret(t *testing.T) {
	s, err := checked(t, production)
	if err != nil {
		t.Fatal(err)
	}
	s.texts = nil // a field no package but this one sees
	text, err := json.Marshal(s.APIToken)
	if err != nil {
		t.Fatal(err)
	}
	for how, printed := range map[string]string{
		"%v": fmt.Sprintf("%v", s), "%+v": fmt.Sprintf("%+v", *s), "%#v": fmt.Sprintf("%#v", *s), "%s": fmt.Sprintf("%s", s.APIToken),
		"%x": fmt.Sprintf("%x", s.APIToken), "JSON": string(text), "String": s.APIToken.String(),
		"help":  runProgram(t, production, "", "serve", "--help").stdout,
		"error": runProgram(t, production, "", "--max-fields=1").stderr,
	} {
		if strings.Contains(printed, canary) {
			t.Errorf("%s shows a secret: %s", how, printed)
		}
	}
}

func TestSizesAreReadWithTheirUnit(t *testing.T) {
	for text, want := range map[string]Size{
		"65536": 65536, "256KiB": 256 << 10, "1 mib": 1 << 20, "2GiB": 2 << 30, "10MB": 10e6, "1kb": 1000, "7B": 7,
		"": -1, "-1": -1, "1.5MiB": -1, "KiB": -1, "1TiB": -1, "9223372036854775807GiB": -1, "0x10": -1,
	} {
		t.Run(text, func(t *testing.T) {
			got := Size(-1)
			if err := got.UnmarshalText([]byte(text)); (err != nil) != (want < 0) || got != want {
				t.Errorf("got %d, %v, want %d", got, err, want)
			}
		})
	}
}

func TestNetworksAreReadInAnyList(t *testing.T) {
	var n Networks
	if err := n.UnmarshalText([]byte("192.0.2.7, 198.51.100.0/24\n2001:db8::/32")); err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]bool{"192.0.2.7": true, "192.0.2.8": false, "::ffff:198.51.100.9": true, "2001:db8::1": true} {
		if got := n.Contains(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: got %t, want %t", addr, got, want)
		}
	}
}
