package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// exportColumns are the columns of an ipn.EventRow, in the order in which exportRow takes them. A null text comes as
// nothing, which is what an empty one means too: the schema keeps no empty texts.
const exportColumns = `
	e.id, e.receipts, jsonb_array_length(e.problems)::bigint, e.test, e.occurred_at, e.until_at, e.received_at, e.last_received_at,
	e.transaction_type, e.reference_number, e.original_reference, e.reversal_reference, e.subscription_id, e.account_id, e.contract_id, e.new_contract_id,
	e.merchant_transaction_id, e.vendor_id, e.currency, e.payment_method, e.country, e.state, e.status, e.verification,
	e.amount, e.amount_usd, e.tax_amount, e.tax_usd, e.deposits, e.identity, e.digest`

// exportFormats asks for numbers, times and hashes in binary, which cost least on either side, and for amounts and JSON as
// text, so that no digit passes through anything.
var exportFormats = pgx.QueryResultFormats{
	1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1,
	0, 0, 0, 0, 0, 1, 1,
}

// exportWindow is how many numbers of the log one statement of an export looks at: with whatever filter, it is over in a
// fraction of the time that a statement may take.
const exportWindow = 500_000

// LastEventID returns the id of the newest event, 0 where there is none. Ids ascend in commit order: whatever has an id up to
// this one can be seen. It fails with ipn.ErrUnavailable.
func (s *Store) LastEventID(ctx context.Context) (id int64, err error) {
	if err := s.queries.QueryRow(ctx, "select coalesce(max(id), 0) from events").Scan(&id); err != nil {
		return 0, known(err)
	}
	return id, nil
}

// EventExtent counts the events that match, of those behind after and up to upTo. The order, the position and the limit of
// the question do not matter. It may take a minute, and fails with ipn.ErrUnavailable.
func (s *Store) EventExtent(ctx context.Context, q ipn.Question, after, upTo int64) (extent ipn.Extent, err error) {
	r := exported(q, after, upTo)
	err = s.patiently(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, "select count(*), coalesce(min(e.id), 0), coalesce(max(e.id), 0) from events e "+r.where(), r.args...).
			Scan(&extent.Rows, &extent.First, &extent.Last)
	})
	return extent, err
}

// ExportEvents calls each for the events that match, of those behind after and up to upTo, by ascending id, at most limit of
// them. It returns the id up to which all were told, and is to be called again from there until that is upTo. An error of
// each ends it and is returned as it is; else it fails with ipn.ErrUnavailable.
func (s *Store) ExportEvents(ctx context.Context, q ipn.Question, after, upTo int64, limit int, each func(*ipn.EventRow) error) (reached int64, err error) {
	reached = min(upTo, after+exportWindow)
	r := exported(q, after, reached)
	// Planned anew each time: a plan for any window would be one for no window.
	args := append([]any{pgx.QueryExecModeCacheDescribe, exportFormats}, append(r.args, limit)...)
	rows, err := s.queries.Query(ctx, fmt.Sprintf("select %s from events e %s order by e.id limit $%d", exportColumns, r.where(), len(r.args)+1), args...)
	if err != nil {
		return after, known(err)
	}
	defer rows.Close()
	var row ipn.EventRow
	n := 0
	for ; rows.Next(); n++ {
		exportRow(rows.RawValues(), &row)
		if err := each(&row); err != nil {
			return after, err
		}
	}
	if err := rows.Err(); err != nil {
		return after, known(err)
	}
	if n == limit {
		reached = row.ID
	}
	return reached, nil
}

// exported restricts a question to a part of the log.
func exported(q ipn.Question, after, upTo int64) *restriction {
	q.After = nil
	r := restrict(q)
	r.add("e.id > ?", after)
	r.add("e.id <= ?", upTo)
	return r
}

// exportRow takes the columns of exportColumns apart.
func exportRow(raw [][]byte, row *ipn.EventRow) {
	row.ID, row.Receipts, row.Problems, row.Test = exportInteger(raw[0]), exportInteger(raw[1]), exportInteger(raw[2]), raw[3][0] != 0
	row.OccurredAt, row.UntilAt, row.ReceivedAt, row.LastReceivedAt = exportTime(raw[4]), exportTime(raw[5]), exportTime(raw[6]), exportTime(raw[7])
	row.TransactionType, row.ReferenceNumber, row.OriginalReference, row.ReversalReference = raw[8], raw[9], raw[10], raw[11]
	row.SubscriptionID, row.AccountID, row.ContractID, row.NewContractID = raw[12], raw[13], raw[14], raw[15]
	row.MerchantTransactionID, row.VendorID, row.Currency, row.PaymentMethod = raw[16], raw[17], raw[18], raw[19]
	row.Country, row.State, row.Status, row.Verification = raw[20], raw[21], raw[22], raw[23]
	row.Amount, row.AmountUSD, row.TaxAmount, row.TaxUSD = raw[24], raw[25], raw[26], raw[27]
	row.Deposits, row.Identity, row.Digest = raw[28], raw[29], raw[30]
}

// exportInteger reads a bigint as the server sends it.
func exportInteger(raw []byte) int64 { return int64(binary.BigEndian.Uint64(raw)) }

// exportTime reads a timestamptz as the server sends it: microseconds since 2000. Null is the zero time.
func exportTime(raw []byte) time.Time {
	if raw == nil {
		return time.Time{}
	}
	const epoch = 946_684_800 * 1_000_000
	return time.UnixMicro(exportInteger(raw) + epoch).UTC()
}
