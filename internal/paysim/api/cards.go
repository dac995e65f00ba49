package api

import "github.com/ipn-receiver/ipn-receiver/internal/paysim"

// cardBody is a card in a request (specification section 2.2). All members are texts: zeros in
// front count.
type cardBody struct {
	Number          string `json:"cardNumber"`
	SecurityCode    string `json:"securityCode"`
	ExpirationMonth string `json:"expirationMonth"` // two digits
	ExpirationYear  string `json:"expirationYear"`  // four digits
}

// card is what the service is asked to charge; whether it is well formed, the service says. No
// answer and no error repeats its number or code.
func (b cardBody) card() paysim.Card {
	return paysim.Card{
		Number: b.Number, SecurityCode: b.SecurityCode, ExpirationMonth: b.ExpirationMonth, ExpirationYear: b.ExpirationYear,
	}
}

// cardView is a card in an answer: what may be shown of it, and who issued it (specification
// section 2.4, and the members that are documented beside it).
type cardView struct {
	LastFour        string `json:"cardLastFourDigits"`
	Type            string `json:"cardType"`
	SubType         string `json:"cardSubType"`
	Category        string `json:"cardCategory"`
	BinCategory     string `json:"binCategory"`
	BinNumber       string `json:"binNumber"`     // the first six digits
	Regulated       string `json:"cardRegulated"` // Y or N
	IssuingBank     string `json:"issuingBank"`
	IssuingCountry  string `json:"issuingCountryCode"` // lower case
	ExpirationMonth string `json:"expirationMonth"`
	ExpirationYear  string `json:"expirationYear"`
}

// cardOf shows a card. Number and security code stay behind; who issued it is made up, and the same
// for all: the issuers of real test numbers are nobody's business.
func cardOf(c paysim.Card) cardView {
	return cardView{
		LastFour: c.LastFour(), Type: c.Brand(), SubType: "CREDIT", Category: "PLATINUM", BinCategory: "CONSUMER",
		BinNumber: c.Number[:min(6, len(c.Number))], Regulated: "N", IssuingBank: "Bank of Example", IssuingCountry: "us",
		ExpirationMonth: c.ExpirationMonth, ExpirationYear: c.ExpirationYear,
	}
}
