package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/export"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// archive is a database with events, and the commands that ask it.
type archive struct {
	tb       testing.TB
	dsn      string
	env      map[string]string
	recorder *store.Recorder
	day      int
}

func openArchive(tb testing.TB, dsn string) *archive {
	tb.Helper()
	if err := store.Migrate(tb.Context(), dsn, tb.Logf); err != nil {
		tb.Fatal(err)
	}
	s, err := store.Open(tb.Context(), store.Config{DSN: dsn, AllowVolatile: true})
	if err != nil {
		tb.Fatal(err)
	}
	recorder, err := store.NewRecorder(s, 0, nil)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { recorder.Run(ctx) })
	tb.Cleanup(func() { stop(); working.Wait(); s.Close() })
	return &archive{tb: tb, dsn: dsn, env: map[string]string{"IPN_DATABASE_URL": dsn, "USER": "maria"}, recorder: recorder}
}

// record keeps an event and returns its id.
func (a *archive) record(body string) int64 {
	a.tb.Helper()
	a.day++
	event := new(ipn.Decoder).Decode([]byte(body), "")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	recorded, err := a.recorder.Record(ctx, &ipn.Receipt{
		Event: event, Identity: ipn.Scope{}.Identify(event), Digest: ipn.DigestOf([]byte(body)), Content: event.ContentDigest(),
		Vouched: ipn.VouchedSignature, Raw: []byte(body), Origin: ipn.Origin{ReceivedAt: at.AddDate(0, 0, a.day)},
	})
	if err != nil {
		a.tb.Fatal(err)
	}
	return recorded.EventID
}

func (a *archive) events(args ...string) ran {
	a.tb.Helper()
	return runProgram(a.tb, a.env, "", append([]string{"events"}, args...)...)
}

// sold is a charge with a shopper.
func sold(reference, amount, currency string) string {
	return "transactionType=CHARGE&referenceNumber=" + reference + "&invoiceChargeAmount=" + amount + "&invoiceChargeCurrency=" + currency +
		"&transactionDate=05/20/2023+08:30+AM&firstName=Canaria&lastName=Ornithopter&email=canary.bird%40ornithopter.example"
}

// ownFlags are the names of a command's own flags, without its settings.
func ownFlags(tb testing.TB, path ...string) (names []string) {
	tb.Helper()
	var line commandLine
	parser, err := newParser(&line, &program{})
	if err != nil {
		tb.Fatal(err)
	}
	node := parser.Model.Node
	for _, name := range path {
		at := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == name })
		node = node.Children[at]
	}
	for _, flag := range node.Flags {
		if !isSetting(flag) && flag.Name != "help" && flag.Name != "version" && flag.Name != "json" {
			names = append(names, flag.Name)
		}
	}
	return names
}

func TestTheFlagsOfEventsAreTheTableOfFilters(t *testing.T) {
	var filters, exported, narrowing []string
	for _, f := range append(ask.Filters(), ask.People()...) {
		filters = append(filters, f.Flag())
	}
	for _, f := range append(export.Filters(), ask.People()...) {
		if f.Name != "after" && f.Name != "upTo" { // which --resume finds
			exported = append(exported, f.Flag())
		}
	}
	narrowing = slices.DeleteFunc(slices.Clone(filters), func(flag string) bool { return slices.Contains([]string{"order", "cursor", "limit"}, flag) })
	for _, tc := range []struct {
		command    string
		want, more []string
	}{
		{"list", filters, nil},
		{"export", exported, []string{"out", "resume", "progress", "reason"}},
		{"tail", narrowing, []string{"after"}},
	} {
		got, want := ownFlags(t, "events", tc.command), append(slices.Clone(tc.want), tc.more...)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", tc.command, got, want)
		}
	}
}

func TestEventsAreListedInColumns(t *testing.T) {
	a := openArchive(t, pgtest.Own(t).DSN())
	a.record(sold("R1", "5.00", "EUR"))
	a.record(sold("R2", "12345.00", "JPY"))
	a.record(sold("R2", "12345.00", "JPY"))
	a.record("transactionType=REFUND&referenceNumber=R1&reversalRefNum=V1&reversalAmount=0.90&currency=EUR&testMode=Y&transactionDate=05/21/2023+08:30+AM")
	a.record("transactionType=CHARGEBACK&referenceNumber=" + "%1b%5b2J%e2%80%ae%0aR9" + "&cbStatus=new&transactionDate=05/22/2023+08:30+AM")
	r := a.events("list")
	r.wants(t, exitOK)
	want := strings.Join([]string{
		"ID  TIME                 TYPE        REFERENCE    AMOUNT       STATUS  NOTES",
		" 5  2023-05-22 15:30:00  CHARGEBACK  ?[2J??R9                  NEW     1 problem",
		" 4  2023-05-21 15:30:00  REFUND      R1             0.90  EUR          test",
		" 2  2023-05-20 15:30:00  CHARGE      R2         12345.00  JPY          2 receipts",
		" 1  2023-05-20 15:30:00  CHARGE      R1             5.00  EUR",
	}, "\n") + "\n"
	if r.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", r.stdout, want)
	}

	a.events("list", "--currency=eur", "--test=false").wants(t, exitOK, "R1")
	a.events("list", "--q=nobody").wants(t, exitOK, "no event matches")
	first := a.events("--limit=2", "--json")
	var page struct {
		Items      []struct{ ID int64 }
		NextCursor string
	}
	if err := json.Unmarshal([]byte(first.stdout), &page); err != nil || len(page.Items) != 2 || page.Items[0].ID != 5 {
		t.Fatalf("got %s, %v", first.stdout, err)
	}
	told := a.events("list", "--limit=2")
	told.wants(t, exitOK, "there are more: add --cursor=")
	if strings.Contains(told.stdout, "cursor") {
		t.Error("the hint stands among the events")
	}
	a.events("list", "--limit=2", "--cursor="+page.NextCursor).wants(t, exitOK, "R2")
	a.events("list", "--limit=2", "--cursor="+page.NextCursor, "--currency=EUR").wants(t, exitNo, "--cursor: ")
}

func TestCommandsOnEventsNameWhatIsWrong(t *testing.T) {
	a := &archive{tb: t, env: map[string]string{"IPN_DATABASE_URL": "host=" + t.TempDir() + " user=nobody dbname=nothing"}}
	for _, tc := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"a time that is none", []string{"list", "--from=yesterday"}, exitUsage, "--from: write it as 2026-11-01"},
		{"several mistakes", []string{"list", "--limit=0", "--test=maybe"}, exitUsage, "--limit: "},
		{"a person on the command line", []string{"list", "--email=canary@example.com"}, exitUsage, "--email: write --email=-"},
		{"a name on the command line", []string{"tail", "--name=Canary"}, exitUsage, "--name: write --name=-"},
		{"an event without a number", []string{"show", "0"}, exitUsage, "ID: "},
		{"to reveal without a reason", []string{"show", "1", "--reveal"}, exitUsage, "--reason TEXT"},
		{"a reason without what for", []string{"show", "1", "--reason=x"}, exitUsage, "--reveal"},
		{"rows that are none", []string{"export", "--of=payloads"}, exitUsage, "--of: write one of events, movements"},
		{"a filter that movements have not", []string{"export", "--of=movements", "--account-id=A1"}, exitUsage, "--account-id: leave it out"},
		{"people in the books", []string{"export", "--of=movements", "--email=-"}, exitUsage, "the books know no people"},
		{"to resume nothing", []string{"export", "--resume"}, exitUsage, "--out FILE"},
		{"two formats", []string{"export", "--json", "--format=csv"}, exitUsage, "--json"},
		{"a database that is away", []string{"list"}, exitNo, "the record is unavailable"},
		{"a database that is away, exporting", []string{"export"}, exitNo, "the record is unavailable"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := a.events(tc.args...)
			r.wants(t, tc.code, tc.want)
			if strings.Contains(r.stderr, "anary") {
				t.Errorf("a person is told: %s", r.stderr)
			}
		})
	}
}

func TestAnEventIsShownMaskedAndRevealedUnderAudit(t *testing.T) {
	a := openArchive(t, pgtest.Own(t).DSN())
	id := fmt.Sprint(a.record(sold("R1", "5.00", "EUR")))
	r := a.events("show", id)
	r.wants(t, exitOK, "R1", "5.00", "EUR", "CHARGE")
	if strings.Contains(r.stdout, "Canaria") || strings.Contains(r.stdout, "canary.bird") {
		t.Errorf("a person is shown:\n%s", r.stdout)
	}
	var told map[string]any
	if err := json.Unmarshal([]byte(a.events("show", id, "--json").stdout), &told); err != nil || told["referenceNumber"] != "R1" {
		t.Errorf("got %v, %v", told, err)
	}
	a.events("show", id, "--reveal", "--reason=the shopper asks").wants(t, exitOK, "Canaria", "Ornithopter", "canary.bird@ornithopter.example")
	if told := audit(t, a.dsn); told != "cli:maria reveal the shopper asks" {
		t.Errorf("the audit tells %s", told)
	}
	a.events("show", "4711").wants(t, exitNo, "there is nothing under this id")
}

func TestAnExportIsWrittenToStandardOutputAndAudited(t *testing.T) {
	a := openArchive(t, pgtest.Own(t).DSN())
	for i := range 5 {
		a.record(sold(fmt.Sprint("R", i), "5.00", []string{"EUR", "USD"}[i%2]))
	}
	r := a.events("export", "--currency=EUR", "--progress", "--reason=for the tax office")
	r.wants(t, exitOK, "3 of 3 rows, 100 %")
	if rows := strings.Count(r.stdout, "\r\n"); rows != 4 || !strings.HasPrefix(r.stdout, "id,transactionType,") {
		t.Errorf("got %s", r.stdout)
	}
	if quiet := a.events("export", "--json"); quiet.stderr != "" || strings.Count(quiet.stdout, "\n") != 5 {
		t.Errorf("got %+v", quiet)
	}
	a.events("export", "--of=movements", "--kind=charge").wants(t, exitOK, "eventId,line,kind,")
	if told := audit(t, a.dsn); told != "cli:maria export for the tax office; cli:maria export export of events as jsonl; cli:maria export export of movements as csv" {
		t.Errorf("the audit tells %s", told)
	}
	if details := asked(t, a.dsn, "select details::text from audit order by id limit 1"); !strings.Contains(details, `"filters": ["currency"]`) {
		t.Errorf("the audit keeps %s", details)
	}
}

func TestAnExportIntoAFileIsThereWhenItIsWholeAndIsContinuedWhereItWasCut(t *testing.T) {
	a := openArchive(t, pgtest.Own(t).DSN())
	for i := range 9 {
		a.record(sold(fmt.Sprint("R", i, ",%0d%0a%22"), "5.00", "EUR"))
	}
	for _, format := range []string{"csv", "jsonl"} {
		out := filepath.Join(t.TempDir(), "events."+format)
		a.events("export", "--format="+format, "--out="+out).wants(t, exitOK)
		whole, err := os.ReadFile(out)
		if err != nil || len(whole) < 1000 {
			t.Fatalf("got %d bytes, %v", len(whole), err)
		}
		part := (&exportEvents{Out: out, asked: "format=" + format}).partName()
		if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("others may read it: %v", info.Mode())
		}
		for _, cut := range []int{0, 1, 100, len(whole) / 2, len(whole) - 1, len(whole)} {
			if err := os.WriteFile(part, whole[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			a.events("export", "--format="+format, "--out="+out).wants(t, exitNo, "--resume")
			if err := os.Remove(out); err != nil {
				t.Fatal(err)
			}
			a.events("export", "--format="+format, "--out="+out, "--resume").wants(t, exitOK)
			if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, whole) {
				t.Errorf("%s cut at %d: %v, got\n%s\nwant\n%s", format, cut, err, got, whole)
			}
			if _, err := os.Stat(part); err == nil {
				t.Error("the part was left")
			}
		}
		if err := os.WriteFile(part, []byte("something else\r\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		a.events("export", "--format="+format, "--out="+out, "--resume").wants(t, exitNo, "begun by another export")
		if err := os.WriteFile(part, whole[:len(whole)/2], 0o600); err != nil {
			t.Fatal(err)
		}
		a.events("export", "--format="+format, "--currency=USD", "--out="+out, "--resume").wants(t, exitOK)
		if got, err := os.ReadFile(out); err != nil || bytes.Contains(got, []byte("EUR")) {
			t.Errorf("an export of dollars goes on behind euros: %s, %v", got, err)
		}
	}
}

func TestAnExportReplacesNothingButFiles(t *testing.T) {
	a := openArchive(t, pgtest.Own(t).DSN())
	a.record(sold("R1", "5.00", "EUR"))
	dir := t.TempDir()
	link := filepath.Join(dir, "link.csv")
	if err := os.Symlink(filepath.Join(dir, "elsewhere.csv"), link); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"/dev/null", dir, link} {
		a.events("export", "--out="+out).wants(t, exitNo, "no ordinary file")
	}
	if info, err := os.Lstat("/dev/null"); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Errorf("/dev/null is %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.part")); err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAnExportWithoutAnAuditIsNone(t *testing.T) {
	a := openArchive(t, pgtest.Own(t).DSN())
	a.record(sold("R1", "5.00", "EUR"))
	execute(t, a.dsn, "alter table audit rename to elsewhere")
	if r := a.events("export"); r.code != exitNo || r.stdout != "" || !strings.Contains(r.stderr, "audit") {
		t.Errorf("got %+v", r)
	}
}

func execute(tb testing.TB, dsn, statement string) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), dsn)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(tb.Context())
	if _, err := conn.Exec(tb.Context(), statement); err != nil {
		tb.Fatal(err)
	}
}

// following is a tail that runs.
type following struct {
	tb   testing.TB
	stop context.CancelFunc
	done chan int

	mu             sync.Mutex
	stdout, stderr bytes.Buffer
}

// lockedBuffer writes into a buffer that somebody reads meanwhile.
type lockedBuffer struct {
	mu *sync.Mutex
	to *bytes.Buffer
}

func (l lockedBuffer) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(text)
}

func (a *archive) tail(args ...string) *following {
	a.tb.Helper()
	ctx, stop := context.WithCancel(context.Background())
	f := &following{tb: a.tb, stop: stop, done: make(chan int, 1)}
	p := &program{
		args:      append([]string{"events", "tail"}, args...),
		lookupEnv: func(name string) (string, bool) { value, ok := a.env[name]; return value, ok },
		stdin:     strings.NewReader(""), stdout: lockedBuffer{&f.mu, &f.stdout}, stderr: lockedBuffer{&f.mu, &f.stderr},
		now: time.Now,
	}
	go func() { f.done <- p.run(ctx) }()
	a.tb.Cleanup(f.end)
	return f
}

func (f *following) end() {
	f.stop()
	if code := <-f.done; code != exitOK {
		f.tb.Errorf("the tail ended with %d: %s", code, f.said(&f.stderr))
	}
	f.done <- exitOK
}

func (f *following) said(on *bytes.Buffer) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return on.String()
}

// told are the ids of the events told so far.
func (f *following) told() (ids []int64) {
	for line := range strings.Lines(f.said(&f.stdout)) {
		var event struct{ ID int64 }
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			f.tb.Fatalf("%v: %s", err, line)
		}
		ids = append(ids, event.ID)
	}
	return ids
}

func TestATailTellsEachEventOnceAcrossARestartOfTheDatabase(t *testing.T) {
	owned := pgtest.Own(t)
	a := openArchive(t, owned.DSN())
	var want []int64
	first := a.record(sold("R0", "5.00", "EUR"))
	a.record(sold("R1", "5.00", "USD"))
	f := a.tail("--json", "--currency=EUR", fmt.Sprint("--after=", first-1))
	want = append(want, first)
	eventually(t, "what is there is told", func() bool { return reflect.DeepEqual(f.told(), want) })
	for i := range 3 {
		want = append(want, a.record(sold(fmt.Sprint("R1", i), "5.00", "EUR")))
		eventually(t, "what comes in is told", func() bool { return reflect.DeepEqual(f.told(), want) })
	}
	owned.Stop()
	eventually(t, "it waits for the database", func() bool { return strings.Contains(f.said(&f.stderr), "waiting: ") })
	owned.Start()
	for i := range 3 {
		want = append(want, a.record(sold(fmt.Sprint("R2", i), "5.00", "EUR")))
	}
	eventually(t, "it goes on", func() bool { return reflect.DeepEqual(f.told(), want) })
	if said := f.said(&f.stderr); strings.Count(said, "waiting: ") != 1 || !strings.Contains(said, "going on") {
		t.Errorf("it said %s", said)
	}
}

func TestATailBeginsWithTheNextEventAndTellsItInALine(t *testing.T) {
	a := openArchive(t, pgtest.Own(t).DSN())
	a.record(sold("R0", "5.00", "EUR"))
	f := a.tail()
	line := regexp.MustCompile(`(?m)^ +\d+  2023-05-20 15:30:00  CHARGE +R\d+ +12\.50 EUR$`)
	n := 0
	eventually(t, "an event is told", func() bool {
		n++
		a.record(sold(fmt.Sprint("R", n), "12.50", "EUR"))
		return line.MatchString(f.said(&f.stdout))
	})
	if strings.Contains(f.said(&f.stdout), " R0 ") {
		t.Error("it told what was there before")
	}
}

// S-82: a person is given on standard input and stands in no command line.
func TestAPersonIsFoundByStandardInput(t *testing.T) {
	owned := pgtest.Own(t)
	env := []string{"IPN_DATABASE_URL=" + owned.DSN(), "IPN_SEARCH_KEY=0123456789abcdef0123"}
	r := start(t, env...)
	r.post(sold("R1", "5.00", "EUR"), nil)
	r.post("transactionType=CHARGE&referenceNumber=R2&firstName=Some&lastName=Body", nil)
	r.indexed()
	variables := map[string]string{"IPN_DATABASE_URL": owned.DSN(), "IPN_SEARCH_KEY": "0123456789abcdef0123", "USER": "maria"}
	for _, tc := range []struct {
		name, stdin string
		args        []string
	}{
		{"list", "Canary.Bird@ornithopter.example\n", []string{"list", "--email=-"}},
		{"list by name", "ornithopter", []string{"list", "--name", "-", "--json"}},
		{"export", "canary.bird@ornithopter.example\n", []string{"export", "--email=-"}},
		{"both", "canary.bird@ornithopter.example\nOrnithopter\n", []string{"export", "--email=-", "--name=-", "--format=jsonl"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := runProgram(t, variables, tc.stdin, append([]string{"events"}, tc.args...)...)
			got.wants(t, exitOK, "R1")
			if strings.Contains(got.stdout, "R2") {
				t.Errorf("somebody else is found:\n%s", got.stdout)
			}
		})
	}
	if details := asked(t, owned.DSN(), "select string_agg(details::text, ' ' order by id) from audit where action = 'export'"); !strings.Contains(details, `"filters": ["email"]`) ||
		!strings.Contains(details, `"filters": ["email", "name"]`) || strings.Contains(strings.ToLower(details), "ornithopter") {
		t.Errorf("the audit keeps %s", details)
	}
	runProgram(t, variables, "nobody at all\n", "events", "list", "--email=-").wants(t, exitNo, "--email: write an e-mail address")
	runProgram(t, variables, "", "events", "list", "--email=-").wants(t, exitNo, "--email: standard input has no line for it")
	delete(variables, "IPN_SEARCH_KEY")
	runProgram(t, variables, "Ornithopter\n", "events", "list", "--name=-").wants(t, exitNo, "IPN_SEARCH_KEY")
}
