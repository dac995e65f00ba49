package ipn

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// PersonToken stands for an e-mail address or a name in an index that holds neither: it is a keyed hash, and without the key
// nobody can try names against it.
type PersonToken [16]byte

// A PersonKey makes the tokens that people are found by. The zero key makes none. Under another key all tokens differ, so an
// index that was written under an old one has to be written anew.
type PersonKey struct{ secret Secret }

// NewPersonKey makes a key of a secret; of the zero Secret the zero key.
func NewPersonKey(secret Secret) PersonKey { return PersonKey{secret: secret} }

// IsZero tells whether people can not be searched for.
func (k PersonKey) IsZero() bool { return k.secret.IsZero() }

// Email returns the token of an e-mail address, however its letters' case and the space around it were typed. It returns false
// for what is no address, and always under the zero key.
func (k PersonKey) Email(text string) (PersonToken, bool) {
	return k.token("email", normalEmail(text))
}

// Name returns the token of a name: a last name alone, or first and last name. Letter case, width, and the spaces between
// and around do not matter; accents do. It returns false for what holds no letter, and always under the zero key.
func (k PersonKey) Name(text string) (PersonToken, bool) {
	return k.token("name", normalName(text))
}

// The standard fields that tell of people.
var (
	emailFields = [...]nameID{mustName("email"), mustName("invoiceEmail")}
	nameFields  = [...]struct{ first, last nameID }{
		{mustName("firstName"), mustName("lastName")},
		{mustName("invoiceFirstName"), mustName("invoiceLastName")},
		{mustName("shippingFirstName"), mustName("shippingLastName")},
	}
)

// Of returns the tokens under which the people of an event are found: those of its e-mail addresses, of the first and last
// names of the shopper, the invoice's addressee and the one the goods go to, and of these last names alone. None comes
// twice; the zero key has none.
func (k PersonKey) Of(e *Event) []PersonToken {
	if k.IsZero() {
		return nil
	}
	var tokens []PersonToken
	add := func(token PersonToken, ok bool) {
		if ok && !slices.Contains(tokens, token) {
			tokens = append(tokens, token)
		}
	}
	for _, id := range emailFields {
		add(k.Email(e.value(id)))
	}
	for _, id := range nameFields {
		add(k.Name(e.value(id.first) + " " + e.value(id.last)))
		add(k.Name(e.value(id.last)))
	}
	return tokens
}

// token hashes what was normalised. The kind keeps a name from being found as an address.
func (k PersonKey) token(kind, normal string) (PersonToken, bool) {
	if k.IsZero() || normal == "" {
		return PersonToken{}, false
	}
	mac := hmac.New(sha256.New, k.secret.reveal())
	mac.Write([]byte("ipn-receiver person " + kind + "\x00"))
	mac.Write([]byte(normal))
	return PersonToken(mac.Sum(nil)[:len(PersonToken{})]), true
}

// longestPerson is the most bytes of a name or an address: more is nobody's, and not worth the work.
const longestPerson = 1024

// normalEmail returns "" for what is no address.
func normalEmail(text string) string {
	if len(text) > longestPerson {
		return ""
	}
	text = norm.NFC.String(strings.ToLower(norm.NFC.String(strings.TrimSpace(text))))
	local, domain, found := strings.Cut(text, "@")
	if !found || local == "" || domain == "" {
		return ""
	}
	return text
}

// normalName returns "" for what is no name. Characters that cannot be seen, such as those that turn the direction of
// writing, are left out: who searches does not type them.
func normalName(text string) string {
	if len(text) > longestPerson {
		return ""
	}
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
	text = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text)))
	if strings.IndexFunc(text, unicode.IsLetter) < 0 {
		return ""
	}
	return strings.Join(strings.Fields(text), " ")
}
