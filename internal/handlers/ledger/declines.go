package ledger

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// attempt is what may be told by several types of event: that something was not paid on a day. A renewal is known by
// its subscription, another payment by its reference number, and what tells neither by its own event.
type attempt struct {
	test         bool
	day          string // YYYY-MM-DD, in UTC
	subscription string
	reference    string
	event        int64
}

// attemptOf returns the attempt that an event tells the failure of, and false when it tells no failure.
func attemptOf(e *ipn.Stored) (attempt, bool) {
	if t, _ := ipn.LookupType(e.Facts.TransactionType); !t.Fails {
		return attempt{}, false
	}
	a := attempt{test: e.Facts.Test, day: when(e).UTC().Format(time.DateOnly)}
	switch f := &e.Facts; {
	case f.SubscriptionID != "":
		a.subscription = f.SubscriptionID
	case f.ReferenceNumber != "":
		a.reference = f.ReferenceNumber
	default:
		a.event = e.ID
	}
	return a, true
}

// decline is an event that counts as a failure of its day.
type decline struct {
	event int64
	test  bool
	day   string
}

// foldDeclines returns the events that count, of those whose attempts are known as a whole. What two types tell of one
// attempt is one failure, and a card that is refused twice a day failed twice: of an attempt's types the one that tells
// most often counts, of several such the first by name.
func foldDeclines(events []ipn.Stored, whole func(*ipn.Stored) bool) []decline {
	type telling struct {
		attempt
		by string
	}
	told := make(map[telling]int)
	for i := range events {
		if a, failed := attemptOf(&events[i]); failed && whole(&events[i]) {
			told[telling{a, events[i].Facts.TransactionType}]++
		}
	}
	best := make(map[attempt]string, len(told))
	for t, n := range told {
		most := told[telling{t.attempt, best[t.attempt]}]
		if n > most || n == most && t.by < best[t.attempt] {
			best[t.attempt] = t.by
		}
	}
	var found []decline
	for i := range events {
		e := &events[i]
		if a, failed := attemptOf(e); failed && whole(e) && best[a] == e.Facts.TransactionType {
			found = append(found, decline{event: e.ID, test: a.test, day: a.day})
		}
	}
	return found
}

// wholeAttempt tells whether all events that could tell the same failure are loaded.
func (t *touched) wholeAttempt(e *ipn.Stored) bool {
	key := Key{Test: e.Facts.Test, ID: e.Facts.ReferenceNumber}
	switch {
	case e.Facts.SubscriptionID != "":
		return t.belongs(e)
	case key.ID != "":
		return t.transactions[key]
	}
	return t.batch[e.ID]
}

// declines returns the events of the batch's keys that count as failures.
func (t *touched) declines() []decline {
	each := slices.Clone(t.events) // an event of two keys was read twice
	slices.SortFunc(each, func(a, b ipn.Stored) int { return cmp.Compare(a.ID, b.ID) })
	each = slices.CompactFunc(each, func(a, b ipn.Stored) bool { return a.ID == b.ID })
	return foldDeclines(each, t.wholeAttempt)
}

// declineKey is a row of the daily declines.
type declineKey struct {
	test bool
	day  string
}

// dailyDeclines returns by how much the daily declines grow. Days that do not change are left out.
func dailyDeclines(gone, come []decline) map[declineKey]int64 {
	days := make(map[declineKey]int64)
	for _, d := range gone {
		days[declineKey{d.test, d.day}]--
	}
	for _, d := range come {
		days[declineKey{d.test, d.day}]++
	}
	for key, n := range days {
		if n == 0 {
			delete(days, key)
		}
	}
	return days
}

const (
	loadDeclines   = "select event_id, test, day::text from declines where event_id = any($1)"
	deleteDeclines = "delete from declines where event_id = any($1)"
	insertDeclines = "insert into declines (event_id, test, day) select d.event_id, d.test, d.day::date from unnest($1::bigint[], $2::boolean[], $3::text[]) as d (event_id, test, day)"

	// writeDailyDeclines takes a row of none away, lets one that stands grow, and adds what is new; all parts see the rows
	// as they were.
	writeDailyDeclines = `
		with g as (
			select test, day::date, n from unnest($1::boolean[], $2::text[], $3::bigint[]) as g (test, day, n)
		), gone as (
			delete from daily_declines d using g where d.test = g.test and d.day = g.day and d.n + g.n = 0
		), grown as (
			update daily_declines d set n = d.n + g.n from g where d.test = g.test and d.day = g.day and d.n + g.n <> 0
		)
		insert into daily_declines (test, day, n)
		select test, day, n from g where n > 0 and not exists (select from daily_declines d where d.test = g.test and d.day = g.day)`
)

func readDecline(row pgx.CollectableRow) (decline, error) {
	var d decline
	err := row.Scan(&d.event, &d.test, &d.day)
	return d, err
}

// queueDeclines adds the statements about what failed; most batches have none.
func (c change) queueDeclines(batch *pgx.Batch) {
	event := func(d *decline) int64 { return d.event }
	if gone := c.recovered; len(gone) > 0 {
		batch.Queue(deleteDeclines, column(gone, event))
	}
	if come := c.failed; len(come) > 0 {
		batch.Queue(insertDeclines, column(come, event), column(come, func(d *decline) bool { return d.test }),
			column(come, func(d *decline) string { return d.day }))
	}
	days := dailyDeclines(c.recovered, c.failed)
	if len(days) == 0 {
		return
	}
	var test []bool
	var day []string
	var n []int64
	for key, grown := range days {
		test, day, n = append(test, key.test), append(day, key.day), append(n, grown)
	}
	batch.Queue(writeDailyDeclines, test, day, n)
}

// countDeclines writes the declines anew from the log up to an event, as foldDeclines has them. A program from before
// their table may have taken events into the books without counting; what fails is a small part of the log.
func countDeclines(ctx context.Context, tx pgx.Tx, upTo int64) error {
	if err := execute(ctx, tx, "delete from declines", "delete from daily_declines"); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		insert into declines (event_id, test, day)
		select id, test, day from (
			select id, test, day, dense_rank() over (partition by test, day, payer order by told desc, transaction_type collate "C") as place from (
				select id, test, day, payer, transaction_type, count(*) over (partition by test, day, payer, transaction_type) as told from (
					select id, test, (sorted_at at time zone 'UTC')::date as day, transaction_type,
						coalesce('s' || subscription_id, 'r' || reference_number, 'e' || id) as payer
					from events where transaction_type = any($1) and id <= $2) as failed) as counted) as placed
		where place = 1`, failingTypes(), upTo)
	if err != nil {
		return err
	}
	return execute(ctx, tx, "insert into daily_declines (test, day, n) select test, day, count(*) from declines group by test, day")
}

// failingTypes returns the types that tell of a failure.
func failingTypes() []string {
	var names []string
	for _, t := range ipn.Types() {
		if t.Fails {
			names = append(names, t.Name)
		}
	}
	return names
}
