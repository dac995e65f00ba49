package delivery

import (
	"cmp"
	"crypto/sha256"
	"net/http"
	"slices"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// Total is what was sent of one type in one currency. A notice is counted once, however often and to however many URLs it
// was sent.
type Total struct {
	Currency     string `json:"currency"` // "" of notices without money
	Type         string `json:"transactionType"`
	All          Sum    `json:"all"`
	Answered     Sum    `json:"answered"`     // of those that a 200 was given for, be it thrown away by a fault
	Acknowledged Sum    `json:"acknowledged"` // of those that a 200 arrived for
}

// Sum is a number of notices and their money.
type Sum struct {
	Count  int64        `json:"count"`
	Amount money.Amount `json:"amount"` // of magnitudes
	Tax    money.Amount `json:"tax"`    // the part of Amount that is tax, as far as it is told
}

// Totals returns the sums of all that was sent since New, also of what is no longer kept, by currency and type. Notices
// that faults added are among them, each under its type. A notice that tells several sums, as a payout does, is counted
// in each currency.
func (s *Sender) Totals() []Total {
	s.mu.Lock()
	defer s.mu.Unlock()
	totals := make([]Total, 0, len(s.ledger.totals))
	for _, t := range s.ledger.totals {
		totals = append(totals, *t)
	}
	slices.SortFunc(totals, func(a, b Total) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Type, b.Type))
	})
	return totals
}

// ledger adds up what was sent. It keeps a line for each notice for ever, so that no notice is counted twice.
type ledger struct {
	lines  map[fingerprint]*line
	totals map[account]*Total
}

// account is what a Total is of.
type account struct{ currency, transactionType string }

// fingerprint is the beginning of the SHA-256 of a body: enough to tell notices apart.
type fingerprint [16]byte

// line is one notice in the ledger.
type line struct {
	transactionType        string
	sums                   []sum
	answered, acknowledged bool
}

// sum is an amount that a notice tells.
type sum struct {
	currency    string
	amount, tax money.Amount
}

func newLedger() ledger {
	return ledger{lines: map[fingerprint]*line{}, totals: map[account]*Total{}}
}

// enter counts a notice that is sent, unless it was before, and returns its line.
func (l *ledger) enter(n notice.Notice, body []byte) *line {
	digest := sha256.Sum256(body)
	key := fingerprint(digest[:])
	if known := l.lines[key]; known != nil {
		return known
	}
	entry := &line{transactionType: n.Type, sums: sums(n)}
	l.lines[key] = entry
	l.add(entry, func(t *Total) *Sum { return &t.All })
	return entry
}

// settle counts the answers of an attempt.
func (l *ledger) settle(entry *line, done []Attempt) {
	if answered(done) && !entry.answered {
		entry.answered = true
		l.add(entry, func(t *Total) *Sum { return &t.Answered })
	}
	if acknowledged(done) && !entry.acknowledged {
		entry.acknowledged = true
		l.add(entry, func(t *Total) *Sum { return &t.Acknowledged })
	}
}

// add adds a notice to one of the sums of each account that it touches.
func (l *ledger) add(entry *line, choose func(*Total) *Sum) {
	for _, s := range entry.sums {
		key := account{s.currency, entry.transactionType}
		if l.totals[key] == nil {
			l.totals[key] = &Total{Currency: s.currency, Type: entry.transactionType}
		}
		to := choose(l.totals[key])
		to.Count++
		to.Amount += s.amount
		to.Tax += s.tax
	}
}

// answered tells whether a 200 was given, whatever became of it.
func answered(done []Attempt) bool {
	return slices.ContainsFunc(done, func(a Attempt) bool { return a.Status == http.StatusOK })
}

func acknowledged(done []Attempt) bool {
	return slices.ContainsFunc(done, func(a Attempt) bool { return a.Acknowledged })
}
