package ipn

import (
	"crypto/hmac"
	"crypto/md5"
	"io"
	"strings"
)

// otherFormula are the types whose authKey is made in a way that is not
// documented.
var otherFormula = map[string]bool{"ACCOUNT_UPDATER": true, "ACH_NOTIFICATION_OF_CHANGE": true}

// VerifyAuthKey judges the older proof of origin, a field of the body: the
// hexadecimal MD5 of referenceNumber, contractId and the key, one after the
// other. It covers neither amount nor type, so it is a hint beside the
// signature, never in its place. The field is empty, hence Missing, unless the
// merchant has set a key; NotVerifiable are the types with a formula of their
// own. Age and Stale stay zero: there is no timestamp.
func VerifyAuthKey(e *Event, key Secret) Verdict {
	return authKeyVerdict(e.Type.Name, e.Fields, key)
}

func authKeyVerdict(typeName string, fields Fields, key Secret) Verdict {
	text := strings.TrimSpace(fields.Get("authKey"))
	var sent [md5.Size]byte
	switch {
	case key.IsZero():
		return Verdict{Result: NoKey}
	case text == "":
		return Verdict{Result: Missing}
	case otherFormula[typeName]:
		return Verdict{Result: NotVerifiable}
	case !decodeMAC(sent[:], text):
		return Verdict{Result: Malformed}
	}
	if !hmac.Equal(authKeyOf(fields, key), sent[:]) {
		return Verdict{Result: Mismatch}
	}
	return Verdict{Result: Good, KeyID: key.ID()}
}

func authKeyOf(fields Fields, key Secret) []byte {
	h := md5.New() // the sender's choice; not ours to make stronger
	_, _ = io.WriteString(h, fields.Get("referenceNumber"))
	_, _ = io.WriteString(h, fields.Get("contractId"))
	_, _ = h.Write(key.reveal())
	return h.Sum(nil)
}
