package finance

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// EventView is an event as the API shows it. Exported, because what is embedded is only described if it is.
type EventView struct {
	ID                    int64           `json:"id"`
	TransactionType       string          `json:"transactionType" doc:"Canonical name, or as sent when unknown; empty when the body had none"`
	ReferenceNumber       string          `json:"referenceNumber,omitempty"`
	OriginalRefNum        string          `json:"originalRefNum,omitempty"`
	ReversalRefNum        string          `json:"reversalRefNum,omitempty"`
	SubscriptionID        string          `json:"subscriptionId,omitempty"`
	AccountID             string          `json:"accountId,omitempty"`
	ContractID            string          `json:"contractId,omitempty"`
	NewContractID         string          `json:"newContractId,omitempty" doc:"The plan that a CONTRACT_CHANGE moves to"`
	MerchantTransactionID string          `json:"merchantTransactionId,omitempty"`
	VendorID              string          `json:"vendorId,omitempty"`
	Amount                string          `json:"amount,omitempty" doc:"What the shopper was charged or given back, a magnitude"`
	Currency              string          `json:"currency,omitempty"`
	AmountUSD             string          `json:"amountUSD,omitempty"`
	TaxAmount             string          `json:"taxAmount,omitempty"`
	TaxAmountUSD          string          `json:"taxAmountUSD,omitempty"`
	Deposits              []depositView   `json:"deposits,omitempty" doc:"The amounts of a payout or a vendor's report, one per currency"`
	PaymentMethod         string          `json:"paymentMethod,omitempty"`
	Country               string          `json:"country,omitempty"`
	Status                string          `json:"status,omitempty"`
	Test                  bool            `json:"test"`
	OccurredAt            *time.Time      `json:"occurredAt,omitempty" doc:"The sender's date as an instant; absent when the sender gave none"`
	UntilAt               *time.Time      `json:"untilAt,omitempty" doc:"The sender's untilDate as an instant: the next renewal, or the end of what was paid"`
	ReceivedAt            time.Time       `json:"receivedAt"`
	LastReceivedAt        time.Time       `json:"lastReceivedAt"`
	Receipts              int64           `json:"receipts" doc:"Accepted posts of this event"`
	VariantCount          int64           `json:"variantCount" doc:"Receipts that told something else under the same identity"`
	Verification          string          `json:"verification" doc:"What vouched for the first receipt"`
	Identity              string          `json:"identity"`
	Digest                string          `json:"digest" doc:"SHA-256 of the raw body"`
	Problems              []problemView   `json:"problems"`
	Fields                json.RawMessage `json:"fields" doc:"Every field of the body by its name as sent; repeated names as arrays"`
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

// eventDetail adds what is shown of one event alone.
type eventDetail struct {
	EventView
	Family   string          `json:"family"`
	Details  json.RawMessage `json:"details" doc:"The fields as the typed event of this transaction type"`
	Variants []variantView   `json:"variants"`
	Handlers []ipn.Handling  `json:"handlers" doc:"What became of the event at each handler"`
}

type variantView struct {
	ID             int64           `json:"id"`
	Digest         string          `json:"digest"`
	Verification   string          `json:"verification"`
	Receipts       int64           `json:"receipts"`
	ReceivedAt     time.Time       `json:"receivedAt"`
	LastReceivedAt time.Time       `json:"lastReceivedAt"`
	Fields         json.RawMessage `json:"fields"`
}

func (o *Office) view(s *ipn.Stored) EventView {
	f := &s.Facts
	v := EventView{
		ID: s.ID, TransactionType: f.TransactionType, ReferenceNumber: f.ReferenceNumber, OriginalRefNum: f.OriginalReference,
		ReversalRefNum: f.ReversalReference, SubscriptionID: f.SubscriptionID, AccountID: f.AccountID, ContractID: f.ContractID, NewContractID: f.NewContractID,
		MerchantTransactionID: f.MerchantTransactionID, VendorID: f.VendorID, Amount: f.Amount.String(), Currency: f.Currency,
		AmountUSD: f.AmountUSD.String(), TaxAmount: f.TaxAmount.String(), TaxAmountUSD: f.TaxUSD.String(), PaymentMethod: f.PaymentMethod,
		Country: f.Country, Status: f.Status, Test: f.Test, ReceivedAt: s.ReceivedAt, LastReceivedAt: s.LastReceivedAt, Receipts: s.Receipts,
		VariantCount: s.Variants, Verification: string(s.Vouched), Identity: s.Identity.String(), Digest: s.Digest.String(),
		Problems: make([]problemView, len(s.Problems)), Fields: o.fields(s.Raw, s.Headers),
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
	d := eventDetail{EventView: o.view(s), Details: json.RawMessage("null"), Variants: make([]variantView, len(variants)),
		Handlers: append([]ipn.Handling{}, handlings...)}
	if s.Raw != nil {
		event := o.Decoder.Decode(s.Raw, s.Headers["content-type"])
		d.Family = string(event.Family())
		if details, err := json.Marshal(event.Details()); err == nil {
			d.Details = details
		}
	}
	for i, v := range variants {
		d.Variants[i] = variantView{
			ID: v.ID, Digest: v.Digest.String(), Verification: string(v.Vouched), Receipts: v.Receipts,
			ReceivedAt: v.ReceivedAt, LastReceivedAt: v.LastReceivedAt, Fields: o.fields(v.Raw, v.Headers),
		}
	}
	return d
}

// fields decodes a body into a JSON object; null once the body was dropped.
func (o *Office) fields(raw []byte, headers map[string]string) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return o.Decoder.Decode(raw, headers["content-type"]).Fields.AppendFullJSON(nil)
}

// canonicalType lets people write a type in any case or spelling the sender has used.
func canonicalType(name string) string {
	if t, known := ipn.LookupType(name); known {
		return t.Name
	}
	return name
}

// A cursor is the position of the last event of a page: its time in microseconds, then its id.
func encodeCursor(p ipn.Position) string {
	raw := binary.BigEndian.AppendUint64(nil, uint64(p.At.UnixMicro()))
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(raw, uint64(p.ID)))
}

func decodeCursor(text string) (ipn.Position, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != 16 {
		return ipn.Position{}, false
	}
	micros, id := int64(binary.BigEndian.Uint64(raw)), int64(binary.BigEndian.Uint64(raw[8:]))
	const year = 366 * 24 * time.Hour
	if id < 1 || micros < 0 || micros > (400*int64(year/time.Microsecond)) {
		return ipn.Position{}, false
	}
	return ipn.Position{At: time.UnixMicro(micros).UTC(), ID: id}, true
}
