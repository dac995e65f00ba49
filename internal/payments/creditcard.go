package payments

import (
	"fmt"
	"io"
)

// CreditCard is a card as a shopper types it in. It does not show itself: every verb of fmt writes [hidden].
type CreditCard struct {
	CardNumber      string `json:"cardNumber,omitempty"`
	SecurityCode    string `json:"securityCode,omitempty"`
	ExpirationMonth string `json:"expirationMonth,omitempty"` // two digits
	ExpirationYear  string `json:"expirationYear,omitempty"`  // four digits
}

const hidden = "[hidden]"

// Format writes "[hidden]" whatever the verb.
func (c CreditCard) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, hidden) }

// String returns "[hidden]".
func (c CreditCard) String() string { return hidden }

// check looks at the form alone; whether a card exists is for the bank to say. Nil is no card, which may be right.
func (c *CreditCard) check() error {
	if c == nil {
		return nil
	}
	return first(
		wrong(c.CardNumber == "", "cardNumber", "is required"),
		wrong(!digits(c.ExpirationMonth, 2), "expirationMonth", "must be two digits"),
		wrong(!digits(c.ExpirationYear, 4), "expirationYear", "must be four digits"),
	)
}

func digits(text string, n int) bool {
	if len(text) != n {
		return false
	}
	for _, r := range text {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}

// MaskedCard is a card as the service shows it.
type MaskedCard struct {
	CardLastFourDigits ID     `json:"cardLastFourDigits"` // leading zeros kept
	CardType           string `json:"cardType"`           // such as VISA
	CardSubType        string `json:"cardSubType"`        // such as CREDIT, DEBIT, PREPAID
	CardCategory       string `json:"cardCategory"`       // such as PLATINUM
	BinCategory        string `json:"binCategory"`        // such as CONSUMER
	BinNumber          ID     `json:"binNumber"`          // the first six digits
	CardRegulated      string `json:"cardRegulated"`      // Y or N
	IssuingBank        string `json:"issuingBank"`
	IssuingCountryCode string `json:"issuingCountryCode"` // two letters, lower case
	ExpirationMonth    ID     `json:"expirationMonth"`
	ExpirationYear     ID     `json:"expirationYear"`
}
