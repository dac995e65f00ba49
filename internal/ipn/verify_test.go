package ipn_test

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// The sender's own vectors: key, timestamp, two bodies and their signatures.
const (
	stamp   = "2023-05-15 13:02:57.878"
	body1   = "transactionType=CHARGE&referenceNumber=70010001&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR"
	mac1    = "86120bf6869bd90fe55651a904a9ab8def25838fa6e6842232878fe0ddaf3f64"
	body2   = "firstName=Jos%C3%A9&lastName=M%C3%BCller&note=a%2Bb+c"
	mac2    = "ef08d23806354386164c2bd46fec68159015445bb617ed98e91d46ba9369ff81"
	macDot  = "abc37c26e6737a1920afdf64c4bc222d9305471a919b742eb8a7eebb9a963404" // over timestamp, a dot, body1
	macBody = "45323fdbac115bac541af07a29d55a68dbf72b5203b0491c211c6a1ec80b873d" // over body1 alone
)

// received is one second after the timestamp, read as UTC.
var received = time.Date(2023, 5, 15, 13, 2, 58, 878e6, time.UTC)

func TestSignaturesAreVerified(t *testing.T) {
	signature := ipn.Signature{Secrets: []ipn.Secret{secret(t, "k1", keyText)}}
	good := ipn.Verdict{Result: ipn.Good, KeyID: "k1", Age: time.Second}
	raw, _ := hex.DecodeString(mac1)
	for _, tt := range []struct {
		name, body         string
		stamps, signatures []string
		want               ipn.Verdict
	}{
		{"the first vector", body1, []string{stamp}, []string{mac1}, good},
		{"the second vector, escapes untouched", body2, []string{stamp}, []string{mac2}, good},
		{"upper-case hexadecimal", body1, []string{stamp}, []string{strings.ToUpper(mac1)}, good},
		{"a dot between timestamp and body", body1, []string{stamp}, []string{macDot}, ipn.Verdict{Result: ipn.Mismatch}},
		{"over the body alone", body1, []string{stamp}, []string{macBody}, ipn.Verdict{Result: ipn.Mismatch}},
		{"over the body alone, empty timestamp", body1, []string{""}, []string{macBody}, ipn.Verdict{Result: ipn.Malformed}},
		{"another body", body2, []string{stamp}, []string{mac1}, ipn.Verdict{Result: ipn.Mismatch}},
		{"the same pairs encoded anew", strings.Replace(body2, "+", "%20", 1), []string{stamp}, []string{mac2}, ipn.Verdict{Result: ipn.Mismatch}},
		{"a newline behind the body", body1 + "\n", []string{stamp}, []string{mac1}, ipn.Verdict{Result: ipn.Mismatch}},
		{"another timestamp", body1, []string{"2023-05-15 13:02:57.879"}, []string{mac1}, ipn.Verdict{Result: ipn.Mismatch}},
		{"the first digit changed", body1, []string{stamp}, []string{"9" + mac1[1:]}, ipn.Verdict{Result: ipn.Mismatch}},
		{"the last digit changed", body1, []string{stamp}, []string{mac1[:63] + "5"}, ipn.Verdict{Result: ipn.Mismatch}},
		{"truncated", body1, []string{stamp}, []string{mac1[:62]}, ipn.Verdict{Result: ipn.Malformed}},
		{"too long", body1, []string{stamp}, []string{mac1 + "00"}, ipn.Verdict{Result: ipn.Malformed}},
		{"base64", body1, []string{stamp}, []string{base64.StdEncoding.EncodeToString(raw)}, ipn.Verdict{Result: ipn.Malformed}},
		{"not hexadecimal", body1, []string{stamp}, []string{"g" + mac1[1:]}, ipn.Verdict{Result: ipn.Malformed}},
		{"a scheme in front", body1, []string{stamp}, []string{"sha256=" + mac1}, ipn.Verdict{Result: ipn.Malformed}},
		{"an empty signature", body1, []string{stamp}, []string{""}, ipn.Verdict{Result: ipn.Malformed}},
		{"the signature twice", body1, []string{stamp}, []string{mac1, mac1}, ipn.Verdict{Result: ipn.Malformed}},
		{"the timestamp twice", body1, []string{stamp, stamp}, []string{mac1}, ipn.Verdict{Result: ipn.Malformed}},
		{"no signature", body1, []string{stamp}, nil, ipn.Verdict{Result: ipn.Missing}},
		{"no timestamp", body1, nil, []string{mac1}, ipn.Verdict{Result: ipn.Missing}},
		{"neither", body1, nil, nil, ipn.Verdict{Result: ipn.Missing}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := signature.Verify([]byte(tt.body), tt.stamps, tt.signatures, received); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestBodiesAreSignedAsTheSenderSigns(t *testing.T) {
	key := secret(t, "", keyText)
	if got := key.Sign(stamp, []byte(body1)); got != mac1 {
		t.Errorf("got %s, want %s", got, mac1)
	}
	if got := key.Sign(stamp, []byte(body2)); got != mac2 {
		t.Errorf("got %s, want %s", got, mac2)
	}
}

func TestBothSecretsOfARotationVerify(t *testing.T) {
	old, current := secret(t, "old", "the-key-before-the-rotation"), secret(t, "current", keyText)
	oldMAC := old.Sign(stamp, []byte(body1))
	for _, tt := range []struct {
		name    string
		secrets []ipn.Secret
		mac     string
		want    ipn.Verdict
	}{
		{"signed with the first", []ipn.Secret{current, old}, mac1, ipn.Verdict{Result: ipn.Good, KeyID: "current", Age: time.Second}},
		{"signed with the second", []ipn.Secret{current, old}, oldMAC, ipn.Verdict{Result: ipn.Good, KeyID: "old", Age: time.Second}},
		{"the old one is gone", []ipn.Secret{current}, oldMAC, ipn.Verdict{Result: ipn.Mismatch}},
		{"no secret", nil, mac1, ipn.Verdict{Result: ipn.NoKey}},
		{"a zero secret is none", []ipn.Secret{{}}, mac1, ipn.Verdict{Result: ipn.NoKey}},
		// HMAC-SHA256 under the empty key, computed apart from this program.
		{"a zero secret beside a real one", []ipn.Secret{{}, current}, "3fa217833adde4bf722cc34845340d25011373eef6aa4c8a37cecee4e00aba2a", ipn.Verdict{Result: ipn.Mismatch}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ipn.Signature{Secrets: tt.secrets}.Verify([]byte(body1), []string{stamp}, []string{tt.mac}, received)
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
	if got := (ipn.Secret{}).Sign(stamp, []byte(body1)); got != "" {
		t.Errorf("the zero secret signs: %q", got)
	}
}

func TestAnOldTimestampIsGoodAndStale(t *testing.T) {
	key := secret(t, "k", keyText)
	los, hour := zone(t, "America/Los_Angeles"), time.Hour
	for _, tt := range []struct {
		name, stamp string
		zone        *time.Location
		window, age time.Duration
		stale       bool
	}{
		{"now", "2023-05-15 13:02:58.878", nil, 0, 0, false},
		{"without milliseconds", "2023-05-15 13:02:58", nil, 0, 878 * time.Millisecond, false},
		{"the window to the millisecond", "2023-05-12 13:02:58.878", nil, 0, 72 * hour, false},
		{"a millisecond longer", "2023-05-12 13:02:58.877", nil, 0, 72*hour + time.Millisecond, true},
		{"after all re-sends", "2023-05-13 17:02:58.878", nil, 0, 44 * hour, false},
		{"ninety days", "2023-02-14 13:02:58.878", nil, 0, 90 * 24 * hour, true},
		{"far ahead", "2023-05-19 13:02:58.878", nil, 0, -96 * hour, true},
		{"a little ahead", "2023-05-15 14:02:58.878", nil, 0, -hour, false},
		{"a zone of its own", "2023-05-15 06:02:58.878", los, 0, 0, false},
		{"a window of its own", "2023-05-15 12:02:58.878", nil, time.Minute, hour, true},
		{"unreadable", "yesterday", nil, 0, 0, true},
		{"with a zone", "2023-05-15T13:02:58Z", nil, 0, 0, true},
		{"no such day", "2023-02-30 13:02:58", nil, 0, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ipn.Signature{Secrets: []ipn.Secret{key}, Zone: tt.zone, Window: tt.window}
			got := s.Verify([]byte(body1), []string{tt.stamp}, []string{key.Sign(tt.stamp, []byte(body1))}, received)
			if want := (ipn.Verdict{Result: ipn.Good, KeyID: "k", Age: tt.age, Stale: tt.stale}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestResultsAreAClosedSet(t *testing.T) {
	want := []ipn.Result{"good", "missing", "malformed", "mismatch", "no_key", "not_verifiable"}
	if got := ipn.Results(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNoByteOfASignedBodyCanChange(t *testing.T) {
	key := secret(t, "k", keyText)
	signature := ipn.Signature{Secrets: []ipn.Secret{key}}
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "body")
		stamp := rapid.StringN(1, 40, -1).Draw(t, "timestamp")
		mac := []string{key.Sign(stamp, body)}
		if got := signature.Verify(body, []string{stamp}, mac, received); got.Result != ipn.Good {
			t.Fatalf("genuine: got %+v", got)
		}
		body[rapid.IntRange(0, len(body)-1).Draw(t, "at")] ^= rapid.ByteRange(1, 255).Draw(t, "flip")
		if got := signature.Verify(body, []string{stamp}, mac, received); got.Result != ipn.Mismatch {
			t.Fatalf("one byte changed: got %+v", got)
		}
	})
}

// FuzzVerify holds Verify to this: Good exactly when the text is the signature.
func FuzzVerify(f *testing.F) {
	key := secret(f, "k", keyText)
	signature := ipn.Signature{Secrets: []ipn.Secret{{}, key}}
	f.Add([]byte(body1), stamp, mac1)
	f.Add([]byte(body1), stamp, strings.ToUpper(mac1))
	f.Add([]byte(body1), "", macBody)
	f.Add([]byte(body2), "2023-02-30 99:99:99", mac2[:62])
	f.Fuzz(func(t *testing.T, body []byte, stamp, mac string) {
		genuine := stamp != "" && strings.ToLower(mac) == key.Sign(stamp, body)
		got := signature.Verify(body, []string{stamp}, []string{mac}, received)
		if (got.Result == ipn.Good) != genuine {
			t.Fatalf("got %+v, genuine: %v", got, genuine)
		}
		if !slices.Contains(ipn.Results(), got.Result) || !genuine && got != (ipn.Verdict{Result: got.Result}) {
			t.Fatalf("got %+v: outside the set, or circumstances of a forgery", got)
		}
		got = signature.Verify(body, []string{stamp}, []string{key.Sign(stamp, body)}, received)
		if stamp != "" && got.Result != ipn.Good {
			t.Fatalf("genuine: got %+v", got)
		}
	})
}
