package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// factColumns are what is told of an event without its payload; amounts as text, so that no digit passes through a float.
const factColumns = `
	e.id, e.identity, e.digest, e.verification, e.receipts, e.received_at, e.last_received_at, e.sorted_at, e.problems,
	coalesce(e.transaction_type, '') as transaction_type, coalesce(e.reference_number, '') as reference_number,
	coalesce(e.original_reference, '') as original_reference, coalesce(e.reversal_reference, '') as reversal_reference,
	coalesce(e.subscription_id, '') as subscription_id, coalesce(e.account_id, '') as account_id, coalesce(e.contract_id, '') as contract_id,
	coalesce(e.merchant_transaction_id, '') as merchant_transaction_id, coalesce(e.vendor_id, '') as vendor_id,
	coalesce(e.amount::text, '') as amount, coalesce(e.currency, '') as currency, coalesce(e.amount_usd::text, '') as amount_usd,
	coalesce(e.tax_amount::text, '') as tax_amount, coalesce(e.tax_usd::text, '') as tax_usd,
	coalesce(e.payment_method, '') as payment_method, coalesce(e.country, '') as country, coalesce(e.status, '') as status, e.test, e.occurred_at,
	coalesce(e.new_contract_id, '') as new_contract_id, e.until_at, e.deposits`

// countedColumns add the number of an event's variants; eventColumns its payload as well.
const (
	countedColumns = factColumns + `,
	(select count(*) from variants v where v.event_id = e.id) as variants`
	eventColumns = countedColumns + bodyColumns
)

// fromEvents joins the payload by its partition key, so that one month is read and not all.
const fromEvents = `
	from events e left join payloads p on p.event_id = e.id and p.received_at = e.received_at`

// Events answers a Question: at most q.Limit events, newest first. It fails with ipn.ErrUnavailable.
func (s *Store) Events(ctx context.Context, q ipn.Question) ([]ipn.Stored, error) {
	where, args := conditions(q)
	args = append(args, max(q.Limit, 1))
	columns, from := eventColumns, fromEvents
	if q.FactsOnly {
		columns, from = countedColumns, "from events e"
	}
	query := fmt.Sprintf("select %s %s %s order by e.sorted_at desc, e.id desc limit $%d", columns, from, where, len(args))
	return s.stored(ctx, query, args...)
}

// Event returns one event, or ipn.ErrNotFound.
func (s *Store) Event(ctx context.Context, id int64) (*ipn.Stored, error) {
	found, err := s.stored(ctx, "select "+eventColumns+fromEvents+" where e.id = $1", id)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, ipn.ErrNotFound
	}
	return &found[0], nil
}

// conditions turns a Question into a where clause and its parameters.
func conditions(q ipn.Question) (string, []any) {
	r := restrict(q)
	return r.where(), r.args
}

// restriction is a where clause in the making, beside its parameters.
type restriction struct {
	clauses []string
	args    []any
}

// add appends a clause, a constant of this room, in which each question mark stands for one of values.
func (r *restriction) add(clause string, values ...any) {
	for _, v := range values {
		r.args = append(r.args, v)
		clause = strings.Replace(clause, "?", fmt.Sprintf("$%d", len(r.args)), 1)
	}
	r.clauses = append(r.clauses, clause)
}

func (r *restriction) where() string {
	if len(r.clauses) == 0 {
		return ""
	}
	return "where " + strings.Join(r.clauses, " and ")
}

// restrict names the events e that a Question is about. Their column names stand here and nowhere else: no text of a caller
// becomes SQL.
func restrict(q ipn.Question) *restriction {
	r := &restriction{}
	for _, c := range []struct{ column, value string }{
		{"transaction_type", q.TransactionType},
		{"reference_number", q.ReferenceNumber},
		{"subscription_id", q.SubscriptionID},
		{"merchant_transaction_id", q.MerchantTransactionID},
		{"account_id", q.AccountID},
		{"currency", q.Currency},
	} {
		if c.value != "" {
			r.add("e."+c.column+" = ?", c.value)
		}
	}
	if !q.From.IsZero() {
		r.add("e.sorted_at >= ?", q.From)
	}
	if !q.To.IsZero() {
		r.add("e.sorted_at < ?", q.To)
	}
	if q.Test != nil {
		r.add("e.test = ?", *q.Test)
	}
	if q.Text != "" {
		r.add("e.id in ("+anyReference+")", q.Text)
	}
	if q.After != nil {
		r.add("(e.sorted_at, e.id) < (?, ?)", q.After.At, q.After.ID)
	}
	return r
}

// anyReference finds events by a number somebody has at hand, whichever of the indexed references it is.
const anyReference = `
	with wanted as (select ?::text as text)
	select id from events, wanted where reference_number = text
	union select id from events, wanted where subscription_id = text
	union select id from events, wanted where merchant_transaction_id = text
	union select id from events, wanted where account_id = text`

// eventRow is an event as the query returns it.
type eventRow struct {
	ID                                                                             int64
	Identity, Digest                                                               []byte
	Verification                                                                   string
	Receipts, Variants                                                             int64
	ReceivedAt, LastReceivedAt, SortedAt                                           time.Time
	Problems                                                                       json.RawMessage
	TransactionType, ReferenceNumber, OriginalReference, ReversalReference         string
	SubscriptionID, AccountID, ContractID, MerchantTransactionID, VendorID         string
	Amount, Currency, AmountUSD, TaxAmount, TaxUSD, PaymentMethod, Country, Status string
	Test                                                                           bool
	OccurredAt, UntilAt                                                            *time.Time
	NewContractID                                                                  string
	Deposits                                                                       []ipn.Deposit
	Raw                                                                            []byte
	Headers                                                                        map[string]string
}

func (s *Store) stored(ctx context.Context, query string, args ...any) ([]ipn.Stored, error) {
	return readEvents(ctx, s.queries, query, args...)
}

// asker is a pool or a connection.
type asker interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
}

// places tells where each column goes that a query for events may have.
func (r *eventRow) places() map[string]any {
	return map[string]any{
		"id": &r.ID, "identity": &r.Identity, "digest": &r.Digest, "verification": &r.Verification, "receipts": &r.Receipts, "variants": &r.Variants,
		"received_at": &r.ReceivedAt, "last_received_at": &r.LastReceivedAt, "sorted_at": &r.SortedAt, "problems": &r.Problems,
		"transaction_type": &r.TransactionType, "reference_number": &r.ReferenceNumber, "original_reference": &r.OriginalReference,
		"reversal_reference": &r.ReversalReference, "subscription_id": &r.SubscriptionID, "account_id": &r.AccountID, "contract_id": &r.ContractID,
		"merchant_transaction_id": &r.MerchantTransactionID, "vendor_id": &r.VendorID, "amount": &r.Amount, "currency": &r.Currency,
		"amount_usd": &r.AmountUSD, "tax_amount": &r.TaxAmount, "tax_usd": &r.TaxUSD, "payment_method": &r.PaymentMethod, "country": &r.Country,
		"status": &r.Status, "test": &r.Test, "occurred_at": &r.OccurredAt, "until_at": &r.UntilAt, "new_contract_id": &r.NewContractID,
		"deposits": &r.Deposits, "raw": &r.Raw, "headers": &r.Headers,
	}
}

// readEvents returns the events of a query for some columns of eventRow.
func readEvents(ctx context.Context, from asker, query string, args ...any) ([]ipn.Stored, error) {
	var events []ipn.Stored
	var row eventRow
	err := readRows(ctx, from, row.places(), func() error {
		event, err := row.stored()
		events, row = append(events, event), eventRow{}
		return err
	}, query, args...)
	return events, err
}

// readRows runs a query and calls each for every row, after its columns were put into their places. Handlers read the
// log through here: the places are found once, not for each of a hundred thousand rows. An error of each is returned as
// it is.
func readRows(ctx context.Context, from asker, places map[string]any, each func() error, query string, args ...any) error {
	rows, err := from.Query(ctx, query, args...)
	if err != nil {
		return known(err)
	}
	targets := make([]any, len(rows.FieldDescriptions()))
	for i, column := range rows.FieldDescriptions() {
		targets[i] = places[column.Name]
	}
	var unreadable error
	if _, err := pgx.ForEachRow(rows, targets, func() error {
		unreadable = each()
		return unreadable
	}); err != nil && unreadable == nil {
		return known(err)
	}
	return unreadable
}

func (r *eventRow) stored() (ipn.Stored, error) {
	s := ipn.Stored{
		ID: r.ID, Vouched: ipn.Vouched(r.Verification), Receipts: r.Receipts, Variants: r.Variants,
		ReceivedAt: r.ReceivedAt.UTC(), LastReceivedAt: r.LastReceivedAt.UTC(), SortedAt: r.SortedAt.UTC(), Raw: r.Raw, Headers: r.Headers,
		Facts: ipn.Facts{
			TransactionType: r.TransactionType, ReferenceNumber: r.ReferenceNumber, OriginalReference: r.OriginalReference,
			ReversalReference: r.ReversalReference, SubscriptionID: r.SubscriptionID, AccountID: r.AccountID, ContractID: r.ContractID,
			MerchantTransactionID: r.MerchantTransactionID, VendorID: r.VendorID, Currency: r.Currency, PaymentMethod: r.PaymentMethod,
			Country: r.Country, Status: r.Status, Test: r.Test, NewContractID: r.NewContractID, Deposits: r.Deposits,
		},
	}
	copy(s.Identity[:], r.Identity)
	copy(s.Digest[:], r.Digest)
	if r.OccurredAt != nil {
		s.Facts.OccurredAt = r.OccurredAt.UTC()
	}
	if r.UntilAt != nil {
		s.Facts.UntilAt = r.UntilAt.UTC()
	}
	if string(r.Problems) != "[]" { // as most events have it
		if err := json.Unmarshal(r.Problems, &s.Problems); err != nil {
			return s, fmt.Errorf("read the problems of event %d: %w", r.ID, err)
		}
	}
	for _, m := range []struct {
		text string
		into *ipn.Money
	}{{r.Amount, &s.Facts.Amount}, {r.AmountUSD, &s.Facts.AmountUSD}, {r.TaxAmount, &s.Facts.TaxAmount}, {r.TaxUSD, &s.Facts.TaxUSD}} {
		amount, err := ipn.ParseMoney(m.text)
		if err != nil {
			return s, fmt.Errorf("read an amount of event %d: %w", r.ID, err)
		}
		*m.into = amount
	}
	return s, nil
}

// Variants returns the variants of an event, oldest first; none for an event that has none or does not exist.
func (s *Store) Variants(ctx context.Context, eventID int64) ([]ipn.Variant, error) {
	rows, err := s.queries.Query(ctx, `
		select id, digest, verification, receipts, received_at, last_received_at, raw, headers
		from variants where event_id = $1 order by id`, eventID)
	if err != nil {
		return nil, known(err)
	}
	variants, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (ipn.Variant, error) {
		var v ipn.Variant
		var digest []byte
		err := r.Scan(&v.ID, &digest, (*string)(&v.Vouched), &v.Receipts, &v.ReceivedAt, &v.LastReceivedAt, &v.Raw, &v.Headers)
		copy(v.Digest[:], digest)
		v.ReceivedAt, v.LastReceivedAt = v.ReceivedAt.UTC(), v.LastReceivedAt.UTC()
		return v, err
	})
	if err != nil {
		return nil, known(err)
	}
	return variants, nil
}
