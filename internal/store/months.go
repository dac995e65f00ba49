package store

import (
	"context"
	"fmt"
	"time"
)

// monthsAhead is how many months of payloads stand ready beyond the present one. Two is enough for a receiver that is
// restarted or ticks at least every other month; a missing month falls into payloads_default and nothing is refused.
const monthsAhead = 2

// MakeMonths makes the months of payloads that are due; to be called about daily while the receiver runs.
func (s *Store) MakeMonths(ctx context.Context, now time.Time) error {
	return makeMonths(now, func(query string, month time.Time) error {
		if _, err := s.queries.Exec(ctx, query, month); err != nil {
			return unavailable(err)
		}
		return nil
	})
}

// makeMonths makes the partitions of payloads from last month (clocks differ) to monthsAhead, a transaction each.
func makeMonths(now time.Time, exec func(query string, month time.Time) error) error {
	year, month, _ := now.UTC().Date()
	for i := -1; i <= monthsAhead; i++ {
		due := time.Date(year, month+time.Month(i), 1, 0, 0, 0, 0, time.UTC)
		if err := exec("select payloads_make_month($1)", due); err != nil {
			return fmt.Errorf("make the month %s of payloads: %w", due.Format("2006-01"), err)
		}
	}
	return nil
}
