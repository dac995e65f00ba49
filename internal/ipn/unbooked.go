package ipn

// Unbooked is an event whose money is not, or not all, in the movements: it stands here instead, in sight. At most one
// per event and reason; an event may have movements as well.
type Unbooked struct {
	EventID         int64
	Test            bool   // of a test order: a book of its own
	ReferenceNumber string // "" when the event belongs to no transaction
	Reason          UnbookedReason
}

// UnbookedReason says why money is not booked.
type UnbookedReason string

// The closed set of reasons; the schema checks the same words.
const (
	UnbookedNoAmount     UnbookedReason = "amount_missing"
	UnbookedNoCurrency   UnbookedReason = "currency_missing"
	UnbookedSameReversal UnbookedReason = "same_reversal"
	UnbookedNoOpening    UnbookedReason = "opening_unknown"
)

// unbookedTable is the one list of reasons, each with the sentence people read.
var unbookedTable = []struct {
	reason   UnbookedReason
	sentence string
}{
	{UnbookedNoAmount, "No amount could be read: it is absent, malformed or contradicted."},
	{UnbookedNoCurrency, "The amount has no currency."},
	{UnbookedSameReversal, "Another event told the same reversal and stands for it."},
	{UnbookedNoOpening, "A dispute was won whose opening is not booked; it clears itself when the opening comes."},
}

// UnbookedReasons returns every reason, in table order.
func UnbookedReasons() []UnbookedReason {
	reasons := make([]UnbookedReason, len(unbookedTable))
	for i, row := range unbookedTable {
		reasons[i] = row.reason
	}
	return reasons
}

// Sentence returns the reason in words, or "" for an unknown one.
func (r UnbookedReason) Sentence() string {
	for _, row := range unbookedTable {
		if row.reason == r {
			return row.sentence
		}
	}
	return ""
}

// UnbookedEvent is an Unbooked as it is listed, with what its event tells of itself: the ReferenceNumber is the event's
// own, also where it belongs to no transaction.
type UnbookedEvent struct {
	Unbooked
	TransactionType string
}

// UnbookedQuestion asks for a page of what is not booked: by event id and then by reason, both descending.
type UnbookedQuestion struct {
	Test   bool              // which of the two books
	Reason UnbookedReason    // "": any
	After  *UnbookedPosition // continue behind this one
	Limit  int               // entries on the page
}

// UnbookedPosition is a place in the listing of what is not booked.
type UnbookedPosition struct {
	EventID int64
	Reason  UnbookedReason
}

// Position returns where the entry stands in the listing.
func (u *Unbooked) Position() UnbookedPosition {
	return UnbookedPosition{EventID: u.EventID, Reason: u.Reason}
}
