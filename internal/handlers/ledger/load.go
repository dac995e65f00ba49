package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// extendReach moves the reach of the books up to a batch and returns where it was, and up to where declines were
// counted. The lock on its one row is held until the transaction ends: two writers of the books would wait for each
// other here.
const extendReach = `
	update ledger_reach r set (event_id, declines) = (greatest(r.event_id, $1), greatest(r.event_id, $1))
	from (select event_id, declines from ledger_reach for update) as before returning before.event_id, before.declines`

// loadOthers reads the events of the batch's keys that are not in the batch; an event of two keys comes twice. "offset
// 0" holds the planner to one look into the index per key, whatever it believes of the table, and "not in" to a hash of
// the batch: a join would compare each event with each, since the planner takes every array for one of ten. Columns are put
// into shape only after the batch's own events, which the caller has, fell out. Amounts come as text: no digit passes
// through a float.
const loadOthers = `
	with reach as (select event_id from ledger_reach), near as (
		select e.* from unnest($1::text[], $2::boolean[]) as key (id, test), reach, lateral (
			select * from events where reference_number = key.id and test = key.test and id <= reach.event_id offset 0) as e
		union all
		select e.* from unnest($3::text[], $4::boolean[]) as key (id, test), reach, lateral (
			select * from events where subscription_id = key.id and test = key.test and id <= reach.event_id offset 0) as e
	)
	select near.id, identity, received_at, occurred_at, until_at, test,
		coalesce(transaction_type, ''), coalesce(reference_number, ''), coalesce(original_reference, ''), coalesce(reversal_reference, ''),
		coalesce(subscription_id, ''), coalesce(account_id, ''), coalesce(contract_id, ''), coalesce(new_contract_id, ''),
		coalesce(merchant_transaction_id, ''), coalesce(vendor_id, ''), coalesce(currency, ''), coalesce(payment_method, ''),
		coalesce(country, ''), coalesce(state, ''), coalesce(status, ''),
		coalesce(amount::text, ''), coalesce(amount_usd::text, ''), coalesce(tax_amount::text, ''), coalesce(tax_usd::text, ''), deposits
	from near where near.id not in (select unnest($5::bigint[]))`

// load extends the reach to the batch, adds the other events of its keys, and returns the reach before, and up to where
// declines were counted. Nothing was ever booked of an event beyond the reach.
func (t *touched) load(ctx context.Context, tx pgx.Tx) (before, counted int64, err error) {
	transactions, ofTest := split(t.transactions)
	subscriptions, ofTestToo := split(t.subscriptions)
	ids := make([]int64, 0, len(t.batch))
	for id := range t.batch {
		ids = append(ids, id)
	}
	batch := &pgx.Batch{}
	batch.Queue(extendReach, t.last).QueryRow(func(row pgx.Row) error { return row.Scan(&before, &counted) })
	batch.Queue(loadOthers, transactions, ofTest, subscriptions, ofTestToo, ids).Query(t.add)
	return before, counted, tx.SendBatch(ctx, batch).Close()
}

// split turns keys into two columns.
func split(keys map[Key]bool) (ids []string, test []bool) {
	ids, test = make([]string, 0, len(keys)), make([]bool, 0, len(keys))
	for key := range keys {
		ids, test = append(ids, key.ID), append(test, key.Test)
	}
	return ids, test
}

func (t *touched) add(rows pgx.Rows) error {
	others, err := pgx.CollectRows(rows, readEvent)
	t.events = append(t.events, others...)
	return err
}

// readEvent reads what a fold asks of an event: the facts, the identity and the time of receipt.
func readEvent(row pgx.CollectableRow) (ipn.Stored, error) {
	var e ipn.Stored
	var identity []byte
	var occurred, until *time.Time
	var amounts [4]string
	f := &e.Facts
	err := row.Scan(&e.ID, &identity, &e.ReceivedAt, &occurred, &until, &f.Test,
		&f.TransactionType, &f.ReferenceNumber, &f.OriginalReference, &f.ReversalReference,
		&f.SubscriptionID, &f.AccountID, &f.ContractID, &f.NewContractID,
		&f.MerchantTransactionID, &f.VendorID, &f.Currency, &f.PaymentMethod,
		&f.Country, &f.State, &f.Status,
		&amounts[0], &amounts[1], &amounts[2], &amounts[3], &f.Deposits)
	if err != nil {
		return e, err
	}
	copy(e.Identity[:], identity)
	e.ReceivedAt, f.OccurredAt, f.UntilAt = e.ReceivedAt.UTC(), timeOf(occurred), timeOf(until)
	for i, into := range []*ipn.Money{&f.Amount, &f.AmountUSD, &f.TaxAmount, &f.TaxUSD} {
		if *into, err = ipn.ParseMoney(amounts[i]); err != nil {
			return e, fmt.Errorf("read an amount of event %d: %w", e.ID, err)
		}
	}
	return e, nil
}

// timeOf returns a column's instant in UTC; the zero time for null.
func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

const (
	loadMovements = `
		select event_id, line, kind, test, coalesce(reference_number, ''), coalesce(subscription_id, ''), at, currency, amount::text, tax::text, amount_usd::text,
			coalesce(country, ''), coalesce(state, ''), coalesce(contract_id, '')
		from movements where event_id = any($1)`
	loadUnbooked = `select event_id, reason, test, coalesce(reference_number, '') from unbooked where event_id = any($1)`
)

// loadBooked reads what stands booked of the events that the batch decides about. Events beyond the old reach have
// nothing yet, which spares the usual batch, one of new charges, the question.
func (t *touched) loadBooked(ctx context.Context, tx pgx.Tx, before int64) (booked Books, err error) {
	var old, failed []int64
	for i := range t.events {
		e := &t.events[i]
		if e.ID > before {
			continue
		}
		if t.owns(e) {
			old = append(old, e.ID)
		}
		if _, fails := attemptOf(e); fails && t.wholeAttempt(e) {
			failed = append(failed, e.ID)
		}
	}
	if len(old)+len(failed) == 0 {
		return Books{}, nil
	}
	batch := &pgx.Batch{}
	if len(failed) > 0 {
		batch.Queue(loadDeclines, failed).Query(func(rows pgx.Rows) (err error) {
			booked.declines, err = pgx.CollectRows(rows, readDecline)
			return err
		})
	}
	batch.Queue(loadMovements, old).Query(func(rows pgx.Rows) (err error) {
		booked.Movements, err = pgx.CollectRows(rows, readMovement)
		return err
	})
	batch.Queue(loadUnbooked, old).Query(func(rows pgx.Rows) (err error) {
		booked.Unbooked, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (u ipn.Unbooked, err error) {
			err = row.Scan(&u.EventID, &u.Reason, &u.Test, &u.ReferenceNumber)
			return u, err
		})
		return err
	})
	return booked, tx.SendBatch(ctx, batch).Close()
}

func readMovement(row pgx.CollectableRow) (ipn.Movement, error) {
	var m ipn.Movement
	err := row.Scan(&m.EventID, &m.Line, &m.Kind, &m.Test, &m.ReferenceNumber, &m.SubscriptionID, &m.At, &m.Currency, &m.Amount, &m.Tax, &m.AmountUSD,
		&m.Country, &m.State, &m.ContractID)
	m.At = m.At.UTC()
	return m, err
}
