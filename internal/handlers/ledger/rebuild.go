package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// rebuildBatch is how many events a rebuild takes at once; more saves nothing.
const rebuildBatch = 1000

// Report is what a rebuild found: the books that follow from the log, beside those that stood.
type Report struct {
	UpTo   int64         `json:"upTo" doc:"The event id up to which the books were built"`
	Events int64         `json:"events" doc:"Events read"`
	Tables []TableReport `json:"tables"`
}

// TableReport is one table of a Report.
type TableReport struct {
	Table     string `json:"table"`
	Rows      int64  `json:"rows" doc:"Rows that follow from the log"`
	Missing   int64  `json:"missing" doc:"Rows that were not there"`
	Extra     int64  `json:"extra" doc:"Rows that should not have been there"`
	Differing int64  `json:"differing" doc:"Rows that were there with other content"`
}

// Equal tells whether the books stood exactly as the log says.
func (t TableReport) Equal() bool { return t.Missing == 0 && t.Extra == 0 && t.Differing == 0 }

// Equal tells whether all tables stood exactly as the log says.
func (r Report) Equal() bool {
	for _, t := range r.Tables {
		if !t.Equal() {
			return false
		}
	}
	return true
}

// Next returns at most limit events of the log behind the id after, in its order; none at its end.
type Next func(ctx context.Context, after int64, limit int) ([]ipn.Stored, error)

// book is a table of the books with its primary key, and whether triggers of a book above it keep it.
type book struct {
	table, key string
	follows    bool
}

var books = []book{
	{"movements", "event_id, line", false},
	{"unbooked", "event_id, reason", false},
	{"transactions", "reference_number, test", false},
	{"subscriptions", "subscription_id, test", false},
	{"disputes", "reference_number, reversal_reference, test", false},
	{"daily_totals", "test, day, kind, currency", false},
	{"declines", "event_id", false},
	{"daily_declines", "test, day", false},
	{"daily_sums", "test, day, payout, currency", true},
	{"monthly_totals", "test, month, kind, currency", true},
	{"daily_taxes", "test, day, country, state, currency", true},
	{"monthly_taxes", "test, month, country, state, currency", true},
	{"daily_contracts", "test, day, contract_id, currency", true},
	{"monthly_contracts", "test, month, contract_id, currency", true},
}

// RebuildAt is Rebuild in a transaction of its own on a connection of its own. What it found is mended when it returns
// without an error; with one, nothing has changed.
func RebuildAt(ctx context.Context, dsn string, upTo int64, next Next, progress func(position, target int64)) (Report, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return Report{}, fmt.Errorf("read the database URL: %w", err)
	}
	config.RuntimeParams["application_name"] = "ipn-receiver rebuild"
	config.RuntimeParams["search_path"] = "public"
	config.RuntimeParams["default_transaction_isolation"] = "read committed"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return Report{}, unavailable(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var report Report
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
		report, err = Rebuild(ctx, tx, upTo, next, progress)
		return err
	})
	return report, err
}

// Rebuild builds the books anew beside those that stand, from the log alone and by the very same Project; compares the
// two row by row, puts the new rows where the standing ones differ, and says what it found. All of it is one
// transaction: readers see the books as they were until it is committed.
//
// The books are built up to upTo, the cursor of the handler, or up to their reach where that is further, as it is while
// a replay is under way. The handler must not be led meanwhile: its Project would wait for the end of the rebuild.
// progress is told the position in the log after each batch; it may be nil.
func Rebuild(ctx context.Context, tx pgx.Tx, upTo int64, next Next, progress func(position, target int64)) (Report, error) {
	report := Report{UpTo: upTo}
	// The lock on the live reach keeps every other writer of the books out.
	err := tx.QueryRow(ctx, "select greatest(event_id, $1) from public.ledger_reach for update", upTo).Scan(&report.UpTo)
	if err != nil {
		return report, fmt.Errorf("lock the books: %w", err)
	}
	if err := aside(ctx, tx, func() (err error) {
		report.Events, err = replay(ctx, tx, report.UpTo, next, progress)
		return err
	}); err != nil {
		return report, err
	}
	for _, b := range books {
		found, err := b.compare(ctx, tx)
		if err != nil {
			return report, fmt.Errorf("compare %s: %w", b.table, err)
		}
		report.Tables = append(report.Tables, found)
	}
	if !report.Equal() {
		if err := mend(ctx, tx); err != nil {
			return report, err
		}
	}
	return report, execute(ctx, tx,
		"update public.ledger_reach l set (event_id, declines) = (greatest(l.event_id, r.event_id), greatest(l.event_id, r.event_id)) from ledger_rebuild.ledger_reach r",
		"drop schema ledger_rebuild cascade")
}

// mend puts the new rows where the standing ones differ. Sums that follow others go first, all of them: rows that should
// not be there, or sums that somebody made smaller, would be taken below nothing by the triggers. What the triggers make of
// the rest meanwhile is compared again at their turn.
func mend(ctx context.Context, tx pgx.Tx) error {
	for _, b := range books {
		if !b.follows {
			continue
		}
		if err := execute(ctx, tx, b.statement("delete from public.%[1]s")); err != nil {
			return fmt.Errorf("clear %s: %w", b.table, err)
		}
	}
	for _, b := range books {
		if err := execute(ctx, tx, b.statement(clearBook), b.statement(fillBook)); err != nil {
			return fmt.Errorf("mend %s: %w", b.table, err)
		}
	}
	return nil
}

// aside makes empty books in the schema ledger_rebuild, and lets build find them under the names of the live ones.
func aside(ctx context.Context, tx pgx.Tx, build func() error) error {
	var path string
	if err := tx.QueryRow(ctx, "select current_setting('search_path')").Scan(&path); err != nil {
		return fmt.Errorf("ask for the search path: %w", err)
	}
	made := []string{"set local statement_timeout = 0", "set local idle_in_transaction_session_timeout = 0", "create schema ledger_rebuild"}
	for _, b := range books {
		made = append(made, b.statement(makeBook))
	}
	err := execute(ctx, tx, append(made,
		"create unlogged table ledger_rebuild.ledger_reach (like public.ledger_reach including all)",
		"insert into ledger_rebuild.ledger_reach default values",
		"set local search_path = ledger_rebuild, public")...)
	if err != nil {
		return fmt.Errorf("make room for new books: %w", err)
	}
	if err := build(); err != nil {
		return err
	}
	if err := execute(ctx, tx, addUp...); err != nil {
		return fmt.Errorf("add up the new movements: %w", err)
	}
	if _, err := tx.Exec(ctx, "select set_config('search_path', $1, true)", path); err != nil {
		return fmt.Errorf("set the search path back: %w", err)
	}
	return nil
}

// replay projects the log up to target and returns how many events that were.
func replay(ctx context.Context, tx pgx.Tx, target int64, next Next, progress func(position, target int64)) (read int64, err error) {
	for position := int64(0); position < target; {
		events, err := next(ctx, position, rebuildBatch)
		if err != nil {
			return read, fmt.Errorf("read the log behind %d: %w", position, err)
		}
		for len(events) > 0 && events[len(events)-1].ID > target {
			events = events[:len(events)-1]
		}
		if len(events) == 0 {
			break
		}
		if err := Project(ctx, tx, events); err != nil {
			return read, fmt.Errorf("project the events behind %d: %w", position, err)
		}
		position = events[len(events)-1].ID
		read += int64(len(events))
		if progress != nil {
			progress(position, target)
		}
	}
	return read, nil
}

// addUp makes at once the sums of the new movements that triggers keep of the live ones.
var addUp = []string{`
	insert into ledger_rebuild.daily_sums (test, day, payout, currency, n, amount, tax, amount_usd)
	select test, day, kind = 'payout', currency, sum(n), sum(amount), sum(tax), sum(amount_usd) from ledger_rebuild.daily_totals group by 1, 2, 3, 4`, `
	insert into ledger_rebuild.monthly_totals (test, month, kind, currency, n, amount, tax, amount_usd)
	select test, date_trunc('month', day::timestamp)::date, kind, currency, sum(n), sum(amount), sum(tax), sum(amount_usd) from ledger_rebuild.daily_totals group by 1, 2, 3, 4`, `
	insert into ledger_rebuild.daily_taxes (test, day, country, state, currency, n, charged, collected, reversed, refunded, untold)
	select test, day, coalesce(country, ''), coalesce(state, ''), currency, count(*),
		coalesce(sum(amount) filter (where charge), 0), coalesce(sum(tax) filter (where charge), 0),
		-coalesce(sum(amount) filter (where not charge), 0), -coalesce(sum(tax) filter (where not charge), 0),
		count(*) filter (where tax is null and kind in ('refund', 'cancellation_refund', 'chargeback'))
	from (select *, kind in ('charge', 'recurring') as charge from ledger_rebuild.movements where kind <> 'payout') as m group by 1, 2, 3, 4, 5`, `
	insert into ledger_rebuild.monthly_taxes (test, month, country, state, currency, n, charged, collected, reversed, refunded, untold)
	select test, date_trunc('month', day::timestamp)::date, country, state, currency, sum(n), sum(charged), sum(collected), sum(reversed), sum(refunded), sum(untold)
	from ledger_rebuild.daily_taxes group by 1, 2, 3, 4, 5`, `
	insert into ledger_rebuild.daily_contracts (test, day, contract_id, currency, n, charges, charged, reversed, amount_usd)
	select test, day, coalesce(contract_id, ''), currency, count(*), count(*) filter (where charge), coalesce(sum(amount) filter (where charge), 0),
		-coalesce(sum(amount) filter (where not charge), 0), coalesce(sum(amount_usd), 0)
	from (select *, kind in ('charge', 'recurring') as charge from ledger_rebuild.movements where kind <> 'payout') as m group by 1, 2, 3, 4`, `
	insert into ledger_rebuild.monthly_contracts (test, month, contract_id, currency, n, charges, charged, reversed, amount_usd)
	select test, date_trunc('month', day::timestamp)::date, contract_id, currency, sum(n), sum(charges), sum(charged), sum(reversed), sum(amount_usd)
	from ledger_rebuild.daily_contracts group by 1, 2, 3, 4`,
}

// The statements of a comparison and of the mending, for any book: %[1]s is its table, %[2]s its key. The columns of both sides are the
// same and in one order, as one was made like the other.
const (
	makeBook    = "create unlogged table ledger_rebuild.%[1]s (like public.%[1]s including all)"
	compareBook = `
		select count(*) filter (where made.ctid is not null),
			count(*) filter (where stood.ctid is null),
			count(*) filter (where made.ctid is null),
			count(*) filter (where made.ctid is not null and stood.ctid is not null and made is distinct from stood)
		from public.%[1]s stood full join ledger_rebuild.%[1]s made using (%[2]s)`
	clearBook = `
		delete from public.%[1]s where ctid in (
			select stood.ctid from public.%[1]s stood left join ledger_rebuild.%[1]s made using (%[2]s) where made is distinct from stood)`
	fillBook = `
		insert into public.%[1]s
		select made.* from ledger_rebuild.%[1]s made left join public.%[1]s stood using (%[2]s) where stood.ctid is null`
)

// compare compares the standing table with the one made.
func (b book) compare(ctx context.Context, tx pgx.Tx) (TableReport, error) {
	found := TableReport{Table: b.table}
	if err := execute(ctx, tx, b.statement("analyze ledger_rebuild.%[1]s")); err != nil {
		return found, err
	}
	err := tx.QueryRow(ctx, b.statement(compareBook)).Scan(&found.Rows, &found.Missing, &found.Extra, &found.Differing)
	return found, err
}

// statement fills in names, which are all constants of this file.
func (b book) statement(text string) string {
	return fmt.Sprintf(text, b.table, b.key)
}

func execute(ctx context.Context, tx pgx.Tx, statements ...string) error {
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
