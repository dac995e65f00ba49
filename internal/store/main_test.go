package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner(m)) }

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// noon is when the receipts of these tests arrive.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 123456000, time.UTC)

// open opens a store on a throw-away database; it is closed at the end.
func open(tb testing.TB, dsn string) *store.Store {
	tb.Helper()
	return openWith(tb, store.Config{DSN: dsn, AllowVolatile: true})
}

func openWith(tb testing.TB, c store.Config) *store.Store {
	tb.Helper()
	s, err := store.Open(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// newRecorder returns a recorder that nobody runs yet.
func newRecorder(tb testing.TB, s *store.Store) *store.Recorder {
	tb.Helper()
	r, err := store.NewRecorder(s, 0, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// run lets a recorder work until stop is called, at the latest when the test ends.
func run(tb testing.TB, r *store.Recorder) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { r.Run(ctx); close(ended) }()
	stop = func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(patience):
			tb.Error("the recorder does not end")
		}
	}
	tb.Cleanup(stop)
	return stop
}

// running is a recorder at work on a store of its own.
func running(tb testing.TB, dsn string) *store.Recorder {
	tb.Helper()
	r := newRecorder(tb, open(tb, dsn))
	run(tb, r)
	return r
}

// receipt is a believed receipt of a body, decoded as the front door would.
func receipt(body string) *ipn.Receipt {
	event := new(ipn.Decoder).Decode([]byte(body), "application/x-www-form-urlencoded")
	return &ipn.Receipt{
		Event: event, Identity: ipn.Scope{Endpoint: "/ipn"}.Identify(event), Digest: ipn.DigestOf([]byte(body)), Content: event.ContentDigest(),
		Vouched: ipn.VouchedSignature, Raw: []byte(body),
		Origin: ipn.Origin{
			Headers:    map[string]string{"content-type": "application/x-www-form-urlencoded"},
			Peer:       netip.MustParseAddr("192.0.2.7"),
			ReceivedAt: noon,
		},
	}
}

// charge is a charge under its own reference number.
func charge(reference string, more ...string) *ipn.Receipt {
	body := "transactionType=CHARGE&referenceNumber=" + reference
	for _, pair := range more {
		body += "&" + pair
	}
	return receipt(body)
}

func mustRecord(tb testing.TB, r *store.Recorder, receipt *ipn.Receipt) ipn.Recorded {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	recorded, err := r.Record(ctx, receipt)
	if err != nil {
		tb.Fatalf("record %s: %v", receipt.Event.Facts.ReferenceNumber, err)
	}
	return recorded
}

// answer is what one of several parallel callers got.
type answer struct {
	ipn.Recorded
	err error
}

// recordAll records receipts in parallel and returns the answers in the order of the receipts.
func recordAll(ctx context.Context, r *store.Recorder, receipts ...*ipn.Receipt) (wait func() []answer) {
	answers := make([]answer, len(receipts))
	var callers sync.WaitGroup
	for i, receipt := range receipts {
		callers.Go(func() { answers[i].Recorded, answers[i].err = r.Record(ctx, receipt) })
	}
	return func() []answer { callers.Wait(); return answers }
}

// recordInOrder queues receipts one by one before the recorder runs, so that they are one batch, and returns the answers.
func recordInOrder(tb testing.TB, r *store.Recorder, receipts ...*ipn.Receipt) []answer {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var waits []func() []answer
	for i, receipt := range receipts {
		waits = append(waits, recordAll(ctx, r, receipt))
		eventually(tb, "the receipt is in the queue", func() bool { return r.Waiting() == i+1 })
	}
	run(tb, r)
	var answers []answer
	for _, wait := range waits {
		answers = append(answers, wait()...)
	}
	return answers
}

// connect is a connection past the store, as psql would have.
func connect(tb testing.TB, dsn string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func execute(tb testing.TB, dsn string, statements ...string) {
	tb.Helper()
	conn := connect(tb, dsn)
	for _, statement := range statements {
		if _, err := conn.Exec(tb.Context(), statement); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
	_ = conn.Close(tb.Context())
}

// ask returns the one value of a query.
func ask[T any](tb testing.TB, dsn, query string, args ...any) T {
	tb.Helper()
	conn := connect(tb, dsn)
	defer func() { _ = conn.Close(context.Background()) }()
	var found T
	if err := conn.QueryRow(tb.Context(), query, args...).Scan(&found); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return found
}

func eventually(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			tb.Fatalf("it did not happen: %s", what)
		case <-tick.C:
		}
	}
}

// wantUnavailable checks the promise that the front door's 503 stands on, and that the reason tells what it may.
func wantUnavailable(tb testing.TB, err error, reason string) {
	tb.Helper()
	if !errors.Is(err, ipn.ErrUnavailable) {
		tb.Fatalf("got %v, want ipn.ErrUnavailable", err)
	}
	if want := fmt.Sprintf("%v: %s", ipn.ErrUnavailable, reason); err.Error() != want {
		tb.Errorf("got %q, want %q", err, want)
	}
}
