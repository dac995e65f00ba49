package targets_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/cloudevent"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/forward"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/publish"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/targets"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

const (
	secretText = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	password   = "hunter2-and-more"
)

// folder is a folder with the files that targets name; the targets file is written beside them.
func folder(tb testing.TB, text string) string {
	tb.Helper()
	dir := tb.TempDir()
	cert, key := pair(tb)
	for name, content := range map[string]string{
		"targets.yaml": text, "good.secrets": "# old\n" + secretText + "\n\n" + strings.Replace(secretText, "AAEC", "BBEC", 1) + "\r\n",
		"licences.secrets": secretText, "empty.secrets": "# none yet\n", "bad.secrets": secretText + "\nwhsec_c2hvcnQ=\n" + password + "\n",
		"many.secrets": strings.Repeat(secretText+"\n", 11), "huge.secrets": strings.Repeat("#", 64<<10+1),
		"good.password": password + "\n", "empty.password": "\n", "cert.pem": cert, "key.pem": key, "bus.creds": "x",
	} {
		must(tb, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return filepath.Join(dir, "targets.yaml")
}

// pair makes a certificate of its own authority with its key, in PEM.
func pair(tb testing.TB) (cert, key string) {
	tb.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(tb, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	must(tb, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	must(tb, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
}

func money(tb testing.TB, text string) ipn.Money {
	tb.Helper()
	m, err := ipn.ParseMoney(text)
	must(tb, err)
	return m
}

func TestTheExampleIsRead(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../deploy/targets.example.yaml")
	must(t, err)
	all, err := targets.Read(folder(t, string(text)))
	must(t, err)
	if len(all.Forward) != 2 || len(all.Publish) != 2 {
		t.Fatalf("got %+v", all)
	}
	licences, billing, bus, lake := all.Forward[0], all.Forward[1], all.Publish[0], all.Publish[1]
	if licences.Handler() != "forward.licences" || bus.Handler() != "publish.bus" || bus.Kafka != nil || lake.NATS != nil {
		t.Errorf("got %+v", all)
	}
	for _, target := range all.Forward {
		if _, err := forward.New(target.Sink); err != nil {
			t.Errorf("%s: %v", target.Name, err)
		}
	}
	nats, err := publish.NewNATS(*bus.NATS, cloudevent.Options{})
	must(t, err)
	nats.Close()
	kafka, err := publish.NewKafka(*lake.Kafka, cloudevent.Options{})
	must(t, err)
	kafka.Close()
	usual := targets.Retry{Attempts: 12, First: 5 * time.Second, Longest: 6 * time.Hour, Age: 72 * time.Hour}
	if billing.Retry != usual || licences.Retry != (targets.Retry{}) {
		t.Errorf("got %+v and %+v", billing.Retry, licences.Retry)
	}
	if billing.Concurrency != licences.Concurrency || billing.Timeout != licences.Timeout {
		t.Errorf("the example writes other defaults than there are: %+v", billing)
	}
}

// uncommented takes the comment off every line of the example that shows a setting.
func uncommented(text string) string {
	for _, name := range []string{"caFile:", "credentialsFile:", "tls:", "sasl:"} {
		text = strings.ReplaceAll(text, "# "+name, name)
	}
	return text
}

func TestTheSettingsThatTheExampleHidesAreReadToo(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../deploy/targets.example.yaml")
	must(t, err)
	path := folder(t, uncommented(string(text)))
	cert, _ := pair(t)
	must(t, os.WriteFile(filepath.Join(filepath.Dir(path), "internal-ca.pem"), []byte(cert), 0o600))
	must(t, os.WriteFile(filepath.Join(filepath.Dir(path), "lake.password"), []byte(password), 0o600))
	all, err := targets.Read(path)
	must(t, err)
	if kafka := all.Publish[1].Kafka; kafka.TLS == nil || kafka.SASL.Mechanism != "SCRAM-SHA-512" || all.Publish[0].NATS.TLS == nil || all.Forward[1].Sink.Roots == nil {
		t.Errorf("got %+v", all)
	}
}

const full = `
forward:
  - name: a-1
    url: http://10.1.2.3:8080/x?y=z
    secretsFile: good.secrets
    allow: [10.0.0.0/8, "fd00::/8", 192.0.2.7]
    caFile: cert.pem
    filter:
      types: [charge, VAULTED_SHOPPER]
      families: [refund, unknown]
      currencies: [EUR, "JPY"]
      minAmount: 10.00
      maxAmount: "1000"
      test: both
    fields:
      - email
      - my field
    start: beginning
    concurrency: 3
    timeout: 1500ms
    retry: {attempts: 2, first: 1s, longest: 1m, age: 1h}
publish:
  - name: a-1
    nats: {servers: ["nats://127.0.0.1:4222", "tls://[::1]:4222"], subject: a.b-c, credentialsFile: bus.creds, tls: true}
  - name: b
    kafka:
      brokers: ["127.0.0.1:9092", kafka:1]
      topic: ipn-{type}
      tls: {caFile: cert.pem, certFile: cert.pem, keyFile: key.pem}
      sasl: {mechanism: plain, username: me, passwordFile: good.password}
`

func TestEverySettingArrives(t *testing.T) {
	t.Parallel()
	all, err := targets.Read(folder(t, full))
	must(t, err)
	got := all.Forward[0]
	secrets, roots := got.Sink.Secrets, got.Sink.Roots
	if len(secrets) != 2 || roots == nil {
		t.Errorf("%d secrets, roots %v", len(secrets), roots)
	}
	got.Sink.Secrets, got.Sink.Roots = nil, nil
	want := targets.ForwardTarget{
		Common: targets.Common{
			Name: "a-1", Fields: []string{"email", "my field"}, Concurrency: 3, Timeout: 1500 * time.Millisecond,
			Retry: targets.Retry{Attempts: 2, First: time.Second, Longest: time.Minute, Age: time.Hour},
			Filter: cloudevent.Filter{
				Types: []string{"CHARGE", "SHOPPER_DELETED"}, Families: []ipn.Family{"refund", "unknown"}, Currencies: []string{"EUR", "JPY"},
				MinAmount: money(t, "10.00"), MaxAmount: money(t, "1000"), Orders: cloudevent.AllOrders,
			},
		},
		Sink: forward.Target{
			URL:      "http://10.1.2.3:8080/x?y=z",
			Allow:    []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("192.0.2.7/32")},
			Envelope: cloudevent.Options{Fields: []string{"email", "my field"}}, Timeout: 1500 * time.Millisecond, Concurrency: 3,
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	nats, kafka := all.Publish[0].NATS, all.Publish[1].Kafka
	if nats.TLS == nil || nats.Subject != "a.b-c" || !filepath.IsAbs(nats.CredentialsFile) || len(nats.Servers) != 2 {
		t.Errorf("got %+v", nats)
	}
	if kafka.TLS == nil || len(kafka.TLS.Certificates) != 1 || kafka.TLS.RootCAs == nil || kafka.SASL.Mechanism != "PLAIN" || kafka.SASL.Username != "me" ||
		kafka.SASL.Password.Reveal() != password || kafka.Topic != "ipn-{type}" || len(kafka.Brokers) != 2 {
		t.Errorf("got %+v", kafka)
	}
}

func TestWhatIsLeftOutHasItsDefault(t *testing.T) {
	t.Parallel()
	all, err := targets.Read(folder(t, "forward:\n- {name: a, url: https://x.example, secretsFile: good.secrets, filter: , fields: , retry: }\n"+
		"publish:\n- {name: a, kafka: {brokers: ['k:1'], topic: t, tls: false}}"))
	must(t, err)
	usual := targets.Common{
		Name: "a", FromNow: true, Concurrency: 8, Timeout: 10 * time.Second, Filter: cloudevent.Filter{Orders: cloudevent.LiveOrders},
	}
	if got := all.Forward[0].Common; !reflect.DeepEqual(got, usual) {
		t.Errorf("got %+v, want %+v", got, usual)
	}
	if got := all.Publish[0].Common; !reflect.DeepEqual(got, usual) {
		t.Errorf("got %+v, want %+v", got, usual)
	}
	if kafka := all.Publish[0].Kafka; kafka.TLS != nil || !reflect.ValueOf(kafka.SASL).IsZero() {
		t.Errorf("got %+v", kafka)
	}
}

func TestOneFaultOfAFieldIsEnough(t *testing.T) {
	t.Parallel()
	_, err := targets.Read(folder(t, "forward:\n- {name: [a], url: https://x.example, unsigned: true}\n"))
	if got := faults(t, err); got != "2:4 forward[0].name" {
		t.Errorf("got %s from %v", got, err)
	}
}

func TestPartOfAScheduleMayBeWritten(t *testing.T) {
	t.Parallel()
	all, err := targets.Read(folder(t, good+", retry: {first: 1h}}]"))
	must(t, err)
	if got, want := all.Forward[0].Retry, (targets.Retry{First: time.Hour}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestWordsAreReadInAnyLetterCase(t *testing.T) {
	t.Parallel()
	all, err := targets.Read(folder(t, "publish: [{name: a, start: Beginning, kafka: {brokers: ['h:1'], topic: t, tls: True, "+
		"sasl: {mechanism: scram-sha-512, username: me, passwordFile: good.password}}}]"))
	must(t, err)
	if got := all.Publish[0]; got.FromNow || got.Kafka.TLS == nil || got.Kafka.SASL.Mechanism != "SCRAM-SHA-512" {
		t.Errorf("got %+v", got)
	}
}

func TestAFileWithoutTargetsHasNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n# nothing yet\n", "forward:\npublish:\n", "forward: []", "{}", "null", "\ufeff"} {
		if all, err := targets.Read(folder(t, text)); err != nil || len(all.Forward)+len(all.Publish) > 0 {
			t.Errorf("%q: got %+v, %v", text, all, err)
		}
	}
}

func TestJSONIsReadTabsAndAll(t *testing.T) {
	t.Parallel()
	tabbed, err := json.MarshalIndent(map[string]any{"publish": []any{
		map[string]any{"name": "a", "nats": map[string]any{"servers": []string{"nats://127.0.0.1:4222", "tls://h"}, "subject": "s", "tls": true}},
		map[string]any{"name": "b", "kafka": map[string]any{"brokers": []string{"127.0.0.1:9092"}, "topic": "t"}, "fields": []string{"a \"b\": {c}"}},
	}}, "", "\t")
	must(t, err)
	if all, err := targets.Read(folder(t, string(tabbed))); err != nil || all.Publish[0].NATS.Servers[0] != "nats://127.0.0.1:4222" || all.Publish[1].Fields[0] != `a "b": {c}` {
		t.Errorf("got %+v, %v", all, err)
	}
	text := "{\n\t\"forward\": [\n\t\t{\"name\": \"a\", \"url\": \"https://x.example/\\u0061\",\n\t\t\t\"secretsFile\": \"good.secrets\", \"concurrency\": 4, \"filter\": {\"minAmount\": 10.00}},\n" +
		"\t\t{\"name\": \"A\", \"url\": \"https://x.example\", \"unsigned\": true}\n\t]\n}\n"
	_, err = targets.Read(folder(t, text))
	if got := faults(t, err); got != "5:4 forward[1].name" {
		t.Errorf("got %s from %v", got, err)
	}
	all, err := targets.Read(folder(t, strings.Replace(text, `"A"`, `"b"`, 1)))
	must(t, err)
	if got := all.Forward[0]; got.Sink.URL != "https://x.example/a" || got.Concurrency != 4 || got.Filter.MinAmount.String() != "10.00" || !all.Forward[1].Sink.Unsigned {
		t.Errorf("got %+v", all)
	}
}

// faults tells places and fields of an error, one after the other.
func faults(tb testing.TB, err error) string {
	tb.Helper()
	var all *targets.Error
	if !errors.As(err, &all) {
		tb.Fatalf("got %v", err)
	}
	var places []string
	for _, f := range all.Faults {
		places = append(places, strings.TrimSpace(fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Field)))
	}
	return strings.Join(places, ", ")
}

func TestAllFaultsAreToldAtOnceWithTheirPlaces(t *testing.T) {
	t.Parallel()
	path := folder(t, `forward:
  - name: Billing
    url: ftp://x.example
    secretFile: good.secrets
    filter: {types: [CHARGBACK, CHARGE], familys: [refund], minAmount: -1}
    timeout: 10
  - name: b
    url: https://x.example
    secretsFile: good.secrets
    retry:
      attempts: 0
      first: 1h
      longest: 1m
publish: 7
web: {}
`)
	_, err := targets.Read(path)
	want := strings.ReplaceAll(`$:2:5: forward[0].name: write 1 to 40 small letters and digits, with single '-' between them
$:2:5: forward[0].secretsFile: name the file of the target's secrets, or write `+"`unsigned: true`"+` when the target shall trust whoever calls
$:3:5: forward[0].url: write https://host/path: other schemes are not spoken
$:4:5: forward[0]: there is no "secretFile" here: did you mean secretsFile?
$:5:22: forward[0].filter.types[0]: there is no transaction type "CHARGBACK": did you mean CHARGEBACK?
$:5:42: forward[0].filter: there is no "familys" here: did you mean families?
$:5:61: forward[0].filter.minAmount: write an amount without sign and currency, such as "10.00": amounts of events are magnitudes
$:6:5: forward[0].timeout: write a duration from 100ms to 1m, such as 500ms, 10s, 5m or 6h
$:10:5: forward[1].retry: longest (1m) is shorter than first (1h): raise it, or lower first
$:11:7: forward[1].retry.attempts: write a whole number from 1 to 1000
$:14:1: publish: write a list here, such as [a, b]
$:15:1: there is no "web" here: known are forward, publish`, "$", path)
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// good is a target without a fault, as a base for one.
const good = "forward: [{name: a, url: https://x.example, secretsFile: good.secrets"

func TestEachFaultIsFound(t *testing.T) {
	t.Parallel()
	nats := func(rest string) string {
		return "publish: [{name: a, nats: {servers: ['nats://h:1'], subject: s" + rest + "}}]"
	}
	kafka := func(rest string) string {
		return "publish: [{name: a, kafka: {brokers: ['h:1'], topic: t" + rest + "}}]"
	}
	for _, tt := range []struct{ name, text, want string }{
		{"not YAML", "forward: [", "cannot be read as YAML or JSON"},
		{"a name twice", "forward:\nforward:\n", "cannot be read as YAML or JSON"},
		{"two documents", "forward: []\n---\nforward: []\n", "several documents"},
		{"a list at the top", "[]", "write names with values here"},
		{"a text at the top", "hello", "write names with values here"},
		{"an anchor", "forward: [{name: &x a, url: https://x.example, secretsFile: good.secrets}]", "write the value out"},
		{"an alias", good + ", timeout: &t 1s}, {name: b, url: https://x.example, unsigned: true, timeout: *t}]", "write the value out"},
		{"a merge", good + ", <<: {name: b}}]", `there is no "<<"`},
		{"a target that is a text", "forward: [billing]", "forward[0]: write names with values here"},
		{"a target that is nothing", "forward: [null]", "forward[0].name: every target needs a name"},
		{"a name of two", good + "}, {name: a, url: https://x.example, unsigned: true}]", `the name "a" is taken by the target in line 1`},
		{"a name that is a list", "forward: [{name: [a], url: https://x.example, unsigned: true}]", "write one value here"},
		{"a name that begins with a dash", strings.Replace(good, "name: a", "name: -a", 1) + "}]", "write 1 to 40"},
		{"a name with an empty part", strings.Replace(good, "name: a", "name: a--b", 1) + "}]", "write 1 to 40"},
		{"a long name", strings.Replace(good, "name: a", "name: "+strings.Repeat("a", 41), 1) + "}]", "write 1 to 40"},
		{"no URL", "forward: [{name: a, unsigned: true}]", "forward[0].url: write https://"},
		{"a URL with a password", strings.Replace(good, "https://", "https://me:"+password+"@", 1) + "}]", "holds a user"},
		{"a URL with a fragment", strings.Replace(good, "x.example", "x.example/#top", 1) + "}]", "has a fragment"},
		{"a URL that is none", strings.Replace(good, "x.example", "x.example:port/"+password, 1) + "}]", "not a URL"},
		{"plain http to the world", strings.Replace(good, "https:", "http:", 1) + "}]", "private networks only"},
		{"a closed address", strings.Replace(good, "x.example", "169.254.169.254", 1) + "}]", "a link-local address, which the target does not allow"},
		{"no secrets", "forward: [{name: a, url: https://x.example}]", "name the file of the target's secrets"},
		{"secrets and unsigned", good + ", unsigned: true}]", "take one of them out"},
		{"a secret in the place of its file", strings.Replace(good, "good.secrets", "whsec_Y2FuYXJ5/Y2FuYXJ5", 1) + "}]", "secretsFile: no file of that name is not there: name a file"},
		{"secrets that are not there", strings.Replace(good, "good.", "lost.", 1) + "}]", "is not there"},
		{"secrets that are a folder", strings.Replace(good, "good.secrets", ".", 1) + "}]", "is a folder"},
		{"secrets that are none", strings.Replace(good, "good.", "empty.", 1) + "}]", "holds no secret"},
		{"secrets that are too short", strings.Replace(good, "good.", "bad.", 1) + "}]", "line 2: a secret is whsec_"},
		{"secrets that are too many", strings.Replace(good, "good.", "many.", 1) + "}]", "11 secrets, at most 10"},
		{"secrets that are another file", strings.Replace(good, "good.", "huge.", 1) + "}]", "another file by mistake"},
		{"a network that is none", good + ", allow: [intranet]}]", "write a network such as"},
		{"a network with host bits", good + ", allow: [10.1.2.3/8]}]", "write 10.0.0.0/8"},
		{"the whole internet", good + ", allow: [0.0.0.0/0]}]", "too wide"},
		{"the whole internet of IPv6", good + ", allow: ['::/0']}]", "too wide"},
		{"a mapped network", good + ", allow: ['::ffff:10.0.0.0/104']}]", "write a network such as"},
		{"an authority that is none", good + ", caFile: good.secrets}]", "no certificate in PEM"},
		{"a family that is none", good + ", filter: {families: [refunds]}}]", "did you mean refund?"},
		{"a currency in small letters", good + ", filter: {currencies: [eur]}}]", "such as EUR"},
		{"an amount with a currency", good + ", filter: {minAmount: 10 EUR}}]", "without sign and currency"},
		{"an amount with an exponent", good + ", filter: {maxAmount: 1e3}}]", "without sign and currency"},
		{"bounds the wrong way round", good + ", filter: {minAmount: 11, maxAmount: 10.5}}]", "no event passes"},
		{"orders of no kind", good + ", filter: {test: yes}}]", `"yes" is none of: live, test, both`},
		{"a field for nobody", good + ", fields: [email, AuthKey]}]", "given to nobody"},
		{"a field twice", good + ", fields: [email, EMAIL]}]", "twice"},
		{"an empty field", good + ", fields: ['']}]", "write the name of a field"},
		{"a start that is none", good + ", start: then}]", `"then" is none of: now, beginning`},
		{"a concurrency of none", good + ", concurrency: 0}]", "from 1 to 256"},
		{"a time without a unit", good + ", timeout: 10}]", "write a duration"},
		{"a time without an end", good + ", retry: {longest: 1000h}}]", "from 100ms to 168h"},
		{"no broker", "publish: [{name: a}]", "either nats or kafka"},
		{"two brokers", "publish: [{name: a, nats: {}, kafka: {}}]", "either nats or kafka"},
		{"no server", "publish: [{name: a, nats: {subject: s}}]", "name at least one server"},
		{"a server that is none", "publish: [{name: a, nats: {servers: ['h:1'], subject: s}}]", "servers[0]: write nats://"},
		{"a server without its quotes", "publish: [{name: a, nats: {servers: [nats://h:1], subject: s}}]", `a colon needs "quotes"`},
		{"a server with a user", "publish: [{name: a, nats: {servers: ['nats://me:" + password + "@h:1'], subject: s}}]", "holds a user"},
		{"an empty server", "publish: [{name: a, nats: {servers: [nats://h, ''], subject: s}}]", "servers[1]: write nats://"},
		{"a subject with a wildcard", strings.Replace(nats(""), "subject: s", "subject: s.>", 1), "write a subject"},
		{"a subject with a brace", strings.Replace(nats(""), "subject: s", "subject: 's.{type}'", 1), "write a subject"},
		{"credentials that are not there", nats(", credentialsFile: lost"), "is not there"},
		{"credentials and a token", nats(", credentialsFile: bus.creds, tokenFile: good.password"), "take one of them out"},
		{"an empty token", nats(", tokenFile: empty.password"), "is empty"},
		{"TLS that is no word", nats(", tls: maybe"), "write names with values here"},
		{"TLS with half a pair", nats(", tls: {certFile: cert.pem}"), "come together"},
		{"TLS with no pair", nats(", tls: {certFile: cert.pem, keyFile: good.password}"), "no pair in PEM"},
		{"a broker without a port", strings.Replace(kafka(""), "'h:1'", "h", 1), "brokers[0]: write host:port"},
		{"a topic with a space", strings.Replace(kafka(""), "topic: t", "topic: a b", 1), "write a topic"},
		{"a topic of dots", strings.Replace(kafka(""), "topic: t", "topic: ..", 1), "write a topic"},
		{"half a user", kafka(", sasl: {username: me}"), "passwordFile: is missing"},
		{"a mechanism that is none", kafka(", sasl: {mechanism: gssapi, username: me, passwordFile: good.password}"), "none of: SCRAM-SHA-512"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := targets.Read(folder(t, tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q in it", err, tt.want)
			}
			if strings.Contains(err.Error(), password) {
				t.Errorf("the error shows a secret: %v", err)
			}
			faults(t, err)
		})
	}
}

func TestAFileThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lost.yaml")
	if _, err := targets.Read(path); err == nil || err.Error() != "the targets file "+path+" is not there" {
		t.Errorf("got %v", err)
	}
	if _, err := targets.Read(folder(t, strings.Repeat("#", 1<<20+1))); err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestSecretsDoNotShowThemselves(t *testing.T) {
	t.Parallel()
	all, err := targets.Read(folder(t, full))
	must(t, err)
	encoded, err := json.Marshal([]any{all.Forward[0].Sink.Secrets, all.Publish[1].Kafka.SASL})
	must(t, err)
	shown := string(encoded) + fmt.Sprintf("%v %+v %#v %s %x %q", all, all, all.Publish[1].Kafka.SASL, all.Publish[1].Kafka.SASL.Password, all.Forward[0].Sink.Secrets, all.Publish[1].Kafka.SASL.Password)
	for _, secret := range []string{password, secretText[len("whsec_"):], fmt.Sprintf("%x", password)} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown", secret)
		}
	}
}

// FuzzParse looks for a text that stops the program instead of being told about. Files that the text names are not
// there: it is read for a folder that does not exist.
func FuzzParse(f *testing.F) {
	for _, text := range []string{full, good + "}]", "{\t}", "a: &a [*a]", "forward:\n- name: 'a\n", "? [a]: b", "- - -", "%YAML 1.2\n---\n!!str a", "forward: [{1: 2, ? : 3}]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := targets.Parse("/nowhere/targets.yaml", []byte(text))
		var all *targets.Error
		if err != nil && (!errors.As(err, &all) || len(all.Faults) == 0) {
			t.Errorf("got %v", err)
		}
	})
}
