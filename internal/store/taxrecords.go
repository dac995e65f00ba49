package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

const taxRecordColumns = `
	select id, test, coalesce(reference_number, ''), coalesce(merchant_transaction_id, ''), coalesce(tax_reference, ''), currency,
		coalesce(country, ''), coalesce(state, ''), lines, delivery_fee::text, recorded_at
	from tax_records `

// AddTaxRecord keeps a record, with its entry in the audit. One that stands already under either number is returned if it
// says the same; else the error is ipn.ErrConflict. It fails with ipn.ErrUnavailable.
func (s *Store) AddTaxRecord(ctx context.Context, r ipn.TaxRecord, act ipn.Act) (ipn.TaxRecord, error) {
	lines, err := json.Marshal(r.Items)
	if err != nil {
		return r, err
	}
	var kept ipn.TaxRecord
	err = s.conflicting(ctx, func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, `
			insert into tax_records (test, reference_number, merchant_transaction_id, tax_reference, currency, country, state, lines, delivery_fee)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9::text::numeric) on conflict do nothing returning id`,
			r.Test, textOrNull(r.ReferenceNumber), textOrNull(r.MerchantTransactionID), textOrNull(r.TaxReference), r.Currency,
			textOrNull(r.Country), textOrNull(r.State), lines, r.DeliveryFee.String()).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			kept, err = standing(ctx, tx, r)
			return err
		}
		if err != nil {
			return err
		}
		if kept, err = readTaxRecord(ctx, tx, "where id = $1", id); err != nil {
			return err
		}
		return Witness(ctx, tx, "tax-record", "", act, map[string]any{"taxRecord": id, "lines": len(r.Items)})
	})
	return kept, err
}

// standing returns the record that stands where another was to be put, if both say the same.
func standing(ctx context.Context, tx pgx.Tx, r ipn.TaxRecord) (ipn.TaxRecord, error) {
	kept, err := readTaxRecord(ctx, tx, "where test = $1 and (reference_number = $2 or merchant_transaction_id = $3) order by id limit 1",
		r.Test, textOrNull(r.ReferenceNumber), textOrNull(r.MerchantTransactionID))
	if err != nil {
		return kept, err
	}
	told, stands := r, kept
	told.ID, told.RecordedAt, told.Refunds = 0, time.Time{}, nil
	stands.ID, stands.RecordedAt, stands.Refunds = 0, time.Time{}, nil
	one, _ := json.Marshal(told) // records of texts and decimals can always be written
	other, _ := json.Marshal(stands)
	if string(one) != string(other) {
		return kept, ipn.ErrConflict
	}
	return kept, nil
}

// TaxRecord returns the record of a transaction by its reference number or by the merchant's own id, whichever of the two it
// was told under: the events of the transaction know both. An id that several transactions bear stands for none of them.
// It fails with ipn.ErrNotFound or ipn.ErrUnavailable.
func (s *Store) TaxRecord(ctx context.Context, number string, test bool) (ipn.TaxRecord, error) {
	var record ipn.TaxRecord
	err := pgx.BeginTxFunc(ctx, s.queries, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
		record, err = readTaxRecord(ctx, tx, `where id = (select id from (
			select id, 1 as way from tax_records where reference_number = $1 and test = $2
			union all select id, 2 from tax_records where merchant_transaction_id = $1 and test = $2
			union all select t.id, 3 from events e join tax_records t on t.merchant_transaction_id = e.merchant_transaction_id and t.test = e.test
				where e.reference_number = $1 and e.test = $2 and t.reference_number is null and not exists (select from events other
					where other.merchant_transaction_id = e.merchant_transaction_id and other.test = e.test and other.reference_number <> e.reference_number)
			union all select t.id, 3 from events e join tax_records t on t.reference_number = e.reference_number and t.test = e.test
				where e.merchant_transaction_id = $1 and e.test = $2 and t.merchant_transaction_id is null and not exists (select from events other
					where other.merchant_transaction_id = e.merchant_transaction_id and other.test = e.test and other.reference_number <> e.reference_number)
			) as found order by way, id limit 1)`, number, test)
		return err
	})
	switch {
	case err == nil, errors.Is(err, ipn.ErrNotFound):
		return record, err
	default:
		return record, known(err)
	}
}

// AddTaxRefund notes what was refunded of a record, with its entry in the audit; what it comes to is worked out here, where
// nobody else refunds meanwhile. A reversal number that was noted before changes nothing, if the items are the same; else the
// error is ipn.ErrConflict. The error is an *ipn.ItemError for items that are not left, else ipn.ErrNotFound or
// ipn.ErrUnavailable.
func (s *Store) AddTaxRefund(ctx context.Context, recordID int64, asked ipn.TaxRefund, act ipn.Act) (ipn.TaxRecord, error) {
	var record ipn.TaxRecord
	err := s.conflicting(ctx, func(tx pgx.Tx) (err error) {
		if _, err = tx.Exec(ctx, "select from tax_records where id = $1 for update", recordID); err != nil {
			return err
		}
		if record, err = readTaxRecord(ctx, tx, "where id = $1", recordID); err != nil {
			return err
		}
		if at := slices.IndexFunc(record.Refunds, func(f ipn.TaxRefund) bool { return f.ReversalRefNum == asked.ReversalRefNum }); at >= 0 && asked.ReversalRefNum != "" {
			return repeats(record, at, asked.Items)
		}
		refund, err := record.Refund(asked.Items)
		if err != nil {
			return err
		}
		if len(refund.Items) == 0 {
			return &ipn.ItemError{Mend: "nothing is left to refund"}
		}
		items, err := json.Marshal(refund.Items)
		if err != nil {
			return err
		}
		if _, err = tx.Exec(ctx, `
			insert into tax_refunds (record_id, items, amount, tax, reversal_reference) values ($1, $2, $3::text::numeric, $4::text::numeric, $5)`,
			recordID, items, refund.Amount.String(), refund.TaxAmount.String(), textOrNull(asked.ReversalRefNum)); err != nil {
			return err
		}
		if record, err = readTaxRecord(ctx, tx, "where id = $1", recordID); err != nil {
			return err
		}
		return Witness(ctx, tx, "tax-refund", "", act, map[string]any{"taxRecord": recordID, "amount": refund.Amount, "taxAmount": refund.TaxAmount})
	})
	return record, err
}

// repeats tells a repeat of the refund at a place of the record from another one under the same number, which is a conflict.
func repeats(record ipn.TaxRecord, at int, asked []ipn.ItemCount) error {
	before := record
	before.Refunds = record.Refunds[:at]
	again, err := before.Refund(asked) // no items stand for all that was left then
	byCode := func(a, b ipn.ItemCount) int { return strings.Compare(a.ItemCode, b.ItemCode) }
	was := slices.SortedFunc(slices.Values(record.Refunds[at].Items), byCode)
	if err != nil || !slices.Equal(was, slices.SortedFunc(slices.Values(again.Items), byCode)) {
		return ipn.ErrConflict
	}
	return nil
}

// conflicting runs do in a transaction and lets those errors through that a caller may tell a person.
func (s *Store) conflicting(ctx context.Context, do func(pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, s.queries, do)
	var items *ipn.ItemError
	for _, plain := range []error{nil, ipn.ErrNotFound, ipn.ErrConflict, errNoReason} {
		if errors.Is(err, plain) {
			return plain
		}
	}
	if errors.As(err, &items) {
		return items
	}
	return known(err)
}

// readTaxRecord returns the one record that a condition, a constant of this file, finds, with its refunds.
func readTaxRecord(ctx context.Context, tx pgx.Tx, where string, args ...any) (ipn.TaxRecord, error) {
	var r ipn.TaxRecord
	err := tx.QueryRow(ctx, taxRecordColumns+where, args...).Scan(&r.ID, &r.Test, &r.ReferenceNumber, &r.MerchantTransactionID, &r.TaxReference,
		&r.Currency, &r.Country, &r.State, &r.Items, &r.DeliveryFee, &r.RecordedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, ipn.ErrNotFound
	}
	if err != nil {
		return r, err
	}
	r.RecordedAt = r.RecordedAt.UTC()
	rows, err := tx.Query(ctx, `
		select id, items, amount::text, tax::text, coalesce(reversal_reference, ''), refunded_at from tax_refunds where record_id = $1 order by id`, r.ID)
	if err != nil {
		return r, err
	}
	r.Refunds, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (f ipn.TaxRefund, err error) {
		var at time.Time
		err = row.Scan(&f.ID, &f.Items, &f.Amount, &f.TaxAmount, &f.ReversalRefNum, &at)
		at = at.UTC()
		f.RefundedAt = &at
		return f, err
	})
	return r, err
}
