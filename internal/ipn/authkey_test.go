package ipn_test

import (
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestAuthKeysAreVerified(t *testing.T) {
	const proof = "a22303324445ea93a3e8eec82c4cdd65"
	key := secret(t, "protection", "MyDataProtectionKey1")
	fields := func(authKey string) ipn.Fields {
		return ipn.Fields{{"referenceNumber", "70010001"}, {"contractId", "3000001"}, {"authKey", authKey}}
	}
	good := ipn.Verdict{Result: ipn.Good, KeyID: "protection"}
	for _, tt := range []struct {
		name, typeName string
		fields         ipn.Fields
		key            ipn.Secret
		want           ipn.Verdict
	}{
		{"the sender's vector", "CHARGE", fields(proof), key, good},
		{"of an unknown type", "", fields(proof), key, good},
		{"upper-case hexadecimal", "CHARGE", fields("A22303324445EA93A3E8EEC82C4CDD65"), key, good},
		{"names in another case", "CHARGE", ipn.Fields{{"contractID", "3000001"}, {"authkey", proof}, {"ReferenceNumber", "70010001"}}, key, good},
		{"another reference", "CHARGE", ipn.Fields{{"referenceNumber", "70010002"}, {"contractId", "3000001"}, {"authKey", proof}}, key, ipn.Verdict{Result: ipn.Mismatch}},
		{"no contract", "CHARGE", ipn.Fields{{"referenceNumber", "70010001"}, {"authKey", proof}}, key, ipn.Verdict{Result: ipn.Mismatch}},
		{"another key", "CHARGE", fields(proof), secret(t, "", keyText), ipn.Verdict{Result: ipn.Mismatch}},
		{"truncated", "CHARGE", fields(proof[:30]), key, ipn.Verdict{Result: ipn.Malformed}},
		{"not hexadecimal", "CHARGE", fields("z" + proof[1:]), key, ipn.Verdict{Result: ipn.Malformed}},
		{"an empty field", "CHARGE", fields(""), key, ipn.Verdict{Result: ipn.Missing}},
		{"no field", "CHARGE", nil, key, ipn.Verdict{Result: ipn.Missing}},
		{"an updated card, another formula", "ACCOUNT_UPDATER", fields(proof), key, ipn.Verdict{Result: ipn.NotVerifiable}},
		{"a bank's correction, another formula", "ACH_NOTIFICATION_OF_CHANGE", fields("what"), key, ipn.Verdict{Result: ipn.NotVerifiable}},
		{"an updated card, empty field", "ACCOUNT_UPDATER", fields(""), key, ipn.Verdict{Result: ipn.Missing}},
		{"no key", "CHARGE", fields(proof), ipn.Secret{}, ipn.Verdict{Result: ipn.NoKey}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := ipn.AuthKeyVerdict(tt.typeName, tt.fields, tt.key); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			e := &ipn.Event{Type: ipn.Type{Name: tt.typeName}, Fields: tt.fields}
			if got := ipn.VerifyAuthKey(e, tt.key); got != tt.want {
				t.Errorf("of an event: got %+v, want %+v", got, tt.want)
			}
		})
	}
}
