package ipn_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// The classes of fields are those of the reference on data protection, section 8.1; each row holds names of one class that
// the payment service sends.
func TestAFieldShowsAsMuchAsItsClassAllows(t *testing.T) {
	for _, tt := range []struct{ names, value, want string }{
		{"firstName lastName invoiceFirstName invoiceLastName shippingFirstName shippingLastName", "Maria", "M***"},
		{"firstName", " Maria  de la Luz Santos ", "M*** d*** l*** L***"},
		{"lastName", "Ångström", "Å***"},
		{"lastName", "<img src=x onerror=alert(1)>", "*** s*** o***"},
		{"lastName", "=cmd|' /C calc'!A0", "*** *** c***"},
		{"firstName", "\u202eairaM", "***"},
		{"firstName", "陳", "陳***"},
		{"email invoiceEmail merchantEmail", "maria.santos@mail.example.org", "m***@m***.org"},
		{"email", "maria@localhost", "m***@l***"},
		{"email", "maria@santos.verylongfamilyname", "m***@s***"},
		{"email", "maria@santos.b\u00fccher", "m***@s***"},
		{"email", "maria@[192.0.2.7]", "m***@***"},
		{"email", "maria", "***"},
		{"email", "@", "***@***"},
		{"creditCardLastFourDigits dpanLastFourDigits originalCreditCardLast4Digits updatedCreditCardLast4Digits", "1234", "•••• 1234"},
		{"creditCardLastFourDigits", "4111 1111 1111 1111", "•••• 1111"},
		{"creditCardLastFourDigits", "xxxx-1234", "•••• 1234"},
		{"creditCardLastFourDigits", "123", "••••"},
		{"creditCardLastFourDigits", "Maria 1234", "••••"},
		{"creditCardExpDate dpanExpDate originalCreditCardExpirationMonth updatedCreditCardExpirationYear", "5/2027", "[hidden]"},
		{"authKey licenseKey promoteContractLicenseKey0 shopperAdminUrl shopperOrderUrl invoiceURL invoiceInfoURL", "https://pay.example/?t=1", "[hidden]"},
		{"remoteAddress referrer language originalRequestUrl armadilloHardwareId", "192.0.2.7", "[hidden]"},
		{"title company address1 address2 invoiceAddress1 shippingAddress2 workPhone mobilePhone homePhone faxNumber extension username", "5 Elm St", "***"},
		{"city zipCode invoiceCity invoiceZipCode shippingCity shippingZipCode vatId personalId brazilianId sepaIban bankAccountNumber", "10115", "***"},
		{"Color a.b custom phone cpf", "red", "***"},
		{"country invoiceCountry shippingCountry state invoiceState", "DE", "DE"},
		{"transactionType referenceNumber accountId contractId invoiceAmount additionalChargeAmount[0] vendorId couponCode", "12.34", "12.34"},
		{"referenceNumber merchantTransactionId", "4111111111111111", "4111111111111111"},
		{"productName contractName vendorName cancelReason custom1 custom[2]", "Größe <b>XL</b>", "Größe <b>XL</b>"},
		{"custom1", "my card 12 4111 1111 1111 1111, thanks", "my card 12 •••• 1111, thanks"},
		{"custom1", "4111-1111-1111-1111/5500000000000004", "•••• 1111/•••• 0004"},
		{"custom1", "4111  1111\u00a01111_1111", "•••• 1111"},
		{"custom1", "４１１１ １１１１ １１１１ １１１１", "•••• 1111"},
		{"custom1", "4111\t1111 - 1111 – 1111.", "•••• 1111."},
		{"custom1", "4111111111111112", "4111111111111112"},
		{"custom1", "0000000000000000", "0000000000000000"},
		{"creditCardType cardSubType cardCategory", "VISA", "VISA"},
		{"cvvSent avsSent", "Y", "Y"},
		{"cvvResponse avsResponse", "NC", "NC"},
		{"cvvSent cvvResponse", "737", "[hidden]"},
		{"cvvSent", "1234", "[hidden]"},
	} {
		for name := range strings.FieldsSeq(tt.names) {
			f := ipn.Fields{{Name: name, Value: tt.value}}.Masked()[0]
			if f.Name != name || f.Value != tt.want {
				t.Errorf("%s %q shows as %s %q, want %q", name, tt.value, f.Name, f.Value, tt.want)
			}
		}
	}
}

func TestEveryNameOfAPersonIsMasked(t *testing.T) {
	open := map[string]bool{"cancelReason": true, "shippingMethod": true}
	for _, row := range ipn.NameRows() {
		lower := strings.ToLower(row.Name)
		for _, part := range []string{
			"firstname", "lastname", "title", "company", "address", "city", "zip", "email", "phone", "fax", "username", "personal", "brazilian", "vat",
			"iban", "mandate", "bankaccount", "routing", "publicaccount", "exp", "url", "key", "referrer", "hardware", "binnumber",
		} {
			if shown := ipn.Veil(sentName(row), "Santos4711"); strings.Contains(lower, part) && strings.Contains(shown, "antos4711") && !open[row.Name] {
				t.Errorf("%s shows %s", row.Name, shown)
			}
		}
	}
}

func sentName(row ipn.NameRow) string {
	if row.Indexed {
		return row.Name + "0"
	}
	return row.Name
}

func TestANameThatNobodyListedIsPersonal(t *testing.T) {
	for _, name := range []string{"", "Color", "firstNam\u0435", "amount[x]", " currency", "phone", strings.Repeat("a", 1<<16)} {
		if !ipn.PersonalByDefault(name) {
			t.Errorf("%.40q is not taken for personal", name)
		}
	}
}

// A body that is no form is one long name, and an ampersand that nobody encoded leaves the rest of a text as one.
func TestANameThatIsNoneIsMaskedToo(t *testing.T) {
	e := decode(`transactionType=CHARGE&company=Sales & Maria Santos&Color=red&{"email":"maria@santos.example"}&4111111111111111=1`)
	got, err := json.Marshal(e.Masked().Fields)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"name":"transactionType","value":"CHARGE"},{"name":"company","value":"***"},{"name":"***","value":""},` +
		`{"name":"Color","value":"***"},{"name":"***","value":""},{"name":"***","value":"***"}]`
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// TestTheDetailsOfAMaskedEventAreMasked looks at every sample: no value that is masked among the fields stands in the
// details, and what is shown stands there as before.
func TestTheDetailsOfAMaskedEventAreMasked(t *testing.T) {
	for _, name := range sampleNames(t) {
		e := decode(sample(t, name))
		masked := e.Masked()
		details, err := json.Marshal(masked.Details())
		if err != nil {
			t.Fatal(err)
		}
		shown := string(masked.Fields.AppendJSON(nil)) // a vendor's name may be the name of its bank account
		for i, f := range e.Fields {
			if masked.Fields[i].Value != f.Value && len(f.Value) > 4 && !strings.Contains(shown, f.Value) && strings.Contains(string(details), f.Value) {
				t.Errorf("%s: the details show %s", name, f.Name)
			}
		}
		if !strings.Contains(string(details), `"transactionType":"`) && e.Type.Known() {
			t.Errorf("%s: the details do not show the type: %s", name, details)
		}
		if len(e.Fields) > 0 && &e.Fields[0] == &masked.Fields[0] {
			t.Errorf("%s: masking touched the event itself", name)
		}
	}
}

// FuzzMask holds what everybody relies on who shows a masked field: it never panics, is UTF-8, and shows no more of the
// value than its class allows: of a name four letters, of an e-mail address two and a short domain, of a card four digits,
// of the rest nothing.
func FuzzMask(f *testing.F) {
	for _, value := range []string{"", " ", "Maria Santos", "a@b.cd", "@", ".@.", "a@b@c.de", "4111111111111111", "4111 1111-1111.1111 5", "\xff\xfe", "\u0301\u0301", "\u202e", "１２３４", "x1x2x3x4x5"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for name, most := range map[string]int{
			"firstName": 4, "email": 8, "creditCardLastFourDigits": 4, "creditCardExpDate": 0, "authKey": 0, "remoteAddress": 0, "city": 0, "Color": 0, "vatId": 0,
		} {
			shown := ipn.Fields{{Name: name, Value: value}}.Masked()[0].Value
			if strings.TrimSpace(value) == "" {
				continue
			}
			if !utf8.ValidString(shown) && utf8.ValidString(value) {
				t.Fatalf("%s: %q is no UTF-8", name, shown)
			}
			if got := lettersAndDigits(strings.ReplaceAll(shown, "[hidden]", "")); got > most {
				t.Fatalf("%s: %q shows as %q, which has %d letters and digits", name, value, shown, got)
			}
		}
		if shown := ipn.Veil("custom1", value); !utf8.ValidString(shown) && utf8.ValidString(value) || len(shown) > len(value)+len(value)/13*13 {
			t.Fatalf("custom1: %q shows as %q", value, shown)
		}
	})
}

func lettersAndDigits(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
