package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/shopspring/decimal"
	"golang.org/x/time/rate"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// shop is a target that events are forwarded to. It fails every fifth post, and
// remembers which events it took.
type shop struct {
	*httptest.Server
	mu    sync.Mutex
	posts int
	took  map[string]int // by webhook-id
}

func openShop(tb testing.TB) *shop {
	s := &shop{took: map[string]int{}}
	s.Server = httptest.NewServer(s)
	tb.Cleanup(s.Close)
	return s
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var event struct{ ID string }
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.posts++; s.posts%5 == 0 || json.Unmarshal(body, &event) != nil || event.ID != r.Header.Get("webhook-id") {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	s.took[event.ID]++
}

func (s *shop) has(id int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.took[strconv.FormatInt(id, 10)]
}

// openBus starts a JetStream server with a stream for everything published.
func openBus(tb testing.TB) (url string, stream jetstream.Stream) {
	tb.Helper()
	bus, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: tb.TempDir(), NoSigs: true})
	if err != nil {
		tb.Fatal(err)
	}
	bus.Start()
	tb.Cleanup(func() { bus.Shutdown(); bus.WaitForShutdown() })
	if !bus.ReadyForConnections(20 * time.Second) {
		tb.Fatal("the bus is not ready")
	}
	conn, err := nats.Connect(bus.ClientURL())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		tb.Fatal(err)
	}
	stream, err = js.CreateStream(tb.Context(), jetstream.StreamConfig{Name: "IPN", Subjects: []string{"ipn.events.>"}, Duplicates: 10 * time.Minute})
	if err != nil {
		tb.Fatal(err)
	}
	return bus.ClientURL(), stream
}

// published counts the messages of each id.
func published(tb testing.TB, stream jetstream.Stream) map[string]int {
	tb.Helper()
	info, err := stream.Info(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	seen := map[string]int{}
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq; seq++ {
		message, err := stream.GetMsg(tb.Context(), seq)
		if err != nil {
			tb.Fatal(err)
		}
		seen[message.Header.Get("ce-id")]++
	}
	return seen
}

// handling is a database with three handlers: the ledger, a shop, and a bus.
type handling struct {
	tb       testing.TB
	store    *store.Store
	recorder *store.Recorder
	dsn      string
	shop     *shop
	stream   jetstream.Stream
	env      []string

	mu   sync.Mutex
	ids  []int64
	sums map[string]decimal.Decimal
}

func openHandling(tb testing.TB) *handling {
	tb.Helper()
	h := &handling{tb: tb, dsn: pgtest.Own(tb).DSN(), shop: openShop(tb), sums: map[string]decimal.Decimal{}}
	url, stream := openBus(tb)
	h.stream = stream
	file := filepath.Join(tb.TempDir(), "targets.yaml")
	text := fmt.Sprintf(`
forward:
  - name: shop
    url: %s
    unsigned: true
    allow: [127.0.0.0/8]
    start: beginning
    retry: {first: 100ms, longest: 400ms}
publish:
  - name: bus
    nats: {servers: ["%s"], subject: ipn.events}
    start: beginning
    retry: {first: 100ms, longest: 400ms}
`, h.shop.URL, url)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	h.env = []string{"IPN_DATABASE_URL=" + h.dsn, "IPN_TARGETS_FILE=" + file}
	var err error
	if h.store, err = store.Open(tb.Context(), store.Config{DSN: h.dsn}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(h.store.Close)
	if h.recorder, err = store.NewRecorder(h.store, 0, nil); err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { h.recorder.Run(ctx) })
	tb.Cleanup(func() { stop(); working.Wait() })
	return h
}

// currencies have no, two and three decimals.
var currencies = []struct {
	code   string
	places int32
}{{"JPY", 0}, {"EUR", 2}, {"BHD", 3}}

// record keeps a charge of a random amount, and what it comes to.
func (h *handling) record(random *rand.Rand, n int) {
	h.tb.Helper()
	currency := currencies[random.IntN(len(currencies))]
	amount := decimal.New(random.Int64N(1_000_000)+1, -currency.places)
	body := []byte(fmt.Sprintf("transactionType=CHARGE&referenceNumber=%d&transactionDate=11%%2F20%%2F2026+08%%3A30+AM&invoiceChargeAmount=%s&invoiceChargeCurrency=%s",
		7_000_000+n, amount.StringFixed(currency.places), currency.code))
	event := new(ipn.Decoder).Decode(body, "")
	recorded, err := h.recorder.Record(h.tb.Context(), &ipn.Receipt{
		Event: event, Identity: ipn.Scope{}.Identify(event), Digest: ipn.DigestOf(body), Content: event.ContentDigest(),
		Vouched: ipn.VouchedSignature, Raw: body, Origin: ipn.Origin{ReceivedAt: time.Now()},
	})
	if err != nil {
		h.tb.Error(err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids = append(h.ids, recorded.EventID)
	h.sums[currency.code] = h.sums[currency.code].Add(amount)
}

// done tells whether every handler is done with every event.
func (h *handling) done() bool {
	states, err := h.store.Handlers(h.tb.Context())
	if err != nil || len(states) != 3 {
		return false
	}
	for _, s := range states {
		if s.LagEvents > 0 || s.Parked > 0 {
			return false
		}
	}
	return true
}

// check demands that every event ended done at each handler: once in the books,
// at least once at the shop, and once in the stream, which drops repeats by id.
func (h *handling) check() {
	h.tb.Helper()
	states, err := h.store.Handlers(h.tb.Context())
	if err != nil {
		h.tb.Fatal(err)
	}
	for _, s := range states {
		if s.Buried > 0 {
			h.tb.Errorf("%s buried %d", s.Name, s.Buried)
		}
	}
	inStream := published(h.tb, h.stream)
	for _, id := range h.ids {
		if h.shop.has(id) < 1 {
			h.tb.Errorf("the shop never got event %d", id)
		}
		if n := inStream[strconv.FormatInt(id, 10)]; n != 1 {
			h.tb.Errorf("event %d is %d times in the stream", id, n)
		}
	}
	h.checkBooks()
}

func (h *handling) checkBooks() {
	h.tb.Helper()
	conn, err := pgx.Connect(h.tb.Context(), h.dsn)
	if err != nil {
		h.tb.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, query := range []string{
		"select currency, count(*), sum(amount)::text from movements group by currency",
		"select currency, sum(n)::bigint, sum(amount)::text from daily_totals group by currency",
	} {
		rows, err := conn.Query(h.tb.Context(), query)
		if err != nil {
			h.tb.Fatal(err)
		}
		var total int64
		got := map[string]decimal.Decimal{}
		var currency, sum string
		var n int64
		if _, err := pgx.ForEachRow(rows, []any{&currency, &n, &sum}, func() error {
			total += n
			got[currency], err = decimal.NewFromString(sum)
			return err
		}); err != nil {
			h.tb.Fatal(err)
		}
		if total != int64(len(h.ids)) {
			h.tb.Errorf("%s: %d movements of %d events", query, total, len(h.ids))
		}
		for code, want := range h.sums {
			if !got[code].Equal(want) {
				h.tb.Errorf("%s: %s sums to %s, want %s", query, code, got[code], want)
			}
		}
	}
}

// TestNoEventIsLostOrBookedTwiceByKillsOfTheProcess is B-28: the program is
// killed a hundred times at random moments while 5,000 events come in.
func TestNoEventIsLostOrBookedTwiceByKillsOfTheProcess(t *testing.T) {
	kills, events := 100, 5000
	if raceDetector || testing.Short() {
		kills, events = 15, 1000 // the long run is that of go test ./...
	}
	h := openHandling(t)
	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	recording := make(chan struct{})
	go func() {
		defer close(recording)
		own, pace := rand.New(rand.NewPCG(2, 2)), rate.NewLimiter(170, 1) // events come in as long as kills do
		for n := range events {
			_ = pace.Wait(t.Context())
			h.record(own, n)
		}
	}()
	for range kills {
		r := launch(t, h.env...)
		pause(t, time.Duration(50+random.IntN(450))*time.Millisecond)
		if err := r.command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = r.command.Wait()
	}
	t.Logf("after %d kills %d of %d events are recorded, the handlers stand at %v", kills, h.recorded(), events, h.positions())
	<-recording
	start(t, h.env...)
	eventually(t, "every handler is done", h.done)
	h.check()
}

// pause lets the program run for a while: the moment of a kill is a length of time.
func pause(tb testing.TB, d time.Duration) {
	tb.Helper()
	select {
	case <-time.After(d):
	case <-tb.Context().Done():
	}
}

// recorded counts the events so far.
func (h *handling) recorded() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ids)
}

// positions are the cursors by handler.
func (h *handling) positions() map[string]int64 {
	h.tb.Helper()
	states, err := h.store.Handlers(h.tb.Context())
	if err != nil {
		h.tb.Fatal(err)
	}
	positions := map[string]int64{}
	for _, s := range states {
		positions[s.Name] = s.Position
	}
	return positions
}

// leaders tells which process leads each handler.
func (h *handling) leaders() map[string]string {
	h.tb.Helper()
	states, err := h.store.Handlers(h.tb.Context())
	if err != nil {
		h.tb.Fatal(err)
	}
	leaders := map[string]string{}
	for _, s := range states {
		if s.Leader != "" {
			leaders[s.Name] = s.Leader
		}
	}
	return leaders
}

// ledBy tells whether a process leads all three handlers.
func (h *handling) ledBy(r *running) bool {
	leaders := h.leaders()
	for _, leader := range leaders {
		if !strings.HasSuffix(leader, ":"+strconv.Itoa(r.command.Process.Pid)) {
			return false
		}
	}
	return len(leaders) == 3
}

// TestAFrozenLeaderIsReplacedAndCanWriteNothingWhenItThaws is B-29.
func TestAFrozenLeaderIsReplacedAndCanWriteNothingWhenItThaws(t *testing.T) {
	h := openHandling(t)
	random := rand.New(rand.NewPCG(3, 3))
	first := start(t, h.env...)
	eventually(t, "the first process leads", func() bool { return h.ledBy(first) })
	second := start(t, h.env...)
	for n := range 200 {
		h.record(random, n)
	}
	eventually(t, "the first process is done", h.done)
	if !h.ledBy(first) {
		t.Fatal("a second process took over from a living one")
	}

	if err := first.command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		h.record(random, 1000+n)
	}
	frozen := time.Now()
	eventually(t, "the second process took over", func() bool { return h.ledBy(second) })
	t.Logf("the takeover took %v", time.Since(frozen))
	eventually(t, "the second process is done", h.done)
	if err := first.command.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		h.record(random, 2000+n)
	}
	eventually(t, "everything is done after the thaw", h.done)
	if !h.ledBy(second) {
		t.Error("the thawed process took the lead back from a living one")
	}
	h.check()
}

// TestAReceiverStopsInTimeWhileTheDatabaseHangs stops a leader and a stand-by.
func TestAReceiverStopsInTimeWhileTheDatabaseHangs(t *testing.T) {
	database := pgtest.Own(t)
	env := "IPN_DATABASE_URL=" + database.DSN()
	receivers := []*running{start(t, env), start(t, env)}
	receivers[0].await("is led by this process")
	pause(t, 1500*time.Millisecond) // long enough for the stand-by to ask
	database.Pause()
	defer database.Resume()
	pause(t, time.Second)
	ended := make(chan error, len(receivers))
	for _, r := range receivers {
		if err := r.command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		go func() { ended <- r.command.Wait() }()
	}
	patience := time.After(12 * time.Second) // the drain timeout, and some
	for range receivers {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-patience:
			t.Fatal("a receiver did not stop in its drain timeout")
		}
	}
}
