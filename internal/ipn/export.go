package ipn

import (
	"math"
	"time"
)

// EventRow is an event as an export reads it: what the record keeps in clear columns, nothing of the payload. An export
// reads a hundred thousand of them a second, so nothing is copied: every slice belongs to whoever reads, and holds until
// the next row only. Texts are valid UTF-8 and empty where the sender told nothing; amounts are plain decimals, magnitudes.
type EventRow struct {
	ID       int64
	Receipts int64
	Problems int64 // how many things about it are odd
	Test     bool

	OccurredAt, UntilAt        time.Time // zero where the sender gave none
	ReceivedAt, LastReceivedAt time.Time

	TransactionType, ReferenceNumber, OriginalReference, ReversalReference []byte
	SubscriptionID, AccountID, ContractID, NewContractID                   []byte
	MerchantTransactionID, VendorID                                        []byte
	Currency, PaymentMethod, Country, State, Status, Verification          []byte
	Amount, AmountUSD, TaxAmount, TaxUSD                                   []byte
	Deposits                                                               []byte // JSON of []Deposit; empty where there are none
	Identity, Digest                                                       []byte // 32 bytes
}

// MovementRow is a movement as an export reads it, with the same rules as an EventRow. Amounts are signed.
type MovementRow struct {
	EventID int64
	Line    int
	Test    bool
	At      time.Time

	Kind, ReferenceNumber, SubscriptionID, ContractID, Country, State, Currency []byte
	Amount, Tax, AmountUSD                                                      []byte // Tax and AmountUSD: empty where the sender did not tell
}

// MovementFilter says which movements an export is of.
type MovementFilter struct {
	Span
	Kind     MovementKind // "": any
	Currency string       // "": any
}

// ExportMark is a place in an export: behind one row of it. The zero mark is in front of all.
type ExportMark struct {
	EventID int64
	Line    int // of a movement; WholeEvent behind all of the event's, and for events themselves
}

// WholeEvent is the Line of a mark behind everything that came of an event.
const WholeEvent = math.MaxInt16

// Extent is how much an export is going to tell: exactly so many rows, of events from First to Last; zeros for none.
type Extent struct{ Rows, First, Last int64 }
