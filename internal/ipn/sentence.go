package ipn

import (
	"cmp"
	"strings"
	"time"
)

// sentenceTable says for each type what its event says, in words for people who keep the books. words fills in the parts in
// braces; most of them bring the words around them along, and are empty where the event does not tell them.
var sentenceTable = map[string]string{
	"CHARGE":                  "Charged {amount}{by}{tax}.",
	"RECURRING":               "Renewed: {amount}{by}{tax}.",
	"AUTH_ONLY":               "Authorised {amount}{by}; nothing is charged yet.",
	"AUTH_ONLY_SINGLE_CHARGE": "Authorised {amount}{by}; nothing is charged yet.",
	"CHARGE_PENDING":          "A payment of {amount}{by} is pending.",
	"UNDER_REVIEW":            "A payment of {amount}{by} waits for a review by the payment service.",
	"UNDER_VENDOR_REVIEW":     "A payment of {amount}{by} waits for your own review.",
	"DECLINE":                 "A payment of {amount}{by} was declined.",
	"FRAUD_DECLINE":           "A payment of {amount}{by} was declined on suspicion of fraud.",
	"CC_CHARGE_FAILED":        "A payment of {amount}{by} failed.",
	"CANCEL":                  "A payment of {amount}{by} was cancelled.",

	"REFUND":              "Refunded {amount}{refund}{tax}.",
	"CANCELLATION_REFUND": "Refunded {amount}{refund}{tax}, and ended the subscription.",
	"PENDING_REFUND":      "A refund of {amount}{refund} was asked for and is pending.",

	"CHARGEBACK":                "A dispute{over} was opened{dispute}.",
	"CANCELLATION_CHARGEBACK":   "A dispute{over} was opened{dispute}, and ended the subscription.",
	"CHARGEBACK_STATUS_CHANGED": "The dispute{number} moved to {status}.",
	"CHARGEBACK_FILE_UPLOADED":  "A document was added to the dispute{number}.",
	"RDR":                       "A dispute{over} was settled at once in the shopper's favour{dispute}.",

	"SUBSCRIPTION_CHARGE_FAILURE": "The renewal{of} failed.",
	"SUBSCRIPTION_REMINDER":       "The shopper was reminded of the renewal{of}{on}.",
	"CANCELLATION":                "The subscription ended.",
	"CANCEL_ON_RENEWAL":           "The subscription will not be renewed{end}.",
	"CONTRACT_CHANGE":             "The subscription moved to another plan{plans}.",

	"PAYMENT_UPDATED":            "The shopper changed the means of payment.",
	"PAYMENT_UPDATED_FAILURE":    "The shopper tried to change the means of payment, and failed.",
	"ACCOUNT_UPDATER":            "The card network sent news of a stored card.",
	"ACH_NOTIFICATION_OF_CHANGE": "The bank corrected the data of a stored bank account.",
	"CC_STATUS_CHANGED":          "The state of a stored card changed.",
	"SHOPPER_DELETED":            "A stored shopper was deleted.",

	"OFFLINE_ORDER": "An order{over} was registered, to be paid{by}.",

	"PAYOUT":                  "Paid out {deposits} to the bank.",
	"FAILED_PAYOUT_TRANSFER":  "A payout of {deposits} failed.",
	"VENDOR_STATUS_CHANGED":   "The state of vendor{vendor} changed.",
	"VENDOR_REPORT_AVAILABLE": "A report on {deposits} for vendor{vendor} is ready.",

	"MERCHANT_PARTNER_ONBOARDED":   "A partner's merchant was taken on.",
	"MERCHANT_PARTNER_STATUS":      "The state of a partner's merchant changed.",
	"APPLICATION_DOCUMENT_REQUEST": "A document is wanted from a partner's merchant.",
}

// unknownSentence is said of the types that tomorrow brings.
const unknownSentence = "An event of a type this program does not know came in{type}{over}."

// Sentence returns what the event says in plain English, such as "Charged 21.00 EUR by credit card, 3.35 EUR of it tax.":
// amounts with all decimals they were sent with, days in UTC, and nothing about a person. An unknown type gets a neutral
// sentence.
func (s *Stored) Sentence() string {
	template := unknownSentence
	if row := findType(s.Facts.TransactionType); row != nil {
		template = sentenceTable[row.Name]
	}
	var b strings.Builder
	for template != "" {
		text, rest, _ := strings.Cut(template, "{")
		b.WriteString(text)
		part, rest, found := strings.Cut(rest, "}")
		if found {
			b.WriteString(words(part, &s.Facts))
		}
		template = rest
	}
	return b.String()
}

// words returns what stands for a part of a sentence.
func words(part string, f *Facts) string {
	amount := inCurrency(f.Amount, f.Currency)
	switch part {
	case "amount":
		return cmp.Or(amount, untold)
	case "of", "over":
		return behind(" "+part+" ", amount)
	case "by":
		return behind(" by ", means(f.PaymentMethod))
	case "tax":
		return taxWords(f)
	case "deposits":
		return depositWords(f.Deposits, cmp.Or(amount, untold))
	case "refund", "dispute":
		return inBrackets(part, f.ReversalReference)
	case "number":
		return behind(" ", plainWord(f.ReversalReference))
	case "status":
		return cmp.Or(plainWord(f.Status), "another state")
	case "on":
		return behind(" on ", day(f.UntilAt))
	case "end":
		return behind("; it ends on ", day(f.UntilAt))
	case "plans":
		return behind(", from ", plainWord(f.ContractID)) + behind(" to ", plainWord(f.NewContractID))
	case "vendor":
		return behind(" ", plainWord(f.VendorID))
	case "type":
		return behind(": ", plainWord(f.TransactionType))
	}
	return "{" + part + "}"
}

// untold stands where a sentence is about an amount and the event tells none that can be read.
const untold = "an amount that was not told"

// behind puts a preposition before words, if there are any.
func behind(preposition, words string) string {
	if words == "" {
		return ""
	}
	return preposition + words
}

func inBrackets(what, number string) string {
	if number = plainWord(number); number == "" {
		return ""
	}
	return " (" + what + " " + number + ")"
}

// plainWord keeps out of a sentence what is no word or number: a stranger may have written it.
func plainWord(text string) string {
	if !isPlainName(text) {
		return ""
	}
	return text
}

func day(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.DateOnly)
}

// inCurrency returns "" for an absent amount.
func inCurrency(amount Money, currency string) string {
	switch {
	case amount.IsZero():
		return ""
	case currency == "":
		return amount.String() + " of an unknown currency"
	}
	return amount.String() + " " + currency
}

// taxWords is silent where there is no tax in the amount.
func taxWords(f *Facts) string {
	if f.TaxAmount.Decimal().IsZero() {
		return ""
	}
	return ", " + inCurrency(f.TaxAmount, f.Currency) + " of it tax"
}

// depositWords lists the amounts of a payout, one per currency.
func depositWords(deposits []Deposit, otherwise string) string {
	var words []string
	for _, d := range deposits {
		if amount := inCurrency(d.Amount, d.Currency); amount != "" {
			words = append(words, amount)
		}
	}
	if len(words) == 0 {
		return otherwise
	}
	return strings.Join(words, " and ")
}

// means are the payment service's short names for what people pay with, as people say them; others stand as they were sent.
func means(method string) string {
	switch strings.ToUpper(method) {
	case "CC":
		return "credit card"
	case "PAYPAL":
		return "PayPal"
	case "WIRE":
		return "bank transfer"
	case "ACH", "ECP":
		return "ACH debit"
	case "SEPA":
		return "SEPA debit"
	}
	return plainWord(method)
}
