package receiver_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/receiver"
	"github.com/ipn-receiver/ipn-receiver/internal/server"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner(m)) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// A door is a receiver as the program builds it, behind a real socket.
type door struct {
	addr     string
	receiver *receiver.Receiver
	registry *prometheus.Registry
	logs     *observer.ObservedLogs
	store    *store.Store  // nil on a double
	db       *pgxpool.Pool // to look at what was kept; nil on a double
}

// setting changes the configuration of a door.
type setting func(*receiver.Config)

// newDoor is a door on a database of its own.
func newDoor(tb testing.TB, settings ...setting) *door {
	tb.Helper()
	return newDoorOn(tb, pgtest.New(tb), settings...)
}

// newDoorOn is a door on the database at dsn, which need not be there.
func newDoorOn(tb testing.TB, dsn string, settings ...setting) *door {
	tb.Helper()
	registry := prometheus.NewRegistry()
	kept, err := store.Open(tb.Context(), store.Config{DSN: dsn, AllowVolatile: true, Registerer: registry})
	must(tb, err)
	tb.Cleanup(kept.Close)
	recorder, err := store.NewRecorder(kept, 0, registry)
	must(tb, err)
	background(tb, func(ctx context.Context) { recorder.Run(ctx) })
	db, err := pgxpool.New(tb.Context(), dsn)
	must(tb, err)
	tb.Cleanup(db.Close)
	d := open(tb, registry, struct {
		*store.Recorder
		*store.Store
	}{recorder, kept}, settings)
	d.store, d.db = kept, db
	return d
}

// record is a double for what the real store cannot be made to do.
type record struct {
	keep       func(context.Context, *ipn.Receipt) (ipn.Recorded, error)
	quarantine func(context.Context, *ipn.Quarantined) (bool, error)
}

func (r record) Record(ctx context.Context, receipt *ipn.Receipt) (ipn.Recorded, error) {
	return r.keep(ctx, receipt)
}

func (r record) Quarantine(ctx context.Context, q *ipn.Quarantined) (bool, error) {
	return r.quarantine(ctx, q)
}

// newDoorBefore is a door before a double.
func newDoorBefore(tb testing.TB, r record, settings ...setting) *door {
	tb.Helper()
	return open(tb, prometheus.NewRegistry(), r, settings)
}

func open(tb testing.TB, registry *prometheus.Registry, r receiver.Record, settings []setting) *door {
	tb.Helper()
	config := sound()
	config.Record, config.Registerer = r, registry
	for _, set := range settings {
		set(&config)
	}
	rc, err := receiver.New(config)
	must(tb, err)
	core, logs := observer.New(zapcore.DebugLevel)
	log := zap.New(core)
	listener, err := server.Listen("127.0.0.1:0", server.Limits{})
	must(tb, err)
	edge := &server.Server{
		Doors: []server.Door{{Name: "public", Listener: listener, Handler: (&server.Observer{Log: log}).Wrap(rc.Handler())}},
		Log:   log,
	}
	background(tb, func(ctx context.Context) {
		if err := edge.Run(ctx, nil); err != nil {
			tb.Errorf("the server ended: %v", err)
		}
	})
	return &door{addr: listener.Addr().String(), receiver: rc, registry: registry, logs: logs}
}

// background runs work until the test ends, and waits for its end.
func background(tb testing.TB, work func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { work(ctx) })
	tb.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

// dial opens a connection that fails after patience and is closed with the test.
func (d *door) dial(tb testing.TB) net.Conn {
	tb.Helper()
	conn, err := net.Dial("tcp", d.addr)
	must(tb, err)
	tb.Cleanup(func() { conn.Close() })
	must(tb, conn.SetDeadline(time.Now().Add(patience)))
	return conn
}

// request is the text of a request: what stands here goes over the wire.
func request(start string, headers []string, body string) string {
	lines := append([]string{start + " HTTP/1.1", "Host: door.example"}, headers...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n" + body
}

const formType = "Content-Type: application/x-www-form-urlencoded"

// post is the text of a post of a form, with more headers.
func post(body string, headers ...string) string {
	return request("POST /ipn", append([]string{formType, length(len(body))}, headers...), body)
}

func length(n int) string { return fmt.Sprintf("Content-Length: %d", n) }

// chunked is a body in chunks of at most 64 KiB.
func chunked(body string) string {
	var text strings.Builder
	for len(body) > 0 {
		n := min(len(body), 64<<10)
		fmt.Fprintf(&text, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return text.String() + "0\r\n\r\n"
}

// reply is an answer read whole.
type reply struct {
	*http.Response
	body  []byte
	asked bool // "100 Continue" came before it
}

// send sends the text over a connection of its own and reads the answer.
func (d *door) send(tb testing.TB, text string) reply {
	tb.Helper()
	conn := d.dial(tb)
	defer conn.Close()
	// A server that refuses does not read on, so who writes must not wait.
	go io.WriteString(conn, text)
	got, err := read(conn, text)
	if err != nil {
		tb.Fatalf("no answer to %.60q: %v", text, err)
	}
	return got
}

func read(conn net.Conn, text string) (reply, error) {
	method, _, _ := strings.Cut(text, " ")
	in, got := bufio.NewReader(conn), reply{}
	for {
		response, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return got, err
		}
		if response.StatusCode == http.StatusContinue {
			got.asked = true
			continue
		}
		defer response.Body.Close()
		got.Response = response
		got.body, err = io.ReadAll(response.Body)
		return got, err
	}
}

// newClient keeps its connections open until the test ends, and never tries twice by itself.
func newClient(tb testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	tb.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// try posts a form and returns the status, or why there is none. Unlike send it may be called from any goroutine.
func (d *door) try(client *http.Client, body string) (int, error) {
	response, err := client.Post("http://"+d.addr+"/ipn", "application/x-www-form-urlencoded", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// status is send for who wants nothing else.
func (d *door) status(tb testing.TB, text string) int {
	tb.Helper()
	return d.send(tb, text).StatusCode
}

// ask reads one value from the database.
func ask[T any](tb testing.TB, d *door, sql string, args ...any) (value T) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(tb, d.db.QueryRow(ctx, sql, args...).Scan(&value))
	return value
}

// metric is the present value of a counter or gauge with these labels ("outcome", "new"), 0 when there is none.
func (d *door) metric(tb testing.TB, name string, labels ...string) float64 {
	tb.Helper()
	families, err := d.registry.Gather()
	must(tb, err)
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			var have []string
			for _, pair := range m.GetLabel() {
				have = append(have, pair.GetName(), pair.GetValue())
			}
			if strings.Join(have, "\x00") == strings.Join(labels, "\x00") {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return 0
}

// eventually polls until done, or fails saying what did not happen.
func eventually(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			tb.Fatalf("did not happen within %s: %s", patience, what)
		case <-tick.C:
		}
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// charge is the body of a charge with this reference and whatever else.
func charge(reference string, more ...string) string {
	return strings.Join(append([]string{"transactionType=CHARGE&referenceNumber=" + reference +
		"&transactionDate=05%2F15%2F2026+01%3A02+PM&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR"}, more...), "&")
}

// hasCanary reports whether a text shows what only bodies may hold.
func hasCanary(text []byte) bool { return bytes.Contains(bytes.ToLower(text), []byte("canary")) }
