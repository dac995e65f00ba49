package finance_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/export"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// export asks for an export that must be answered.
func (o *office) export(pairs ...string) *httptest.ResponseRecorder {
	o.tb.Helper()
	answer := o.do(http.MethodGet, "/api/v1/export"+query(pairs...))
	if answer.Code != http.StatusOK {
		o.tb.Fatalf("%v: got %d %s", pairs, answer.Code, answer.Body)
	}
	return answer
}

// table reads CSV as another program does: a map for each row, by the names of the first.
func table(tb testing.TB, text string) []map[string]string {
	tb.Helper()
	records, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff"))).ReadAll()
	if err != nil {
		tb.Fatalf("%v in %s", err, text)
	}
	rows := make([]map[string]string, len(records)-1)
	for i, record := range records[1:] {
		rows[i] = make(map[string]string, len(record))
		for j, cell := range record {
			rows[i][records[0][j]] = cell
		}
	}
	return rows
}

// hostile are texts that somebody sends in the hope that another program runs them (S-42, S-78).
var hostile = []string{`=cmd|' /C calc'!A0`, "+1", "-1+1", "@SUM(A1)", "\t=1", `"=1`, "＝1", "invoice\u202egpj.exe", "a,b", "a\nb", `say "hi"`, "<img onerror=alert(1)>"}

func TestAnExportTellsWhatTheListTells(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	o.record(sample)
	o.record(sample)
	o.record("transactionType=REFUND&referenceNumber=R1&reversalRefNum=V1&reversalAmount=0.90&currency=EUR&transactionDate=11/21/2026+08:30+AM")
	o.record("transactionType=PAYOUT&payoutId=1&amount[0]=500.00&currency[0]=EUR&amount[1]=7&currency[1]=USD")
	o.record("odd=1")
	listed := o.get("/api/v1/events")["items"].([]any)
	answer := o.export("format", "jsonl")
	if got := answer.Header().Get("Content-Type"); got != "application/x-ndjson" {
		t.Errorf("got %q", got)
	}
	lines := strings.SplitAfter(answer.Body.String(), "\n")
	lines = lines[:len(lines)-1]
	rows := table(t, o.export().Body.String())
	if len(lines) != 4 || len(rows) != 4 {
		t.Fatalf("got %d lines, %d rows", len(lines), len(rows))
	}
	byID := map[any]map[string]any{}
	for _, item := range listed {
		byID[item.(map[string]any)["id"]] = item.(map[string]any)
	}
	for i, line := range lines {
		told := object(t, strings.NewReader(line))
		event := byID[told["id"]]
		for name, value := range told {
			if name == "signedAmount" || name == "problemCount" {
				continue
			}
			if !reflect.DeepEqual(value, event[name]) {
				t.Errorf("line %d, %s: got %v, the list tells %v", i, name, value, event[name])
			}
			if cell := rows[i][name]; name != "deposits" && cell != plainText(value) {
				t.Errorf("row %d, %s: got %q, want %v", i, name, cell, value)
			}
		}
		for _, name := range []string{"fields", "firstName"} {
			if told[name] != nil || strings.Contains(line, "Jürgen") {
				t.Errorf("a person is told: %s", line)
			}
		}
	}
	for i, want := range []string{"21.00", "-0.90", "", ""} {
		if got := rows[i]["signedAmount"]; got != want {
			t.Errorf("row %d: the signed amount is %q, want %q", i, got, want)
		}
	}
	if got := rows[2]["deposits"]; got != "500.00 EUR; 7 USD" {
		t.Errorf("deposits: got %q", got)
	}
}

// plainText is how a value of JSON stands in a cell.
func plainText(value any) string {
	if number, ok := value.(float64); ok {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

func TestS78ANumberOfAnExportStaysANumberAndATextIsNoFormula(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newLedgerOffice(t, dsn)
	for i, text := range hostile {
		o.record("transactionType=CHARGEBACK&referenceNumber=R" + strconv.Itoa(i) + "&invoiceChargeAmount=-5.00&invoiceChargeCurrency=EUR&" +
			strings.TrimPrefix(query("merchantTransactionId", text, "contractId", text, "country", text, "state", text, "paymentMethod", text), "?"))
	}
	o.keepBooks(dsn)
	for _, of := range []string{"events", "movements"} {
		rows := table(t, o.export("of", of).Body.String())
		if len(rows) != len(hostile) {
			t.Fatalf("%s: got %d rows", of, len(rows))
		}
		for i, row := range rows {
			for name, cell := range row {
				if strings.IndexAny(cell, "=+-@\t\r\x00") == 0 && name != "signedAmount" && name != "amount" || strings.HasPrefix(cell, "＝") || strings.Contains(cell, "\u202e") {
					t.Errorf("%s, row %d, %s: %q", of, i, name, cell)
				}
			}
			if signed := row["signedAmount"] + row["amount"]; of == "events" && signed != "-5.005.00" || of == "movements" && signed != "-5.00" {
				t.Errorf("%s, row %d: the amount is %q", of, i, signed)
			}
		}
	}
}

func TestS42AnExportKeepsEveryTextButWhatTurnsItsDirection(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	for _, text := range hostile {
		o.record("transactionType=CHARGE&" + strings.TrimPrefix(query("referenceNumber", text), "?"))
	}
	rows := table(t, o.export().Body.String())
	lines := strings.Split(o.export("format", "jsonl").Body.String(), "\n")
	for i, text := range hostile {
		if got := object(t, strings.NewReader(lines[i]))["referenceNumber"]; got != strings.TrimSpace(text) {
			t.Errorf("JSON: got %q, want %q", got, text)
		}
		want := strings.ReplaceAll(strings.TrimSpace(text), "\u202e", "")
		if got := strings.TrimPrefix(rows[i]["referenceNumber"], "'"); got != want {
			t.Errorf("CSV: got %q, want %q", got, want)
		}
	}
}

func TestAnExportIsNarrowedLikeTheListAndNamesItsFile(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newLedgerOffice(t, dsn)
	for i := range 6 {
		o.record(fmt.Sprintf("transactionType=CHARGE&referenceNumber=R%d&transactionDate=11/2%d/2026+08:30+AM&invoiceChargeAmount=%d.00&invoiceChargeCurrency=%s&testMode=%s",
			i, i, i+1, []string{"EUR", "USD"}[i%2], []string{"N", "N", "Y"}[i%3]))
	}
	o.keepBooks(dsn)
	for _, tc := range []struct {
		name  string
		query []string
		want  string // reference numbers
		file  string
	}{
		{"all events", nil, "R0 R1 R2 R3 R4 R5", "events.csv"},
		{"by currency", []string{"currency", "eur"}, "R0 R2 R4", "events.csv"},
		{"by time", []string{"from", "2026-11-21", "to", "2026-11-23T12:00:00Z", "format", "csv"}, "R1 R2", "events_from_2026-11-21_to_2026-11-23.csv"},
		{"by amount and test", []string{"amountFrom", "2", "test", "false", "of", "events"}, "R1 R3 R4", "events.csv"},
		{"up to an event", []string{"upTo", "3"}, "R0 R1 R2", "events.csv"},
		{"up to what is not there yet", []string{"upTo", "99"}, "R0 R1 R2 R3 R4 R5", "events.csv"},
		{"none", []string{"q", "nothing"}, "", "events.csv"},
		{"movements of the live book", []string{"of", "movements"}, "R0 R1 R3 R4", "movements.csv"},
		{"movements of test orders", []string{"of", "movements", "test", "true"}, "R2 R5", "movements.csv"},
		{"movements by currency", []string{"of", "movements", "currency", "usd"}, "R1 R3", "movements.csv"},
		{"movements by day", []string{"of", "movements", "from", "2026-11-21", "to", "2026-11-24"}, "R1 R3", "movements_from_2026-11-21_to_2026-11-24.csv"},
		{"movements by kind", []string{"of", "movements", "kind", "refund"}, "", "movements.csv"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answer := o.export(tc.query...)
			var got []string
			for _, row := range table(t, answer.Body.String()) {
				got = append(got, row["referenceNumber"])
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("got %v, want %s", got, tc.want)
			}
			header := answer.Header()
			if rows := header.Get("Ipn-Export-Rows"); rows != strconv.Itoa(len(got)) {
				t.Errorf("%s rows are announced, %d told", rows, len(got))
			}
			if got := header.Get("Content-Disposition"); got != `attachment; filename="`+tc.file+`"` {
				t.Errorf("got %s, want %s", got, tc.file)
			}
		})
	}
	text := o.export("bom", "true").Body.String()
	if !strings.HasPrefix(text, "\ufeffid,") || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\n") {
		t.Errorf("got %.20q", text)
	}
}

func TestABadParameterOfAnExportIsNamed(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "host="+t.TempDir())
	for _, tc := range []struct{ name, value, more, location string }{
		{"of", "payloads", "", "query.of"},
		{"format", "xlsx", "", "query.format"},
		{"bom", "yes", "", "query.bom"},
		{"after", "x", "", "query.after"},
		{"after", "1:0", "", "query.after"},
		{"after", "1:x", "of=movements", "query.after"},
		{"upTo", "0", "", "query.upTo"},
		{"upTo", "all", "", "query.upTo"},
		{"limit", "10", "", "query.limit"},
		{"cursor", "x", "", "query.cursor"},
		{"order", "received", "", "query.order"},
		{"currency", "EURO", "", "query.currency"},
		{"kind", "charge", "", "query.kind"},
		{"kind", "gift", "of=movements", "query.kind"},
		{"accountId", "A1", "of=movements", "query.accountId"},
		{"from", "2026-11-01T08:30:00Z", "of=movements", "query.from"},
		{"email", "jane.doe@example.com", "", "query.email"},
	} {
		t.Run(tc.name+" "+tc.value, func(t *testing.T) {
			text := wantProblem(t, o.do(http.MethodGet, "/api/v1/export"+query(tc.name, tc.value)+"&"+tc.more), http.StatusUnprocessableEntity)
			if !strings.Contains(text, `"`+tc.location+`"`) || strings.Contains(text, "jane") {
				t.Errorf("%s is not named: %s", tc.location, text)
			}
		})
	}
}

// TestAnExportThatWasCutAnywhereIsContinuedToTheSameFile cuts at every byte, keeps the whole rows, and asks for the rest.
func TestAnExportThatWasCutAnywhereIsContinuedToTheSameFile(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newLedgerOffice(t, dsn)
	for i, text := range append(hostile, "a\r\n1,2\r\n", "{\"id\":7,\n") {
		o.record(fmt.Sprintf("transactionType=CHARGE&referenceNumber=R%d&subscriptionId=S1&transactionDate=11/2%d/2026+08:30+AM&invoiceChargeAmount=1.00&invoiceChargeCurrency=EUR&contractId=%s",
			i, i%9, query("", text)[len("?="):]))
	}
	o.record("transactionType=PAYOUT&payoutId=1&amount[0]=500.00&currency[0]=EUR&amount[1]=7&currency[1]=USD&amount[2]=9&currency[2]=JPY")
	o.keepBooks(dsn)
	for _, of := range []export.Subject{export.Events, export.Movements} {
		for _, format := range []export.Format{export.CSV, export.JSONL} {
			for _, bom := range []string{"false", "true"} {
				t.Run(fmt.Sprint(of, format, bom), func(t *testing.T) {
					asked := []string{"of", string(of), "format", string(format), "bom", bom}
					answer := o.export(asked...)
					whole, upTo := answer.Body.String(), answer.Header().Get("Ipn-Export-Up-To")
					o.record(fmt.Sprintf("transactionType=CHARGE&referenceNumber=later%d", time.Now().UnixNano())) // which is not of this export
					rows, err := strconv.Atoi(answer.Header().Get("Ipn-Export-Rows"))
					if err != nil || rows < 15 {
						t.Fatalf("%d rows: %v", rows, err)
					}
					rests := map[export.Kept]string{}
					for cut := range len(whole) + 1 {
						kept, err := export.Keep(strings.NewReader(whole[:cut]), of, format)
						if err != nil || kept.Size > int64(cut) {
							t.Fatalf("cut at %d: %+v, %v", cut, kept, err)
						}
						rest, known := rests[kept]
						if !known {
							resumed := append([]string{"upTo", upTo}, asked...)
							if kept.Rows > 0 {
								resumed = append(resumed, "after", mark(of, kept.Mark))
							}
							answer := o.export(resumed...)
							rest = answer.Body.String()
							rests[kept] = rest
							if got := answer.Header().Get("Ipn-Export-Rows"); got != strconv.FormatInt(int64(rows)-kept.Rows, 10) {
								t.Errorf("behind %d of %d rows %s are announced", kept.Rows, rows, got)
							}
						}
						if whole[:kept.Size]+rest != whole {
							t.Fatalf("cut at %d, kept %+v:\n%q\nbecame\n%q", cut, kept, whole, whole[:kept.Size]+rest)
						}
					}
					if len(rests) != rows+1 {
						t.Errorf("%d rows were continued in %d places", rows, len(rests))
					}
				})
			}
		}
	}
}

// mark writes a place as the parameter after has it.
func mark(of export.Subject, m ipn.ExportMark) string {
	if of == export.Movements {
		return fmt.Sprintf("%d:%d", m.EventID, m.Line)
	}
	return strconv.FormatInt(m.EventID, 10)
}

func TestOnlyWhoMayExportExportsAndTheAuditTells(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newOffice(t, dsn)
	o.record(sample)
	for _, role := range []access.Role{"", access.Viewer, access.Operator} {
		want := http.StatusNotFound
		if role == "" {
			want = http.StatusUnauthorized
		}
		wantProblem(t, o.as(role).do(http.MethodGet, "/api/v1/export"), want)
	}
	if entries := o.get("/api/v1/audit")["items"].([]any); len(entries) != 0 {
		t.Errorf("the audit tells of what did not happen: %v", entries)
	}
	for _, role := range []access.Role{access.Finance, access.Admin} {
		o.as(role).export("accountId", "A1", "from", "2026-11-01", "format", "jsonl")
	}
	entries := o.get("/api/v1/audit")["items"].([]any)
	if len(entries) != 2 {
		t.Fatalf("got %v", entries)
	}
	got := entries[0].(map[string]any)
	want := map[string]any{"of": "events", "format": "jsonl", "filters": []any{"accountId", "from"}, "upTo": 1.0, "rows": 1.0}
	if got["action"] != "export" || got["actor"] != "api:tester" || got["reason"] != "export of events as jsonl" || !reflect.DeepEqual(got["details"], want) {
		t.Errorf("got %v, want %v", got, want)
	}

	execute(t, dsn, "alter table audit rename to elsewhere")
	if answer := o.do(http.MethodGet, "/api/v1/export"); answer.Code != http.StatusServiceUnavailable || strings.Contains(answer.Body.String(), "R1") {
		t.Errorf("without an audit: got %d %s", answer.Code, answer.Body)
	}
}

func execute(tb testing.TB, dsn, statement string, args ...any) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), dsn)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(tb.Context(), statement, args...); err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
}

// stuck is an answer that nobody reads until it is released.
type stuck struct {
	*httptest.ResponseRecorder
	begun, released chan struct{}
}

func (s *stuck) Write(text []byte) (int, error) {
	select {
	case s.begun <- struct{}{}:
	case <-s.released:
	}
	<-s.released
	return s.ResponseRecorder.Write(text)
}

func TestAThirdExportAtATimeIsAskedToComeAgain(t *testing.T) {
	t.Parallel()
	o := newOffice(t, pgtest.New(t))
	o.record(sample)
	released, ended := make(chan struct{}), make(chan string, 2)
	for range 2 {
		answer := &stuck{httptest.NewRecorder(), make(chan struct{}), released}
		go func() {
			request := httptest.NewRequest(http.MethodGet, "/api/v1/export", nil)
			o.handler.ServeHTTP(answer, request.WithContext(access.With(request.Context(), o.person)))
			ended <- answer.Body.String()
		}()
		<-answer.begun
	}
	refused := o.do(http.MethodGet, "/api/v1/export")
	wantProblem(t, refused, http.StatusTooManyRequests)
	if seconds, err := strconv.Atoi(refused.Header().Get("Retry-After")); err != nil || seconds < 1 {
		t.Errorf("Retry-After: got %q", refused.Header().Get("Retry-After"))
	}
	close(released)
	for range 2 {
		if text := <-ended; !strings.Contains(text, "R1") {
			t.Errorf("got %q", text)
		}
	}
	o.export()
	wantProblem(t, o.do(http.MethodGet, "/api/v1/export?upTo=x"), http.StatusUnprocessableEntity)
	o.export() // a turn was given back each time
}

// serveSlowly serves an office with a time that is over at once for whatever takes longer than a page.
func serveSlowly(t *testing.T, o *office) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.handler.ServeHTTP(w, r.WithContext(access.With(r.Context(), o.person)))
	}))
	s.Config.WriteTimeout = 100 * time.Millisecond
	s.Start()
	t.Cleanup(s.Close)
	return s
}

const manyEvents = `
	insert into events (identity, transaction_type, reference_number, test, verification, digest, content_digest, received_at, last_received_at)
	select sha256(n::text::bytea), 'CHARGE', repeat('R', 200) || n, false, 'signature', sha256(n::text::bytea), sha256(n::text::bytea), now(), now() from generate_series(1, 40000) n`

func TestAnExportTakesAsLongAsItsReader(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newOffice(t, dsn)
	execute(t, dsn, manyEvents)
	answer, err := http.Get(serveSlowly(t, o).URL + "/api/v1/export?format=jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	<-time.After(300 * time.Millisecond) // the server's times for anything else are over, thrice
	text, err := io.ReadAll(answer.Body)
	if rows := bytes.Count(text, []byte("\n")); err != nil || answer.Header.Get("Ipn-Export-Rows") != "40000" || rows != 40000 {
		t.Errorf("got %d rows of %s, %v", rows, answer.Header.Get("Ipn-Export-Rows"), err)
	}
}

func TestAnExportThatLosesTheDatabaseIsCutWhereARowEnds(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := newOffice(t, dsn)
	execute(t, dsn, manyEvents)
	answer, err := http.Get(serveSlowly(t, o).URL + "/api/v1/export?format=jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	execute(t, dsn, "alter table events rename to elsewhere") // the connection takes no more until it is read
	text, err := io.ReadAll(answer.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the reader is told %v, want an unexpected end", err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines) < 2 || len(lines) > 40000 {
		t.Fatalf("got %d rows", len(lines)-1)
	}
	for i, line := range lines[:len(lines)-1] {
		var row struct{ ID int64 }
		if json.Unmarshal(line, &row) != nil || row.ID != int64(i+1) {
			t.Fatalf("row %d: %s", i, line)
		}
	}
}

func TestAnExportOfAnAwayDatabaseIs503(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := newOffice(t, "host="+dir+" user=nobody dbname=nothing")
	if text := wantProblem(t, o.do(http.MethodGet, "/api/v1/export"), http.StatusServiceUnavailable); strings.Contains(text, dir) {
		t.Errorf("got %s", text)
	}
}
