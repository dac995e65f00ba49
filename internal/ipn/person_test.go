package ipn_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func personKey(t *testing.T, text string) ipn.PersonKey {
	t.Helper()
	secret, err := ipn.NewSecret("", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return ipn.NewPersonKey(secret)
}

// The vectors were computed by another program:
//
//	printf 'ipn-receiver person email\0maria@santos.example' | openssl dgst -sha256 -hmac 0123456789abcdef
//
// A token that changes finds nobody who was indexed before.
func TestATokenIsWhatItWasBefore(t *testing.T) {
	key := personKey(t, "0123456789abcdef")
	for _, tt := range []struct {
		what string
		make func(string) (ipn.PersonToken, bool)
		text string
		want string
	}{
		{"email", key.Email, "maria@santos.example", "06e57cfdfbf0b42ead7ee08104640563"},
		{"name", key.Name, "maria santos", "efc80cac5552ac2810098809309dbca7"},
	} {
		token, ok := tt.make(tt.text)
		if got := hex.EncodeToString(token[:]); !ok || got != tt.want {
			t.Errorf("%s %q has the token %s, %t; want %s", tt.what, tt.text, got, ok, tt.want)
		}
	}
}

func TestAPersonIsFoundHoweverTheyAreTyped(t *testing.T) {
	key := personKey(t, "0123456789abcdef")
	for _, tt := range []struct {
		what string
		make func(string) (ipn.PersonToken, bool)
		a, b string
	}{
		{"letter case of an address", key.Email, "Maria@Santos.Example", "maria@santos.example"},
		{"space around an address", key.Email, "  maria@santos.example\n", "maria@santos.example"},
		{"an accent typed apart, in an address", key.Email, "jose\u0301@santos.example", "jos\u00e9@santos.example"},
		{"letter case of a name", key.Name, "MARIA SANTOS", "Maria Santos"},
		{"spaces in a name", key.Name, "  Maria \t Santos ", "Maria Santos"},
		{"an accent typed apart, in a name", key.Name, "Jose\u0301", "JOS\u00c9"},
		{"letters that fold to two", key.Name, "STRASSE", "Stra\u00dfe"},
		{"letters of another width", key.Name, "\uff2d\uff41\uff52\uff49\uff41", "Maria"},
		{"a final sigma", key.Name, "ΟΔΥΣΣΕΥΣ", "Οδυσσευς"},
		{"letters that cannot be seen", key.Name, "\u202eMa\u200bria\u202c", "Maria"},
	} {
		a, okA := tt.make(tt.a)
		b, okB := tt.make(tt.b)
		if !okA || !okB || a != b {
			t.Errorf("%s: %q and %q have different tokens", tt.what, tt.a, tt.b)
		}
	}
}

func TestDifferentPeopleKindsAndKeysHaveDifferentTokens(t *testing.T) {
	key, other := personKey(t, "0123456789abcdef"), personKey(t, "fedcba9876543210")
	seen := make(map[ipn.PersonToken]string)
	add := func(what string, token ipn.PersonToken, ok bool) {
		if !ok || seen[token] != "" {
			t.Errorf("%s: token %t, which is that of %s", what, ok, seen[token])
		}
		seen[token] = what
	}
	for _, text := range []string{"maria@santos.example", "maria@santos.test", "jose@santos.example", "jos\u00e9@santos.example"} {
		for name, k := range map[string]ipn.PersonKey{"key": key, "other": other} {
			token, ok := k.Email(text)
			add(name+" email "+text, token, ok)
			token, ok = k.Name(text)
			add(name+" name "+text, token, ok)
		}
	}
}

func TestWhatIsNobodyHasNoToken(t *testing.T) {
	key := personKey(t, "0123456789abcdef")
	for _, text := range []string{"", " ", "maria", "@", "a@", "@b", strings.Repeat("a", 2000) + "@b.example"} {
		if _, ok := key.Email(text); ok {
			t.Errorf("the address %.40q has a token", text)
		}
	}
	for _, text := range []string{"", " ", "-", "4711", "\u200b", strings.Repeat("a", 2000), "a" + strings.Repeat("\u0301", 4096)} {
		if _, ok := key.Name(text); ok {
			t.Errorf("the name %.40q has a token", text)
		}
	}
	var none ipn.PersonKey
	_, email := none.Email("maria@santos.example")
	_, name := none.Name("Maria")
	if !none.IsZero() || key.IsZero() || email || name || none.Of(decode("lastName=Santos")) != nil {
		t.Error("the zero key makes tokens")
	}
}

func TestAnEventIsFoundByEachOfItsPeople(t *testing.T) {
	key := personKey(t, "0123456789abcdef")
	e := decode("transactionType=CHARGE&firstName=Maria&lastName=Santos&email=maria@santos.example" +
		"&invoiceFirstName=MARIA&invoiceLastName=Santos&invoiceEmail=Books@Santos.example&shippingFirstName=Jo&shippingLastName=de+Vries&company=Acme")
	tokens := make(map[ipn.PersonToken]bool)
	for _, token := range key.Of(e) {
		if tokens[token] {
			t.Errorf("a token comes twice")
		}
		tokens[token] = true
	}
	for _, name := range []string{"maria santos", "santos", "Jo de Vries", "De Vries"} {
		if token, _ := key.Name(name); !tokens[token] {
			t.Errorf("the event is not found by the name %s", name)
		}
	}
	for _, email := range []string{"maria@santos.example", "books@santos.example"} {
		if token, _ := key.Email(email); !tokens[token] {
			t.Errorf("the event is not found by the address %s", email)
		}
	}
	if len(tokens) != 6 {
		t.Errorf("the event has %d tokens, want 6", len(tokens))
	}
}

func TestAPersonKeyDoesNotShowItself(t *testing.T) {
	key := personKey(t, "0123456789abcdef")
	if text := fmt.Sprintf("%v %+v %#v", key, key, key); strings.Contains(text, "0123456789abcdef") || strings.Contains(text, hex.EncodeToString([]byte("0123456789abcdef"))) {
		t.Errorf("the key shows: %s", text)
	}
}
