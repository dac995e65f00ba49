package ledger

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// exportedMovements are those of a filter, in a part of the log. The parameters are the same for counting and reading.
const exportedMovements = `
	from movements where test = $1 and ($2::date is null or day >= $2) and ($3::date is null or day < $3)
		and ($4::text = '' or kind = $4) and ($5::text = '' or currency = $5)
		and (event_id, line) > ($6::bigint, $7::integer) and event_id <= $8`

// exportMovements reads the columns of an ipn.MovementRow, in the order in which movementRow takes them.
const exportMovements = `
	select event_id, line::bigint, test, at, kind, reference_number, subscription_id, contract_id, country, state, currency, amount, tax, amount_usd` +
	exportedMovements + ` order by event_id, line limit $9`

// movementFormats asks for numbers and times in binary, and for amounts as text, so that no digit passes through anything.
var movementFormats = pgx.QueryResultFormats{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0}

// exportWindow is how many numbers of the log one statement of an export looks at: with whatever filter, it is over in a
// fraction of the time that a statement may take.
const exportWindow = 500_000

// Reach returns the id of the newest event that is in the books, 0 where there is none.
func (r *Reader) Reach(ctx context.Context) (id int64, err error) {
	err = r.pool.QueryRow(ctx, "select event_id from ledger_reach").Scan(&id)
	return id, known(err)
}

// MovementExtent counts the movements that match, of those behind after and of events up to upTo. It may take a minute.
func (r *Reader) MovementExtent(ctx context.Context, f ipn.MovementFilter, after ipn.ExportMark, upTo int64) (extent ipn.Extent, err error) {
	err = pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local statement_timeout = '60s'"); err != nil {
			return err
		}
		return tx.QueryRow(ctx, "select count(*), coalesce(min(event_id), 0), coalesce(max(event_id), 0)"+exportedMovements, exportParameters(f, after, upTo)...).
			Scan(&extent.Rows, &extent.First, &extent.Last)
	})
	return extent, known(err)
}

// ExportMovements calls each for the movements that match, of those behind after and of events up to upTo, by event and
// line, at most limit of them. It returns up to where all were told, and is to be called again from there until that is
// behind the event upTo. An error of each ends it and is returned as it is.
func (r *Reader) ExportMovements(ctx context.Context, f ipn.MovementFilter, after ipn.ExportMark, upTo int64, limit int, each func(*ipn.MovementRow) error) (ipn.ExportMark, error) {
	reached := ipn.ExportMark{EventID: min(upTo, after.EventID+exportWindow), Line: ipn.WholeEvent}
	// Planned anew each time: a plan for any window would be one for no window.
	args := append([]any{pgx.QueryExecModeCacheDescribe, movementFormats}, exportParameters(f, after, reached.EventID)...)
	rows, err := r.pool.Query(ctx, exportMovements, append(args, limit)...)
	if err != nil {
		return after, known(err)
	}
	defer rows.Close()
	var row ipn.MovementRow
	n := 0
	for ; rows.Next(); n++ {
		movementRow(rows.RawValues(), &row)
		if err := each(&row); err != nil {
			return after, err
		}
	}
	if err := rows.Err(); err != nil {
		return after, known(err)
	}
	if n == limit {
		reached = ipn.ExportMark{EventID: row.EventID, Line: row.Line}
	}
	return reached, nil
}

func exportParameters(f ipn.MovementFilter, after ipn.ExportMark, upTo int64) []any {
	return []any{f.Test, dayOf(f.From), dayOf(f.To), string(f.Kind), f.Currency, after.EventID, after.Line, upTo}
}

// movementRow takes the columns of exportMovements apart.
func movementRow(raw [][]byte, row *ipn.MovementRow) {
	const epoch = 946_684_800 * 1_000_000 // the server counts microseconds since 2000
	integer := func(raw []byte) int64 { return int64(binary.BigEndian.Uint64(raw)) }
	row.EventID, row.Line, row.Test, row.At = integer(raw[0]), int(integer(raw[1])), raw[2][0] != 0, time.UnixMicro(integer(raw[3])+epoch).UTC()
	row.Kind, row.ReferenceNumber, row.SubscriptionID, row.ContractID = raw[4], raw[5], raw[6], raw[7]
	row.Country, row.State, row.Currency = raw[8], raw[9], raw[10]
	row.Amount, row.Tax, row.AmountUSD = raw[11], raw[12], raw[13]
}
