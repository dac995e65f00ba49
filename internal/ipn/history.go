package ipn

import (
	"errors"
	"time"
)

// ErrNotFound says that nothing stands under the id that was asked for.
var ErrNotFound = errors.New("not found")

// Question asks for a page of the event history. Empty fields do not restrict.
type Question struct {
	TransactionType       string
	ReferenceNumber       string
	SubscriptionID        string
	MerchantTransactionID string
	AccountID             string
	Currency              string
	From, To              time.Time // of the time an event is listed under: From inclusive, To exclusive
	Test                  *bool
	Text                  string    // an exact value of any of the reference columns
	After                 *Position // continue behind this event
	Limit                 int       // events on the page
	FactsOnly             bool      // leave Raw and Headers nil: nothing of the payloads is read
}

// Position is a place in the listing: newest first, by the time an event is listed under, then by id.
type Position struct {
	SortedAt time.Time
	ID       int64
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

// Position returns where the event stands in the listing.
func (s *Stored) Position() Position { return Position{SortedAt: s.SortedAt, ID: s.ID} }

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
