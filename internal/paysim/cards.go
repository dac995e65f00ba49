package paysim

import (
	"strconv"
	"strings"
	"time"
)

// TestCard is a card number that a person may choose, its brand, and, in English, what becomes of a
// charge of it. The numbers are the well-known ones that payment services publish for tests: they
// belong to nobody.
type TestCard struct{ Number, Brand, Tells string }

// fate is what becomes of a charge. Of refusal, fraud and waits at most one is set; the zero fate
// is approval.
type fate struct {
	refusal string        // name of the bank's refusal, as code 14002 tells it apart
	fraud   string        // name of the fraud rule that refuses it
	renewal string        // name of the refusal of a subscription's later charges; the first one is approved
	waits   State         // the state it waits in before it is decided
	ipn     string        // the type that tells of the waiting
	wait    time.Duration // how long, on the simulated clock
	fails   bool          // whether the waiting ends with a refusal
	byBank  bool          // money moves by bank: refunds wait, too
}

// The ways to wait. A review by hand is over within the hour; a bank debit clears after three days,
// as real ones roughly do, so that a person who moves the clock by days sees both.
var (
	reviewed   = fate{waits: InReview, ipn: "UNDER_REVIEW", wait: time.Hour}
	rejected   = fate{waits: InReview, ipn: "UNDER_REVIEW", wait: time.Hour, fails: true}
	clears     = fate{waits: Pending, ipn: "CHARGE_PENDING", wait: 3 * 24 * time.Hour, byBank: true}
	neverClear = fate{waits: Pending, ipn: "CHARGE_PENDING", wait: 3 * 24 * time.Hour, fails: true, byBank: true}
)

// testCards are the numbers with an outcome of their own, in the order in which a page offers them.
// A number that is not here is approved if it is well formed, so the four approved ones stand here
// only to be offered.
var testCards = []struct {
	number, tells string
	fate          fate
}{
	{"4111111111111111", "approved", fate{}},
	{"5555555555554444", "approved", fate{}},
	{"378282246310005", "approved", fate{}},
	{"6011111111111117", "approved", fate{}},
	{"4000000000000002", "refused: DO_NOT_HONOR", fate{refusal: "DO_NOT_HONOR"}},
	{"4000000000009995", "refused: INSUFFICIENT_FUNDS", fate{refusal: "INSUFFICIENT_FUNDS"}},
	{"4000000000000069", "refused: EXPIRED_CARD", fate{refusal: "EXPIRED_CARD"}},
	{"4000000000000127", "refused: CVV_ERROR", fate{refusal: "CVV_ERROR"}},
	{"4000000000009979", "refused: CARD_LOST_OR_STOLEN", fate{refusal: "CARD_LOST_OR_STOLEN"}},
	{"4000000000000119", "refused: PROCESSING_TIMEOUT", fate{refusal: "PROCESSING_TIMEOUT"}},
	{"4000002500003155", "refused: THREE_D_SECURITY_AUTHENTICATION_REQUIRED", fate{refusal: "THREE_D_SECURITY_AUTHENTICATION_REQUIRED"}},
	{"4100000000000019", "refused by the fraud rules", fate{fraud: "BLOCKED_CARD"}},
	{"4000000000000341", "approved, but refused when a subscription renews: INSUFFICIENT_FUNDS", fate{renewal: "INSUFFICIENT_FUNDS"}},
	{"4000000000009235", "under review for an hour, then approved", reviewed},
	{"4000000000004954", "under review for an hour, then declined", rejected},
	{"4012888888881881", "pending for three days, as a bank debit is, then charged", clears},
	{"5105105105105100", "pending for three days, as a bank debit is, then declined", neverClear},
}

// Cards returns the numbers to try, the approved ones first; any other well-formed number is
// approved as well.
func (s *Service) Cards() []TestCard {
	cards := make([]TestCard, len(testCards))
	for i, c := range testCards {
		cards[i] = TestCard{c.number, Card{Number: c.number}.Brand(), c.tells}
	}
	return cards
}

// fateOf is what becomes of a charge that the bank is free to decide. No card, as a bank transfer
// has none, is approved.
func fateOf(c Card) fate {
	for _, known := range testCards {
		if known.number == c.Number {
			return known.fate
		}
	}
	return fate{}
}

// brands are told by how a number begins, between first and last; the first that fits counts. The
// ranges are those that the schemes publish, and each brand is written as IPNs and answers write
// it.
var brands = []struct{ first, last, brand string }{
	{"34", "34", "AMEX"}, {"37", "37", "AMEX"}, {"3528", "3589", "JCB"}, {"4", "4", "VISA"}, {"51", "55", "MASTERCARD"},
	{"2221", "2720", "MASTERCARD"}, {"6011", "6011", "DISCOVER"}, {"644", "649", "DISCOVER"}, {"65", "65", "DISCOVER"},
}

// Brand is the brand of a card as the interface writes it, such as VISA; "" for one that is not
// supported, and without a number.
func (c Card) Brand() string {
	for _, b := range brands {
		if begin := c.Number[:min(len(b.first), len(c.Number))]; begin >= b.first && begin <= b.last {
			return b.brand
		}
	}
	return ""
}

// LastFour are the digits that may be shown of a card; "" without a card. They are a text: zeros in
// front count.
func (c Card) LastFour() string {
	return c.Number[max(0, len(c.Number)-4):]
}

// checkCard refuses a card that is not there (90), not well formed (10001, naming the member) or of
// no known brand (14011). The security code may be absent, as it is for a stored card, which must
// not keep it. That a card has expired is for the bank to say. Number and code are never quoted: a
// refusal ends up in logs.
func (s *Service) checkCard(c Card) error {
	month, _ := strconv.Atoi(c.ExpirationMonth)
	switch {
	case c.Number == "":
		return Refuse("90", "creditCard", "")
	case len(c.Number) < 12 || len(c.Number) > 19 || !digits(c.Number) || !luhn(c.Number):
		return Refuse("10001", "creditCard.cardNumber", "")
	case c.Brand() == "":
		return Refuse("14011", "creditCard.cardNumber", "")
	case c.SecurityCode != "" && (len(c.SecurityCode) < 3 || len(c.SecurityCode) > 4 || !digits(c.SecurityCode)):
		return Refuse("10001", "creditCard.securityCode", "")
	case len(c.ExpirationMonth) > 2 || !digits(c.ExpirationMonth) || month < 1 || month > 12:
		return Refuse("10001", "creditCard.expirationMonth", c.ExpirationMonth)
	case len(c.ExpirationYear) != 4 || !digits(c.ExpirationYear):
		return Refuse("10001", "creditCard.expirationYear", c.ExpirationYear)
	}
	return nil
}

// expired reports whether the last month of a well-formed card is over, by UTC: a card is good
// through the month it names.
func (c Card) expired(now time.Time) bool {
	month, _ := strconv.Atoi(c.ExpirationMonth)
	year, _ := strconv.Atoi(c.ExpirationYear)
	return !now.Before(time.Date(year, time.Month(month)+1, 1, 0, 0, 0, 0, time.UTC))
}

// digits reports whether a text is made of at least one ASCII digit and nothing else.
func digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// luhn reports whether the check digit of a number is right (ISO/IEC 7812-1).
func luhn(number string) bool {
	sum := 0
	for i := range number {
		digit := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if digit *= 2; digit > 9 {
				digit -= 9
			}
		}
		sum += digit
	}
	return sum%10 == 0
}
