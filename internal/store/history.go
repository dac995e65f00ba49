package store

import (
	"context"
	"encoding/json"
	"fmt"
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
	coalesce(e.payment_method, '') as payment_method, coalesce(e.country, '') as country,
	coalesce(e.state, '') as state, coalesce(e.status, '') as status, e.test, e.occurred_at,
	coalesce(e.new_contract_id, '') as new_contract_id, e.until_at, e.deposits`

// countedColumns add the number of an event's variants; eventColumns its payload as well.
const (
	countedColumns = factColumns + `,
	(select count(*) from variants v where v.event_id = e.id) as variants`
	eventColumns = countedColumns + ", p.raw, p.headers"
)

// Events answers a Question: at most q.Limit events, newest first. It fails with ipn.ErrUnavailable.
//
// The page is found first, by ids alone, so that an index may answer without the rows. It is planned anew for the values that
// are asked for: a plan that is good for a frequent one may read the whole table for a rare one.
func (s *Store) Events(ctx context.Context, q ipn.Question) ([]ipn.Stored, error) {
	var found []ipn.Stored
	var err error
	for _, page := range pages(q) {
		query := fmt.Sprintf("select %s from (%s) as page join events e on e.id = page.id order by %s desc, e.id desc", countedColumns, page.query, placeOf(q.Order))
		found, err = s.stored(ctx, query, append([]any{pgx.QueryExecModeCacheDescribe}, page.args...)...)
		if err != nil || len(found) == q.Limit {
			break
		}
	}
	if err != nil || q.FactsOnly {
		return found, err
	}
	return found, addPayloads(ctx, s.queries, pointersTo(found))
}

// payloadsOf reads payloads by their ids and times. The span of all times together lets the months outside it be passed over
// before anything is read; "offset 0" holds the planner to one look per event, whatever it believes of the table.
const payloadsOf = `
	select p.event_id, p.raw, p.headers from unnest($1::bigint[], $2::timestamptz[]) as page (id, at), lateral (
		select event_id, raw, headers from payloads where event_id = page.id and received_at = page.at and received_at between $3 and $4 offset 0) as p`

// addPayloads reads the payloads of events that have them still. It is a question of its own, with a plan that is kept: to plan
// it takes longer than to answer it, since every month is a table; and joined to the events of a backlog it was planned as a
// walk through all months.
func addPayloads(ctx context.Context, from asker, events []*ipn.Stored) error {
	if len(events) == 0 {
		return nil
	}
	first, last := events[0].ReceivedAt, events[0].ReceivedAt
	ids, times, at := make([]int64, len(events)), make([]time.Time, len(events)), make(map[int64]*ipn.Stored, len(events))
	for i, e := range events {
		ids[i], times[i], at[e.ID] = e.ID, e.ReceivedAt, e
		if e.ReceivedAt.Before(first) {
			first = e.ReceivedAt
		}
		if e.ReceivedAt.After(last) {
			last = e.ReceivedAt
		}
	}
	var row eventRow
	places := map[string]any{"event_id": &row.ID, "raw": &row.Raw, "headers": &row.Headers}
	return readRows(ctx, from, places, func() error {
		at[row.ID].Raw, at[row.ID].Headers = row.Raw, row.Headers
		row = eventRow{}
		return nil
	}, payloadsOf, ids, times, first, last)
}

func pointersTo(events []ipn.Stored) []*ipn.Stored {
	each := make([]*ipn.Stored, len(events))
	for i := range events {
		each[i] = &events[i]
	}
	return each
}

// Event returns one event, or ipn.ErrNotFound.
func (s *Store) Event(ctx context.Context, id int64) (*ipn.Stored, error) {
	// The payload is joined by its partition key too, so that one month is read and not all.
	found, err := s.stored(ctx, "select "+eventColumns+" from events e left join payloads p on p.event_id = e.id and p.received_at = e.received_at where e.id = $1", id)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, ipn.ErrNotFound
	}
	return &found[0], nil
}

// eventRow is an event as the query returns it.
type eventRow struct {
	ID                                                                                    int64
	Identity, Digest                                                                      []byte
	Verification                                                                          string
	Receipts, Variants                                                                    int64
	ReceivedAt, LastReceivedAt, SortedAt                                                  time.Time
	Problems                                                                              json.RawMessage
	TransactionType, ReferenceNumber, OriginalReference, ReversalReference                string
	SubscriptionID, AccountID, ContractID, MerchantTransactionID, VendorID                string
	Amount, Currency, AmountUSD, TaxAmount, TaxUSD, PaymentMethod, Country, State, Status string
	Test                                                                                  bool
	OccurredAt, UntilAt                                                                   *time.Time
	NewContractID                                                                         string
	Deposits                                                                              []ipn.Deposit
	Raw                                                                                   []byte
	Headers                                                                               map[string]string
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
		"state": &r.State, "status": &r.Status, "test": &r.Test, "occurred_at": &r.OccurredAt, "until_at": &r.UntilAt, "new_contract_id": &r.NewContractID,
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
			Country: r.Country, State: r.State, Status: r.Status, Test: r.Test, NewContractID: r.NewContractID, Deposits: r.Deposits,
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

// Variants returns the first ipn.MostVariants variants of an event, oldest first; none for an event that has none or does
// not exist. Each has a body, so that all of them might not fit into memory.
func (s *Store) Variants(ctx context.Context, eventID int64) ([]ipn.Variant, error) {
	rows, err := s.queries.Query(ctx, `
		select id, digest, verification, receipts, received_at, last_received_at, raw, headers
		from variants where event_id = $1 order by id limit $2`, eventID, ipn.MostVariants)
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
