package ipn

import (
	"time"

	"github.com/shopspring/decimal"
)

// TransferReturn is what a shopper's browser brought back from the bank (specification section 2.7). Nobody has signed it: it
// is a claim, which an IPN confirms or does not.
type TransferReturn struct {
	ID                    int64     `json:"id"`
	Status                string    `json:"status" enum:"SUCCESS,PENDING,FAIL"`
	OrderID               int64     `json:"orderId"`
	TransactionID         string    `json:"transactionId,omitempty" doc:"With SUCCESS only"`
	MerchantTransactionID string    `json:"merchantTransactionId,omitempty"`
	ReceivedAt            time.Time `json:"receivedAt"`
	LastReceivedAt        time.Time `json:"lastReceivedAt"`
	Receipts              int64     `json:"receipts" doc:"How often the very same came"`
}

// TransferTrouble says what is open about a bank transfer.
type TransferTrouble string

// The closed set of troubles, each a work list.
const (
	ReturnWithoutIPN TransferTrouble = "return_without_ipn" // the shopper says paid, no IPN says so
	IPNWithoutReturn TransferTrouble = "ipn_without_return" // paid, and the shopper never came back: does the shop know?
	PendingTooLong   TransferTrouble = "pending"            // pending for longer than a bank takes
)

// TransferPatience is how long a bank transfer may be pending, and an IPN and a return may wait for each other (specification
// sections 3.2 and 8: a delayed outcome comes within 15 minutes).
const TransferPatience = 15 * time.Minute

// Transfer is a bank transfer as far as it is known: the return, the event, or both.
type Transfer struct {
	Return          *TransferReturn     `json:"return,omitempty" doc:"What the shopper's browser brought: an unsigned claim"`
	EventID         int64               `json:"eventId,omitempty"`
	TransactionType string              `json:"transactionType,omitempty"`
	ReferenceNumber string              `json:"referenceNumber,omitempty"`
	Amount          decimal.NullDecimal `json:"amount"`
	Currency        string              `json:"currency,omitempty"`
	At              time.Time           `json:"at" doc:"Of the event, else of the return: what the list is ordered by"`
	Trouble         TransferTrouble     `json:"trouble,omitempty" enum:"return_without_ipn,ipn_without_return,pending" doc:"What is open; absent when nothing is"`
}

// TransferQuestion asks for a page of bank transfers, newest first.
type TransferQuestion struct {
	Trouble TransferTrouble // "": all
	Test    bool
	Methods []string          // values of paymentMethod that are bank transfers
	Since   time.Time         // nothing older is looked at
	Now     time.Time         // the clock that patience goes by
	After   *TransferPosition // continue behind this transfer
	Limit   int
}

// TransferPosition is a place in the listing of bank transfers: by time, then by event and return, all descending.
type TransferPosition struct {
	At                time.Time
	EventID, ReturnID int64 // 0 where there is none
}

// Position returns where the transfer stands in the listing.
func (t *Transfer) Position() TransferPosition {
	p := TransferPosition{At: t.At, EventID: t.EventID}
	if t.Return != nil {
		p.ReturnID = t.Return.ID
	}
	return p
}

// Sentence says what is open in words, "" when nothing is.
func (t TransferTrouble) Sentence() string {
	switch t {
	case ReturnWithoutIPN:
		return "The shopper came back with success, and no IPN says so: ask the payment service before anything is delivered."
	case IPNWithoutReturn:
		return "It is paid, and the shopper never came back: see that the order is carried out."
	case PendingTooLong:
		return "It has been pending for longer than a bank takes: ask the payment service what became of it."
	}
	return ""
}
