package finance

import (
	"encoding/json"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// EventView is an event as the API lists it: its facts, which hold no names, and nothing of its body. Exported, because what
// is embedded is only described if it is.
type EventView struct {
	ID                    int64         `json:"id"`
	Sentence              string        `json:"sentence" doc:"What the event says, in words; it names nobody" example:"Charged 21.00 EUR by credit card, 3.35 EUR of it tax."`
	TransactionType       string        `json:"transactionType" doc:"Canonical name, or as sent when unknown; empty when the body had none"`
	ReferenceNumber       string        `json:"referenceNumber,omitempty"`
	OriginalRefNum        string        `json:"originalRefNum,omitempty"`
	ReversalRefNum        string        `json:"reversalRefNum,omitempty"`
	SubscriptionID        string        `json:"subscriptionId,omitempty"`
	AccountID             string        `json:"accountId,omitempty"`
	ContractID            string        `json:"contractId,omitempty"`
	NewContractID         string        `json:"newContractId,omitempty" doc:"The plan that a CONTRACT_CHANGE moves to"`
	MerchantTransactionID string        `json:"merchantTransactionId,omitempty"`
	VendorID              string        `json:"vendorId,omitempty"`
	Amount                string        `json:"amount,omitempty" doc:"What the shopper was charged or given back, a magnitude"`
	Currency              string        `json:"currency,omitempty"`
	AmountUSD             string        `json:"amountUSD,omitempty"`
	TaxAmount             string        `json:"taxAmount,omitempty"`
	TaxAmountUSD          string        `json:"taxAmountUSD,omitempty"`
	Deposits              []depositView `json:"deposits,omitempty" doc:"The amounts of a payout or a vendor's report, one per currency"`
	PaymentMethod         string        `json:"paymentMethod,omitempty"`
	Country               string        `json:"country,omitempty"`
	State                 string        `json:"state,omitempty" doc:"Of the shopper's address, beside the country"`
	Status                string        `json:"status,omitempty"`
	Test                  bool          `json:"test"`
	OccurredAt            *time.Time    `json:"occurredAt,omitempty" doc:"The sender's date as an instant; absent when the sender gave none"`
	UntilAt               *time.Time    `json:"untilAt,omitempty" doc:"The sender's untilDate as an instant: the next renewal, or the end of what was paid"`
	ReceivedAt            time.Time     `json:"receivedAt"`
	LastReceivedAt        time.Time     `json:"lastReceivedAt"`
	Receipts              int64         `json:"receipts" doc:"Accepted posts of this event"`
	VariantCount          int64         `json:"variantCount" doc:"Receipts that told something else under the same identity"`
	Verification          string        `json:"verification" doc:"What vouched for the first receipt"`
	Identity              string        `json:"identity"`
	Digest                string        `json:"digest" doc:"SHA-256 of the raw body"`
	Problems              []problemView `json:"problems"`
}

type depositView struct {
	Index    int    `json:"index" doc:"Of the sender's field names"`
	Amount   string `json:"amount,omitempty" doc:"A magnitude; absent when it could not be read"`
	Currency string `json:"currency,omitempty"`
}

type problemView struct {
	Field    string `json:"field,omitempty"`
	Code     string `json:"code"`
	Detail   string `json:"detail,omitempty"`
	Sentence string `json:"sentence" doc:"The code in words"`
}

// BodyView is what stood in a body. Whether it is masked is told beside it. Exported, as EventView is.
type BodyView struct {
	Fields  json.RawMessage `json:"fields" doc:"Every field of the body by its name as sent, repeated names as arrays; null once the body was dropped"`
	Details json.RawMessage `json:"details" doc:"The fields as the typed event of this transaction type; null once the body was dropped"`
}

// eventDetail adds what is shown of one event alone.
type eventDetail struct {
	EventView
	Family string `json:"family"`
	Masked bool   `json:"masked" doc:"Always true: values of personal fields are masked here, and in variants; reveal them by POST /api/v1/events/{id}/reveal"`
	BodyView
	Variants []variantView  `json:"variants" doc:"What else was told under its identity, oldest first: the first 20, variantCount tells of how many"`
	Handlers []ipn.Handling `json:"handlers" doc:"What became of the event at each handler"`
}

type variantView struct {
	ID             int64           `json:"id"`
	Digest         string          `json:"digest"`
	Verification   string          `json:"verification"`
	Receipts       int64           `json:"receipts"`
	ReceivedAt     time.Time       `json:"receivedAt"`
	LastReceivedAt time.Time       `json:"lastReceivedAt"`
	Fields         json.RawMessage `json:"fields" doc:"Masked, as those of the event"`
}

func (o *Office) view(s *ipn.Stored) EventView {
	f := &s.Facts
	v := EventView{
		ID: s.ID, Sentence: s.Sentence(), TransactionType: f.TransactionType, ReferenceNumber: f.ReferenceNumber, OriginalRefNum: f.OriginalReference,
		ReversalRefNum: f.ReversalReference, SubscriptionID: f.SubscriptionID, AccountID: f.AccountID, ContractID: f.ContractID, NewContractID: f.NewContractID,
		MerchantTransactionID: f.MerchantTransactionID, VendorID: f.VendorID, Amount: f.Amount.String(), Currency: f.Currency,
		AmountUSD: f.AmountUSD.String(), TaxAmount: f.TaxAmount.String(), TaxAmountUSD: f.TaxUSD.String(), PaymentMethod: f.PaymentMethod,
		Country: f.Country, State: f.State, Status: f.Status, Test: f.Test, ReceivedAt: s.ReceivedAt, LastReceivedAt: s.LastReceivedAt, Receipts: s.Receipts,
		VariantCount: s.Variants, Verification: string(s.Vouched), Identity: s.Identity.String(), Digest: s.Digest.String(),
		Problems: make([]problemView, len(s.Problems)),
	}
	if !f.OccurredAt.IsZero() {
		v.OccurredAt = &f.OccurredAt
	}
	if !f.UntilAt.IsZero() {
		v.UntilAt = &f.UntilAt
	}
	for _, d := range f.Deposits {
		v.Deposits = append(v.Deposits, depositView{Index: d.Index, Amount: d.Amount.String(), Currency: d.Currency})
	}
	for i, p := range s.Problems {
		v.Problems[i] = problemView{Field: p.Field, Code: p.Code, Detail: p.Detail, Sentence: ipn.ProblemSentence(p.Code)}
	}
	return v
}

func (o *Office) detail(s *ipn.Stored, variants []ipn.Variant, handlings []ipn.Handling) eventDetail {
	d := eventDetail{EventView: o.view(s), Masked: true, Variants: make([]variantView, len(variants)), Handlers: append([]ipn.Handling{}, handlings...)}
	event := o.Masked(s.Raw, s.Headers)
	if d.BodyView = viewBody(event); event != nil {
		d.Family = string(event.Family())
	}
	for i, v := range variants {
		d.Variants[i] = variantView{
			ID: v.ID, Digest: v.Digest.String(), Verification: string(v.Vouched), Receipts: v.Receipts,
			ReceivedAt: v.ReceivedAt, LastReceivedAt: v.LastReceivedAt, Fields: viewFields(o.Masked(v.Raw, v.Headers)),
		}
	}
	return d
}

// decode reads a body anew; nil once it was dropped.
func (o *Office) decode(raw []byte, headers map[string]string) *ipn.Event {
	if raw == nil {
		return nil
	}
	return o.Decoder.Decode(raw, headers["content-type"])
}

// Masked reads a body anew and masks the values of personal fields; nil once the body was dropped. Whatever shows a body
// goes through here, or through Reveal.
func (o *Office) Masked(raw []byte, headers map[string]string) *ipn.Event {
	event := o.decode(raw, headers)
	if event == nil {
		return nil
	}
	return event.Masked()
}

// viewBody shows what stands in an event, which is masked or not.
func viewBody(event *ipn.Event) BodyView {
	body := BodyView{Fields: viewFields(event), Details: json.RawMessage("null")}
	if event == nil {
		return body
	}
	if details, err := json.Marshal(event.Details()); err == nil {
		body.Details = details
	}
	return body
}

func viewFields(event *ipn.Event) json.RawMessage {
	if event == nil {
		return json.RawMessage("null")
	}
	return event.Fields.AppendFullJSON(nil)
}
