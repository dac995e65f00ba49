package ipn

import (
	"encoding/json"
	"strings"
	"time"
)

// Event is what an IPN means. [Decoder.Decode] makes it; it is read-only afterwards and safe for use by several
// goroutines.
type Event struct {
	Type     Type
	Fields   Fields
	Facts    Facts
	Problems []Problem

	index nameIndex
	zone  *time.Location
}

// Facts are the few things the record keeps in clear columns for years: money and references, no names and no card.
// Texts are trimmed, valid UTF-8 without NUL, and at most 255 bytes long; what had to be changed for that is a
// problem. A fact is empty when the sender did not tell it, told it wrongly, or contradicted itself about it.
type Facts struct {
	// TransactionType is the canonical name, or the text as sent when the type is unknown.
	TransactionType string `json:"transactionType"`

	ReferenceNumber       string `json:"referenceNumber,omitempty"`       // for refunds and disputes: the original's
	OriginalReference     string `json:"originalRefNum,omitempty"`        // the subscription's first charge, or the charge acted on
	ReversalReference     string `json:"reversalRefNum,omitempty"`        // a refund's or dispute's own number
	SubscriptionID        string `json:"subscriptionId,omitempty"`        //
	AccountID             string `json:"accountId,omitempty"`             // the shopper
	ContractID            string `json:"contractId,omitempty"`            // the plan; of a CONTRACT_CHANGE the old one
	MerchantTransactionID string `json:"merchantTransactionId,omitempty"` // the merchant's own id
	VendorID              string `json:"vendorId,omitempty"`

	// Amount is a magnitude in Currency; the direction is the type's Sign.
	Amount   Money  `json:"amount,omitzero"`
	Currency string `json:"currency,omitempty"` // ISO 4217, upper case
	// AmountUSD, TaxAmount and TaxUSD are magnitudes that belong to Amount: empty for a partial reversal, where the
	// sender tells those of the whole invoice.
	AmountUSD Money `json:"amountUsd,omitzero"`
	TaxAmount Money `json:"taxAmount,omitzero"`
	TaxUSD    Money `json:"taxUsd,omitzero"`

	PaymentMethod string `json:"paymentMethod,omitempty"`
	Country       string `json:"country,omitempty"`
	State         string `json:"state,omitempty"`  // of the same address as Country
	Status        string `json:"status,omitempty"` // a dispute's cbStatus in upper case, a plan change's resultCode
	Test          bool   `json:"test"`
	// OccurredAt is the sender's minute as an instant in UTC; zero when unknown.
	OccurredAt time.Time `json:"occurredAt,omitzero"`

	NewContractID string    `json:"newContractId,omitempty"` // the plan a CONTRACT_CHANGE moves to
	UntilAt       time.Time `json:"untilAt,omitzero"`        // the sender's untilDate: next renewal, or end of what was paid
	// Deposits are the amounts of a payout or a vendor's report, one per currency; of other families empty.
	Deposits []Deposit `json:"deposits,omitempty"`
}

// Family returns the family of the event's type, FamilyUnknown for an unknown type.
func (e *Event) Family() Family {
	if e.Type.Name == "" {
		return FamilyUnknown
	}
	return e.Type.Family
}

// Details returns the event's fields as the struct of its family, or *Unknown. It is built anew at each call, because
// only few readers want it; every non-empty field is either in a struct field or among the left-over ones.
func (e *Event) Details() Details {
	v := newView(e)
	if e.Type.build == nil {
		return newUnknown(v)
	}
	return e.Type.build(v)
}

// MarshalJSON writes everything the event tells: its facts, its details by family, all of its fields in order, and its
// problems.
func (e *Event) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		TransactionType string    `json:"transactionType"`
		Family          Family    `json:"family"`
		Known           bool      `json:"known"`
		Facts           *Facts    `json:"facts"`
		Details         Details   `json:"details"`
		Fields          Fields    `json:"fields"`
		Problems        []Problem `json:"problems"`
	}{
		TransactionType: e.Facts.TransactionType,
		Family:          e.Family(),
		Known:           e.Type.Known(),
		Facts:           &e.Facts,
		Details:         e.Details(),
		Fields:          append(Fields{}, e.Fields...),
		Problems:        append([]Problem{}, e.Problems...),
	})
}

// Encode writes the fields as the sender would: see [Encode]. It is not the raw body, whose spelling may differ.
func (e *Event) Encode() []byte { return Encode(e.Fields) }

// value returns the trimmed text of a standard field: of its first non-empty occurrence, or "" when the field is
// absent, empty or contradicted.
func (e *Event) value(id nameID) string {
	at := e.index.at(id)
	if at < 0 {
		return ""
	}
	return strings.TrimSpace(e.Fields[at].Value)
}
