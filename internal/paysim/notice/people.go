package notice

import "fmt"

// Person is a made-up shopper. What is said of a person fits together: the address is one of the country, the currency is
// the country's, the tax is the one due there.
type Person struct {
	Title, FirstName, LastName, Company string
	Address1, City, State, Zip, Country string // State is "" where addresses have none; Country is ISO 3166, two letters
	Email, Phone                        string
	RemoteAddress                       string // of the shopper's machine; "" as often as not
	TaxNumber                           string // personal, of Brazilians
	Language                            string // as IPNs tell it: an English word in upper case
	Currency                            string // ISO 4217
	TaxRate                             int64  // in hundredths of a percent
}

// people is everyone there is. None of them lives: the addresses are of no house, the numbers and mailboxes of nobody.
var people = [...]Person{
	{"Ms", "Dana", "Whitfield", "", "900 Cedar Ave", "Portland", "OR", "97205", "US", "dana.whitfield", "", "", "", "ENGLISH", "USD", 0},
	{"Mr", "José", "García Núñez", "", "Calle del Olmo 14", "Madrid", "", "28012", "ES", "jose.garcia", "", "", "", "SPANISH", "EUR", 2100},
	{"", "Jonas", "Müller", "Müller & Söhne GmbH", "Lindenweg 3", "Köln", "", "50667", "DE", "jonas.mueller", "", "", "", "GERMAN", "EUR", 1900},
	{"", "伟", "李", "", "人民路12号", "上海", "", "200001", "CN", "li.wei", "", "", "", "CHINESE", "CNY", 1300},
	{"Mr", "Łukasz", "Wiśniewski", "", "ul. Różana 7/2", "Kraków", "", "31-001", "PL", "lukasz.wisniewski", "", "", "", "POLISH", "PLN", 2300},
	{"Mr", "Marcus", "Bell", "Bell Outfitters", "77 Summit St #4", "Denver", "CO", "80202", "US", "marcus.bell", "", "", "", "ENGLISH", "USD", 881},
	{"Ms", "愛子", "星野", "", "桜町2-4-1", "京都市", "京都府", "600-8001", "JP", "aiko.hoshino", "", "", "", "JAPANESE", "JPY", 1000},
	{"Mrs", "Siân", "O'Connor", "", "14 Harbour Rd", "Cardiff", "", "CF10 1AA", "GB", "sian.oconnor", "", "", "", "ENGLISH", "GBP", 2000},
	{"Ms", "Zoë", "Tremblay", "", "8 Maple Cres.", "Toronto", "ON", "M5V 2T6", "CA", "zoe.tremblay", "", "", "", "ENGLISH", "CAD", 1300},
	{"Mr", "João", "da Conceição", "", "Rua das Flores, 8", "São Paulo", "SP", "01000-000", "BR", "joao.conceicao", "", "", "111.444.777-35", "PORTUGUESE", "BRL", 0},
	{"Mr", "Callum", "Rhodes", "", "3/21 Wattle Lane", "Sydney", "NSW", "2000", "AU", "callum.rhodes", "", "", "", "ENGLISH", "AUD", 1000},
	{"", "Noura", "Al-Mutairi", "", "Block 4, Street 12", "Kuwait City", "", "13001", "KW", "noura.almutairi", "", "", "", "ENGLISH", "KWD", 0},
	{"M.", "François", "Lefèvre", "L’Œuvre du Fil", "5 rue de l'Église", "Lyon", "", "69001", "FR", "francois.lefevre", "", "", "", "FRENCH", "EUR", 2000},
}

// Someone returns a person; the same seed always returns the same one, neighbouring seeds different ones.
func Someone(seed uint64) Person {
	p := people[seed%uint64(len(people))]
	p.Email += "@mail.example.com"
	p.Phone = fmt.Sprintf("555-01%02d", seed%100)
	switch seed % 4 {
	case 0:
		p.RemoteAddress = fmt.Sprintf("192.0.2.%d", 1+seed%250)
	case 1:
		p.RemoteAddress = fmt.Sprintf("2001:0db8:0000:0000:0000:0000:0000:%04x", seed%0x10000)
	}
	return p
}

// Fields returns the person as the shopper, as whom the invoice is made out to and as whom goods are shipped to.
func (p Person) Fields() []Field {
	named := []Field{
		{"FirstName", p.FirstName}, {"LastName", p.LastName}, {"Address1", p.Address1},
		{"City", p.City}, {"State", p.State}, {"ZipCode", p.Zip}, {"Country", p.Country},
	}
	reached := []Field{{"Title", p.Title}, {"Company", p.Company}, {"Email", p.Email}, {"WorkPhone", p.Phone}}
	fields := []Field{
		{"title", p.Title}, {"firstName", p.FirstName}, {"lastName", p.LastName}, {"company", p.Company}, {"address1", p.Address1},
		{"city", p.City}, {"state", p.State}, {"zipCode", p.Zip}, {"country", p.Country}, {"email", p.Email}, {"workPhone", p.Phone},
		{"brazilianId", p.TaxNumber}, {"remoteAddress", p.RemoteAddress},
	}
	for _, f := range named {
		fields = append(fields, Field{"invoice" + f.Name, f.Value}, Field{"shipping" + f.Name, f.Value})
	}
	for _, f := range reached {
		fields = append(fields, Field{"invoice" + f.Name, f.Value})
	}
	return fields
}
