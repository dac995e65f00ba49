package ipn

import (
	"errors"
	"time"

	"github.com/shopspring/decimal"
)

// ErrNotFound says that nothing stands under the id that was asked for.
var ErrNotFound = errors.New("not found")

// Question asks for a page of the event history. Empty fields do not restrict; the others narrow together.
type Question struct {
	TransactionType       string
	ReferenceNumber       string
	OriginalReference     string
	SubscriptionID        string
	MerchantTransactionID string
	AccountID             string
	VendorID              string
	Currency              string
	Status                string
	AmountFrom            decimal.NullDecimal // of the magnitude, inclusive; both ends
	AmountTo              decimal.NullDecimal
	From, To              time.Time // of the time an event is listed under: From inclusive, To exclusive
	ReceivedFrom          time.Time // of the first receipt: inclusive
	ReceivedTo            time.Time // exclusive
	Test                  *bool
	Problems              *bool         // with something odd, or without
	Variants              *bool         // with receipts that told something else, or without
	Parked                *bool         // parked or buried at some handler, or at none
	Text                  string        // an exact value of any of the reference columns
	People                []PersonToken // of any of these people; see PersonKey
	Order                 ListOrder
	After                 *Position // continue behind this event
	Limit                 int       // events on the page
	FactsOnly             bool      // leave Raw and Headers nil: nothing of the payloads is read
}

// ListOrder says which time a listing goes by, newest first; the id decides between equal times.
type ListOrder string

// The closed set of orders.
const (
	ByOccurred ListOrder = ""         // the time an event is listed under: the sender's date, else that of the first receipt
	ByReceived ListOrder = "received" // the time of the first receipt
)

// Position is a place in a listing: its time, by the order of the question, and the id.
type Position struct {
	At time.Time
	ID int64
}

// Stored is an event as the record keeps it, with the payload of its first receipt.
type Stored struct {
	ID             int64
	Facts          Facts
	Problems       []Problem
	Vouched        Vouched
	Identity       Identity
	Digest         Digest
	Receipts       int64
	Variants       int64
	ReceivedAt     time.Time
	LastReceivedAt time.Time
	SortedAt       time.Time
	Raw            []byte            // nil once the payload was dropped, and where only facts were asked for
	Headers        map[string]string // of the first receipt
}

// Position returns where the event stands in a listing of that order.
func (s *Stored) Position(by ListOrder) Position {
	if by == ByReceived {
		return Position{At: s.ReceivedAt, ID: s.ID}
	}
	return Position{At: s.SortedAt, ID: s.ID}
}

// MostVariants is how many variants of an event are looked at: more of them say no more, and each may be as large as a body.
const MostVariants = 20

// Variant is a receipt of a known identity that told something else.
type Variant struct {
	ID             int64
	Digest         Digest
	Vouched        Vouched
	Receipts       int64
	ReceivedAt     time.Time
	LastReceivedAt time.Time
	Raw            []byte
	Headers        map[string]string
}
