package receiver_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/receiver"
)

// The names of the two headers, as a profile sets them.
const (
	signatureHeader = "X-Ipn-Signature"
	timestampHeader = "X-Ipn-Timestamp"
)

// The sender's own vector: key, timestamp, body and signature.
const (
	vectorKey   = "example-ipn-security-key-0001"
	vectorStamp = "2023-05-15 13:02:57.878"
	vectorBody  = "transactionType=CHARGE&referenceNumber=70010001&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR"
	vectorMAC   = "86120bf6869bd90fe55651a904a9ab8def25838fa6e6842232878fe0ddaf3f64"
	dotMAC      = "abc37c26e6737a1920afdf64c4bc222d9305471a919b742eb8a7eebb9a963404" // over timestamp, a dot, body
	bodyMAC     = "45323fdbac115bac541af07a29d55a68dbf72b5203b0491c211c6a1ec80b873d" // over the body alone
)

func newSecret(tb testing.TB, id, text string) ipn.Secret {
	tb.Helper()
	secret, err := ipn.NewSecret(id, []byte(text))
	must(tb, err)
	return secret
}

func oldKey(tb testing.TB) ipn.Secret { return newSecret(tb, "old", vectorKey) }
func newKey(tb testing.TB) ipn.Secret { return newSecret(tb, "new", "another-security-key-0002") }

// verify sets the mode and the secrets in force.
func verify(mode receiver.Mode, secrets ...ipn.Secret) setting {
	return func(c *receiver.Config) {
		c.Policy.Mode = mode
		c.Policy.Secrets = func() []ipn.Secret { return secrets }
	}
}

// signedBy is the pair of headers that a sender adds now.
func signedBy(key ipn.Secret, body string) []string {
	stamp := time.Now().UTC().Format("2006-01-02 15:04:05.000")
	return headers(stamp, key.Sign(stamp, []byte(body)))
}

func headers(stamp, mac string) []string {
	return []string{timestampHeader + ": " + stamp, signatureHeader + ": " + mac}
}

// refused is the effect of a post that is not believed.
func refused(reason ipn.Reason) effect {
	return effect{401, "unauthorized", "quarantine " + string(reason) + " 401"}
}

func TestUnderEnforcementOnlyAGoodSignatureIsBelieved(t *testing.T) {
	t.Parallel()
	d := newDoor(t, verify(receiver.Enforce, oldKey(t)))
	good := headers(vectorStamp, vectorMAC)
	for _, tt := range []struct {
		name, body string
		headers    []string
		want       effect
	}{
		{"the sender's vector", vectorBody, good, effect{200, "new", "event signature"}},
		{"again, in capitals", vectorBody, headers(vectorStamp, strings.ToUpper(vectorMAC)), effect{200, "duplicate", "event signature"}},
		{"headers in capitals", vectorBody, []string{strings.ToUpper(good[0][:len(timestampHeader)]) + good[0][len(timestampHeader):], good[1]}, effect{200, "duplicate", "event signature"}},
		{"neither header", vectorBody, nil, refused(ipn.ReasonSignatureMissing)},
		{"no signature", vectorBody, good[:1], refused(ipn.ReasonSignatureMissing)},
		{"no timestamp", vectorBody, good[1:], refused(ipn.ReasonSignatureMissing)},
		{"an empty signature", vectorBody, headers(vectorStamp, ""), refused(ipn.ReasonSignatureMalformed)},
		{"the signature twice", vectorBody, append([]string{good[1]}, good...), refused(ipn.ReasonSignatureMalformed)},
		{"the timestamp twice", vectorBody, append([]string{good[0]}, good...), refused(ipn.ReasonSignatureMalformed)},
		{"two signatures in one line", vectorBody, headers(vectorStamp, vectorMAC+", "+vectorMAC), refused(ipn.ReasonSignatureMalformed)},
		{"truncated", vectorBody, headers(vectorStamp, vectorMAC[:62]), refused(ipn.ReasonSignatureMalformed)},
		{"not hexadecimal", vectorBody, headers(vectorStamp, "g"+vectorMAC[1:]), refused(ipn.ReasonSignatureMalformed)},
		{"a digit changed", vectorBody, headers(vectorStamp, vectorMAC[:63]+"5"), refused(ipn.ReasonSignatureMismatch)},
		{"over a dot", vectorBody, headers(vectorStamp, dotMAC), refused(ipn.ReasonSignatureMismatch)},
		{"over the body alone", vectorBody, headers(vectorStamp, bodyMAC), refused(ipn.ReasonSignatureMismatch)},
		{"another timestamp", vectorBody, headers("2023-05-15 13:02:57.879", vectorMAC), refused(ipn.ReasonSignatureMismatch)},
		{"a byte altered", strings.Replace(vectorBody, "21.00", "21.01", 1), good, refused(ipn.ReasonSignatureMismatch)},
		{"a newline more", vectorBody + "\n", good, refused(ipn.ReasonSignatureMismatch)},
		{"the fields in another order", "referenceNumber=70010001&transactionType=CHARGE&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR", good, refused(ipn.ReasonSignatureMismatch)},
		{"another key", vectorBody, signedBy(newKey(t), vectorBody), refused(ipn.ReasonSignatureMismatch)},
		{"garbage without a signature", "&&&===", nil, refused(ipn.ReasonSignatureMissing)},
		{"garbage with a good one", "&&&===", signedBy(oldKey(t), "&&&==="), effect{200, "quarantined", "quarantine no_fields 200"}},
		{"an empty body, signed", "", signedBy(oldKey(t), ""), effect{400, "empty", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, _ := d.watch(t, post(tt.body, tt.headers...)); got != tt.want {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestTheModeDecidesWhatAVerdictLeadsTo(t *testing.T) {
	t.Parallel()
	key := oldKey(t)
	wrong := headers(vectorStamp, dotMAC)
	for _, tt := range []struct {
		name    string
		mode    receiver.Mode
		secrets []ipn.Secret
		headers []string
		want    effect
	}{
		{"off does not look", receiver.Off, nil, wrong, effect{200, "new", "event off"}},
		{"observed, good", receiver.Observe, []ipn.Secret{key}, headers(vectorStamp, vectorMAC), effect{200, "new", "event signature"}},
		{"observed, wrong", receiver.Observe, []ipn.Secret{key}, wrong, effect{200, "new", "event failed"}},
		{"observed, malformed", receiver.Observe, []ipn.Secret{key}, headers(vectorStamp, "x"), effect{200, "new", "event failed"}},
		{"observed, missing", receiver.Observe, []ipn.Secret{key}, nil, effect{200, "new", "event unsigned"}},
		{"observed without a key", receiver.Observe, nil, headers(vectorStamp, vectorMAC), effect{200, "new", "event unsigned"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, verify(tt.mode, tt.secrets...))
			if got, _ := d.watch(t, post(vectorBody, tt.headers...)); got != tt.want {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// TestBothSecretsWorkDuringARotation follows a rotation through its three phases without a restart (S-58).
func TestBothSecretsWorkDuringARotation(t *testing.T) {
	t.Parallel()
	var inForce atomic.Pointer[[]ipn.Secret]
	d := newDoor(t, verify(receiver.Enforce), func(c *receiver.Config) {
		c.Policy.Secrets = func() []ipn.Secret { return *inForce.Load() }
	})
	for i, tt := range []struct {
		name     string
		secrets  []ipn.Secret
		old, new int
	}{
		{"before", []ipn.Secret{oldKey(t)}, 200, 401},
		{"during", []ipn.Secret{newKey(t), oldKey(t)}, 200, 200},
		{"after", []ipn.Secret{newKey(t)}, 401, 200},
	} {
		inForce.Store(&tt.secrets)
		body := charge(fmt.Sprint(i))
		got := [2]int{d.status(t, post(body, signedBy(oldKey(t), body)...)), d.status(t, post(body, signedBy(newKey(t), body)...))}
		if want := [2]int{tt.old, tt.new}; got != want {
			t.Errorf("%s: old and new got %d, want %d", tt.name, got, want)
		}
	}
	if good, bad := d.metric(t, "ipn_verification_total", "result", "good", "scheme", "signature"),
		d.metric(t, "ipn_verification_total", "result", "mismatch", "scheme", "signature"); good != 4 || bad != 2 {
		t.Errorf("counted %v good and %v mismatched, want 4 and 2", good, bad)
	}
}

// TestAnOldTimestampIsFlaggedAndAccepted because a re-send comes hours later and may carry the first one (S-56).
func TestAnOldTimestampIsFlaggedAndAccepted(t *testing.T) {
	t.Parallel()
	d := newDoor(t, verify(receiver.Enforce, oldKey(t)))
	for i, tt := range []struct {
		stamp string
		stale bool
	}{
		{time.Now().UTC().Format(time.DateTime), false},
		{time.Now().UTC().Add(-44 * time.Hour).Format(time.DateTime), false},
		{time.Now().UTC().Add(-90 * 24 * time.Hour).Format(time.DateTime), true},
		{time.Now().UTC().Add(90 * 24 * time.Hour).Format(time.DateTime), true},
		{"yesterday", true},
	} {
		body := charge(fmt.Sprint(i))
		got, _ := d.watch(t, post(body, headers(tt.stamp, oldKey(t).Sign(tt.stamp, []byte(body)))...))
		if want := (effect{200, "new", "event signature"}); got != want {
			t.Errorf("%s: got %+v, want %+v", tt.stamp, got, want)
		}
		if stale := latestProblems(t, d) == ipn.SignatureStale; stale != tt.stale {
			t.Errorf("%s: flagged %t, want %t", tt.stamp, stale, tt.stale)
		}
	}
}

// latestProblems are the codes on the latest event.
func latestProblems(t *testing.T, d *door) string {
	t.Helper()
	return ask[string](t, d, `select coalesce(string_agg(p ->> 'code', ' '), '') from
		(select jsonb_array_elements(problems) as p from events where id = (select max(id) from events)) as latest`)
}

func TestWhatIsOddAboutASignedPostIsFlaggedOnce(t *testing.T) {
	t.Parallel()
	d := newDoor(t, verify(receiver.Enforce, oldKey(t)))
	for _, tt := range []struct{ header, want string }{
		{"Content-Type: application/json", ipn.NotAForm},
		{formType + "\r\nContent-Encoding: gzip", ipn.ContentEncoded},
	} {
		body := charge(tt.want)
		must200(t, d, request("POST /ipn", append(signedBy(oldKey(t), body), tt.header, length(len(body))), body))
		if got := latestProblems(t, d); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.header, got, tt.want)
		}
	}
}

func must200(tb testing.TB, d *door, text string) {
	tb.Helper()
	if got := d.status(tb, text); got != 200 {
		tb.Fatalf("got %d, want 200", got)
	}
}

// The sender's own vector of the older proof of origin.
const (
	authKey       = "MyDataProtectionKey1"
	authReference = "70010001&contractId=3000001"
	authMD5       = "a22303324445ea93a3e8eec82c4cdd65"
)

func TestTheAuthKeyIsJudgedBesideTheSignature(t *testing.T) {
	t.Parallel()
	good, wrong, none := charge(authReference, "authKey="+authMD5), charge(authReference, "authKey="+authMD5[:31]+"0"), charge(authReference)
	for _, tt := range []struct {
		name, body string
		mode       receiver.Mode
		signed     bool // a signing key is set, and the post signed with it
		want       effect
	}{
		{"good", good, receiver.Enforce, false, effect{200, "new", "event auth_key"}},
		{"wrong", wrong, receiver.Enforce, false, refused(ipn.ReasonAuthKeyMismatch)},
		{"missing", none, receiver.Enforce, false, refused(ipn.ReasonAuthKeyMissing)},
		{"of a type whose formula is not known", "transactionType=ACCOUNT_UPDATER&authKey=" + authMD5, receiver.Enforce, false, effect{200, "new", "event unsigned"}},
		{"good beside a good signature", good, receiver.Enforce, true, effect{200, "new", "event signature"}},
		{"missing beside a good signature", none, receiver.Enforce, true, effect{200, "new", "event signature"}},
		{"wrong beside a good signature", wrong, receiver.Enforce, true, refused(ipn.ReasonAuthKeyMismatch)},
		{"observed, good", good, receiver.Observe, false, effect{200, "new", "event auth_key"}},
		{"observed, wrong", wrong, receiver.Observe, false, effect{200, "new", "event failed"}},
		{"observed, missing", none, receiver.Observe, false, effect{200, "new", "event unsigned"}},
		{"not looked at when off", wrong, receiver.Off, false, effect{200, "new", "event off"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var keys []ipn.Secret
			var signature []string
			if tt.signed {
				keys, signature = []ipn.Secret{oldKey(t)}, signedBy(oldKey(t), tt.body)
			}
			d := newDoor(t, verify(tt.mode, keys...), withAuthKey(t))
			if got, _ := d.watch(t, post(tt.body, signature...)); got != tt.want {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func withAuthKey(tb testing.TB) setting {
	key := newSecret(tb, "data-protection", authKey)
	return func(c *receiver.Config) { c.Policy.AuthKey = key }
}

// TestAQuarantinedPostIsPromotedOnceItsKeyIsMended is the way out of a secret that was set wrong (S-60).
func TestAQuarantinedPostIsPromotedOnceItsKeyIsMended(t *testing.T) {
	t.Parallel()
	var inForce atomic.Pointer[[]ipn.Secret]
	inForce.Store(&[]ipn.Secret{newKey(t)})
	d := newDoor(t, verify(receiver.Enforce), func(c *receiver.Config) {
		c.Policy.Secrets = func() []ipn.Secret { return *inForce.Load() }
	})
	if got := d.status(t, post(vectorBody, headers(vectorStamp, vectorMAC)...)); got != 401 {
		t.Fatalf("got %d, want 401", got)
	}
	q, err := d.store.Quarantined(t.Context(), ask[int64](t, d, "select max(id) from quarantine"))
	must(t, err)
	if receipt, reason := d.receiver.Reverify(q); receipt != nil || reason != ipn.ReasonSignatureMismatch {
		t.Errorf("before the key is mended: got receipt %t, reason %q", receipt != nil, reason)
	}

	inForce.Store(&[]ipn.Secret{oldKey(t)})
	receipt, reason := d.receiver.Reverify(q)
	if receipt == nil || reason != "" {
		t.Fatalf("after the key is mended: reason %q", reason)
	}
	if receipt.Vouched != ipn.VouchedPromoted || string(receipt.Raw) != vectorBody || receipt.Digest != ipn.DigestOf([]byte(vectorBody)) {
		t.Errorf("got %s, %q", receipt.Vouched, receipt.Raw)
	}
	recorded, err := d.store.Promote(t.Context(), q.ID, receipt, ipn.Act{Actor: "cli:maria", Reason: "the key is mended"})
	must(t, err)
	if recorded.Outcome != ipn.OutcomeNew {
		t.Errorf("got %s", recorded.Outcome)
	}
	// The sender's next try is the same event: the promotion is not told twice.
	if got, _ := d.watch(t, post(vectorBody, headers(vectorStamp, vectorMAC)...)); got.Outcome != "duplicate" {
		t.Errorf("the re-send: got %+v", got)
	}
}

// TestReverificationIsNoMilderThanTheDoor: what was refused under the present keys is not promoted under them.
func TestReverificationIsNoMilderThanTheDoor(t *testing.T) {
	t.Parallel()
	good, wrong := charge(authReference, "authKey="+authMD5), charge(authReference, "authKey="+authMD5[:31]+"0")
	for _, tt := range []struct {
		name, text string
		settings   []setting
		want       ipn.Reason
	}{
		{"no signature", post(vectorBody), []setting{verify(receiver.Enforce, oldKey(t))}, ipn.ReasonSignatureMissing},
		{"the signature twice", post(vectorBody, append(headers(vectorStamp, vectorMAC), signatureHeader+": "+vectorMAC)...),
			[]setting{verify(receiver.Enforce, oldKey(t))}, ipn.ReasonSignatureMalformed},
		{"a wrong authKey beside a good signature", post(wrong, signedBy(oldKey(t), wrong)...),
			[]setting{verify(receiver.Enforce, oldKey(t)), withAuthKey(t)}, ipn.ReasonAuthKeyMismatch},
		{"a good authKey beside a missing signature", post(good),
			[]setting{verify(receiver.Enforce, oldKey(t)), withAuthKey(t)}, ipn.ReasonSignatureMissing},
		{"a missing authKey", post(charge(authReference)), []setting{verify(receiver.Enforce), withAuthKey(t)}, ipn.ReasonAuthKeyMissing},
		{"JSON that nobody signed", request("POST /ipn", []string{"Content-Type: application/json", length(2)}, "{}"),
			[]setting{verify(receiver.Observe, oldKey(t))}, ipn.ReasonSignatureMissing},
		{"JSON where nothing is verified", request("POST /ipn", []string{"Content-Type: application/json", length(2)}, "{}"), nil, ipn.ReasonMediaType},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, tt.settings...)
			d.send(t, tt.text)
			q, err := d.store.Quarantined(t.Context(), ask[int64](t, d, "select max(id) from quarantine"))
			must(t, err)
			if receipt, reason := d.receiver.Reverify(q); receipt != nil || reason != tt.want {
				t.Errorf("got receipt %t, reason %q; want %q", receipt != nil, reason, tt.want)
			}
		})
	}
}
