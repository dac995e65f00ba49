package bank

import (
	"slices"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
)

// page is what one answer shows. Step is bank, details, account, done or unknown, and names the block of the template.
type page struct {
	Step     string
	Problem  string
	Transfer paysim.Transfer
	Country  string // of the chosen bank, upper case
	Bank     string // the chosen bank's name; "" while none is chosen
}

// newPage begins at the first step; a country or bank that is not in the lists counts as not chosen. The shopper's own
// country is chosen beforehand.
func newPage(t paysim.Transfer, country, bank string) page {
	p := page{Step: "bank", Transfer: t, Country: strings.ToUpper(country)}
	if t.Visited {
		p.Step = "done"
	}
	if p.Country == "" && t.Payer != nil {
		p.Country = strings.ToUpper(t.Payer.Country)
	}
	if countries.index(p.Country) < 0 {
		p.Country = countries[0].Key
	}
	if slices.Contains(p.Banks(), bank) {
		p.Bank = bank
	}
	return p
}

// choice is one of a list: its key is sent, its name is shown.
type choice struct{ Key, Name string }

type choices []choice

func (c choices) index(key string) int {
	return slices.IndexFunc(c, func(one choice) bool { return one.Key == key })
}

// countries are those that the method serves; paysim refuses a payer of any other.
var countries = choices{
	{"AT", "Austria"}, {"BE", "Belgium"}, {"CH", "Switzerland"}, {"DE", "Germany"},
	{"ES", "Spain"}, {"IT", "Italy"}, {"NL", "Netherlands"}, {"PL", "Poland"},
}

var banks = map[string][]string{
	"AT": {"Musterbank Wien", "Alpenkasse Beispiel"},
	"BE": {"Voorbeeldbank Brussel", "Banque Exemple"},
	"CH": {"Beispielbank Zürich", "Banque Exemple Genève"},
	"DE": {"Musterbank Berlin", "Beispielsparkasse", "Volksbank Musterstadt"},
	"ES": {"Banco Ejemplo", "Caja Muestra"},
	"IT": {"Banca Esempio", "Cassa Campione"},
	"NL": {"Voorbeeldbank", "Spaarbank Proef"},
	"PL": {"Bank Przykładowy", "Kasa Wzorcowa"},
}

var accounts = choices{{"current", "Current account ···· 0110"}, {"savings", "Savings account ···· 0220"}}

// Countries are what the first step offers.
func (p page) Countries() choices { return countries }

// CountryName names the country that is chosen.
func (p page) CountryName() string { return countries[countries.index(p.Country)].Name }

// Banks are those of the country.
func (p page) Banks() []string { return banks[p.Country] }

// Accounts are those of the shopper, the same at every bank.
func (p page) Accounts() choices { return accounts }

// Foretold says what the sandbox will make of the order, "" when that is the shopper's choice.
func (p page) Foretold() string { return foretold[p.Transfer.Outcome] }

var foretold = map[string]string{
	"_APPROVE": "the bank will approve",
	"_REJECT":  "the bank will reject",
	"_DELAYAP": "the bank will think it over and then approve",
	"_DELAYRJ": "the bank will think it over and then reject",
}

// Ending says how an order that is over ended.
func (p page) Ending() string { return endings[p.Transfer.Status] }

var endings = map[string]string{
	"SUCCESS": "The transfer was approved.",
	"PENDING": "The bank has not decided yet. The shop will hear of it.",
	"FAIL":    "The transfer was not made.",
}
