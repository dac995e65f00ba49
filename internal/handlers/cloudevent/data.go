package cloudevent

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// data is the payload of an envelope: the closed list of what leaves the house for everybody. The shopper's account is
// not on it, and problems are told by code alone, because the field a problem is about may carry a name of the
// merchant's own. Amounts are texts. Times are RFC 3339 in UTC.
type data struct {
	TransactionType       string     `json:"transactionType,omitempty"`
	Family                ipn.Family `json:"family"`
	ReferenceNumber       string     `json:"referenceNumber,omitempty"`
	OriginalReference     string     `json:"originalRefNum,omitempty"`
	ReversalReference     string     `json:"reversalRefNum,omitempty"`
	SubscriptionID        string     `json:"subscriptionId,omitempty"`
	ContractID            string     `json:"contractId,omitempty"`
	NewContractID         string     `json:"newContractId,omitempty"`
	MerchantTransactionID string     `json:"merchantTransactionId,omitempty"`
	VendorID              string     `json:"vendorId,omitempty"`

	Amount    ipn.Money     `json:"amount,omitzero"`
	Currency  string        `json:"currency,omitempty"`
	AmountUSD ipn.Money     `json:"amountUsd,omitzero"`
	TaxAmount ipn.Money     `json:"taxAmount,omitzero"`
	TaxUSD    ipn.Money     `json:"taxUsd,omitzero"`
	Deposits  []ipn.Deposit `json:"deposits,omitempty"`

	PaymentMethod string `json:"paymentMethod,omitempty"`
	Country       string `json:"country,omitempty"`
	Status        string `json:"status,omitempty"`
	Test          bool   `json:"test"`
	OccurredAt    string `json:"occurredAt,omitempty"`
	UntilAt       string `json:"untilAt,omitempty"`

	ReceivedAt   string      `json:"receivedAt"`
	Verification ipn.Vouched `json:"verification"`
	Problems     []string    `json:"problems,omitempty"`

	// Fields are the fields asked for that were sent, each a text, or a list of texts when the sender repeated it. It
	// is absent when none was asked for, and when the payload is no longer kept.
	Fields map[string]any `json:"fields,omitzero"`
}

func dataOf(e *ipn.Stored, o Options) json.RawMessage {
	f := &e.Facts
	encoded, _ := json.Marshal(data{ // texts, booleans and checked amounts only: nothing here can fail
		TransactionType: typeName(f.TransactionType), Family: FamilyOf(e),
		ReferenceNumber: f.ReferenceNumber, OriginalReference: f.OriginalReference, ReversalReference: f.ReversalReference,
		SubscriptionID: f.SubscriptionID, ContractID: f.ContractID, NewContractID: f.NewContractID,
		MerchantTransactionID: f.MerchantTransactionID, VendorID: f.VendorID,
		Amount: f.Amount, Currency: f.Currency, AmountUSD: f.AmountUSD, TaxAmount: f.TaxAmount, TaxUSD: f.TaxUSD,
		Deposits: f.Deposits, PaymentMethod: f.PaymentMethod, Country: f.Country, Status: f.Status, Test: f.Test,
		OccurredAt: instant(f.OccurredAt), UntilAt: instant(f.UntilAt), ReceivedAt: e.ReceivedAt.UTC().Format(time.RFC3339Nano),
		Verification: e.Vouched, Problems: codes(e.Problems), Fields: asked(e, o),
	})
	return encoded
}

// FamilyOf returns the family of an event's type, [ipn.FamilyUnknown] for a type that the receiver does not know.
func FamilyOf(e *ipn.Stored) ipn.Family {
	kind, known := ipn.LookupType(e.Facts.TransactionType)
	if !known {
		return ipn.FamilyUnknown
	}
	return kind.Family
}

// typeName returns a transaction type that is known or looks like one, "" for any other text: what stands in that field
// of a body that was put together wrongly may be anything.
func typeName(text string) string {
	if _, known := ipn.LookupType(text); known {
		return text
	}
	if len(text) > 64 || strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return ""
	}
	return text
}

func instant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// codes returns the codes of problems, each once, in the order in which they were found.
func codes(problems []ipn.Problem) []string {
	var list []string
	seen := make(map[string]bool, len(problems))
	for _, p := range problems {
		if !seen[p.Code] {
			seen[p.Code] = true
			list = append(list, p.Code)
		}
	}
	return list
}

// asked reads the fields that the target asked for from the payload, under the names it asked by; nil when there is
// nothing to read. Empty ones count as not sent.
func asked(e *ipn.Stored, o Options) map[string]any {
	if len(o.Fields) == 0 || e.Raw == nil {
		return nil
	}
	decoder := o.Decoder
	if decoder == nil {
		decoder = new(ipn.Decoder)
	}
	sent := decoder.Decode(e.Raw, e.Headers["content-type"]).Fields
	found := make(map[string]any, len(o.Fields))
	for _, name := range o.Fields {
		if Forbidden(name) {
			continue
		}
		switch values := filled(sent.All(name)); len(values) {
		case 0:
		case 1:
			found[name] = values[0]
		default:
			found[name] = values
		}
	}
	return found
}

func filled(values []string) []string {
	var kept []string
	for _, value := range values {
		if value != "" {
			kept = append(kept, value)
		}
	}
	return kept
}

// Forbidden tells whether a field leaves the house for nobody: authKey is a secret that proves the sender to the
// receiver, and who reads it can pretend to be the sender.
func Forbidden(name string) bool { return strings.EqualFold(strings.TrimSpace(name), "authKey") }
