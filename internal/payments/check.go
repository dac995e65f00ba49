package payments

import (
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// QuoteLifetime is how long a tax quote is good for, unless a transaction was sent with it (specification section 8).
const QuoteLifetime = 24 * time.Hour

// Lengths and amounts that the interface takes at most.
const (
	longestDescriptor = 20
	longestMerchantID = 50
	longestReason     = 4000
)

var mostAmount = decimal.RequireFromString("9999999999.99")

// first returns the first error of a list of checks.
func first(checks ...error) error {
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return nil
}

// wrong is the error of a field, or nothing if all is well.
func wrong(bad bool, field, reason string) error {
	if !bad {
		return nil
	}
	return &FieldError{Field: field, Reason: reason}
}

// checkAmount asks for an amount that is there and within the interface's bounds. Whether 0 will do is the service's to say.
func checkAmount(field string, a Amount) error {
	return first(wrong(a.IsZero(), field, "is required"), checkOptionalAmount(field, a))
}

// checkOptionalAmount takes an absent amount too.
func checkOptionalAmount(field string, a Amount) error {
	return first(
		wrong(a.Decimal().IsNegative(), field, "must not be negative"),
		wrong(a.Decimal().GreaterThan(mostAmount), field, "must be at most 9999999999.99"),
	)
}

// checkCurrency asks for the form of ISO 4217 in upper case; which currencies there are is the service's to say.
func checkCurrency(currency string) error {
	letters := strings.Trim(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	return wrong(len(currency) != 3 || !letters, "currency", "must be three upper-case letters")
}

// checkDescriptor counts characters, not bytes.
func checkDescriptor(text string) error {
	return wrong(utf8.RuneCountInString(text) > longestDescriptor, "softDescriptor", "must be at most 20 characters")
}

// checkMerchantID takes "" for none.
func checkMerchantID(text string) error {
	return wrong(utf8.RuneCountInString(text) > longestMerchantID, "merchantTransactionId", "must be 1 to 50 characters")
}

// checkID keeps identifiers apart from paths: they become a part of one.
func checkID(field, id string) error {
	return first(
		wrong(id == "", field, "is required"),
		wrong(!isPlain(id) || len(id) > 64, field, "must be up to 64 letters, digits and hyphens"),
	)
}

// isPlain tells whether text is letters, digits and hyphens.
func isPlain(text string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
}

// checkURL takes absolute addresses of https and http alone: a shopper is sent to them.
func checkURL(field, text string) error {
	u, err := url.Parse(text)
	return first(
		wrong(text == "", field, "is required"),
		wrong(err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "", field, "must be an absolute URL of https or http"),
	)
}

// checkQuote refuses a quote that has expired by the client's clock.
func (c *Client) checkQuote(field string, q QuoteReference) error {
	if q.ID == "" {
		return nil
	}
	if !q.Used && !q.CreatedAt.IsZero() && c.config.Now().Sub(q.CreatedAt) >= QuoteLifetime {
		return &FieldError{Field: field, Reason: ErrQuoteExpired.Error(), Err: ErrQuoteExpired}
	}
	return checkID(field, q.ID)
}
