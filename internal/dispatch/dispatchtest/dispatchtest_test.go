package dispatchtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/dispatch/dispatchtest"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner(m)) }

// welcome is a sink as docs/handlers.md shows one: it tells another system of each first charge.
type welcome struct {
	url    string
	client *http.Client
}

func (w *welcome) Send(ctx context.Context, e *ipn.Stored) error {
	body := strings.NewReader(fmt.Sprintf(`{"reference":%q}`, e.Facts.ReferenceNumber))
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, fmt.Sprintf("%s/welcomes/%d", w.url, e.ID), body)
	if err != nil {
		return dispatch.Permanent(errors.New("the address cannot be asked"))
	}
	response, err := w.client.Do(request)
	if err != nil {
		return errors.New("the target does not answer")
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusGone:
		return dispatch.Halt(errors.New("the target is gone"))
	case response.StatusCode/100 != 2:
		return fmt.Errorf("the target answers %d", response.StatusCode)
	}
	return nil
}

// newWelcome is a sink before a target that answers so.
func newWelcome(tb testing.TB, answer http.HandlerFunc) dispatch.Sink {
	target := httptest.NewServer(answer)
	tb.Cleanup(target.Close)
	return &welcome{url: target.URL, client: target.Client()}
}

func TestTheExampleOfASinkKeepsTheContract(t *testing.T) {
	t.Parallel()
	dispatchtest.Sink(t, dispatchtest.Harness{
		Working: func(tb testing.TB) dispatch.Sink {
			return newWelcome(tb, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
		},
		Failing: func(tb testing.TB) dispatch.Sink {
			return newWelcome(tb, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusTeapot)
				_, _ = io.Copy(w, r.Body)
			})
		},
		Hanging: func(tb testing.TB) dispatch.Sink {
			return newWelcome(tb, func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the caller has left
				<-r.Context().Done()
			})
		},
	})
}

// counts is a projection as docs/handlers.md shows one: how many charges there were in each currency. It keeps which
// events it has counted, so one that comes again changes nothing.
func counts(ctx context.Context, tx pgx.Tx, events []ipn.Stored) error {
	for _, e := range events {
		if _, err := tx.Exec(ctx, `
			with fresh as (insert into counted values ($1) on conflict do nothing returning event_id)
			insert into counts select $2, 1 from fresh on conflict (currency) do update set charges = counts.charges + 1`,
			e.ID, e.Facts.Currency); err != nil {
			return err
		}
	}
	return nil
}

func prepareCounts(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `create table counted (event_id bigint primary key); create table counts (currency text primary key, charges bigint not null)`)
	return err
}

func TestTheExampleOfAProjectionFoldsASet(t *testing.T) {
	t.Parallel()
	dispatchtest.Fold{Project: counts, Tables: []string{"counts", "counted"}, Prepare: prepareCounts}.Check(t)
}

func TestAProjectionOverTheReceiversOwnTablesNeedsNoPreparation(t *testing.T) {
	t.Parallel()
	dispatchtest.Projection(t, func(context.Context, pgx.Tx, []ipn.Stored) error { return nil }, "events -recorded_at", "handler_cursors -led_since -created_at -moved_at")
}

func TestSamplesHaveEveryTypeUnderOneIdentityEach(t *testing.T) {
	t.Parallel()
	seen := map[ipn.Identity]string{}
	for i, e := range dispatchtest.Samples(t) {
		if e.ID != int64(i+1) {
			t.Errorf("event %d has the id %d", i, e.ID)
		}
		if other := seen[e.Identity]; other != "" {
			t.Errorf("%s and %s are one event", e.Facts.TransactionType, other)
		}
		seen[e.Identity] = e.Facts.TransactionType
	}
	if want := len(ipn.Types()) + 1; len(seen) != want {
		t.Errorf("%d samples, want %d", len(seen), want)
	}
}

func ExampleEvent() {
	var tb testing.TB = new(testing.T) // the t of the test
	e := dispatchtest.Event(tb, "CHARGE", "referenceNumber=1001", "invoiceChargeAmount=21.00", "invoiceChargeCurrency=EUR")
	fmt.Println(e.Facts.TransactionType, e.Facts.ReferenceNumber, e.Facts.Amount, e.Facts.Currency)
	// Output: CHARGE 1001 21.00 EUR
}
