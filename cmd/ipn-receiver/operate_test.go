package main

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// TestOperatorsSteerARunningReceiver goes through what an operator does in a bad week, by the commands alone.
func TestOperatorsSteerARunningReceiver(t *testing.T) {
	h := openHandling(t)
	start(t, h.env...)
	env := map[string]string{"IPN_DATABASE_URL": h.dsn, "USER": "maria"}
	handlers := func(args ...string) ran {
		t.Helper()
		return runProgram(t, env, "", append([]string{"handlers"}, args...)...)
	}
	random := rand.New(rand.NewPCG(4, 4))
	for n := range 20 {
		h.record(random, n)
	}
	eventually(t, "all is done", h.done)
	handlers().wants(t, exitOK, "ledger        projection  20", "forward.shop  sink        20", "led by ")

	handlers("pause", "ledger", "--reason=month end").wants(t, exitOK, "ledger is paused")
	h.record(random, 100)
	eventually(t, "the others go on", func() bool { return h.positions()["forward.shop"] == 21 })
	handlers("list").wants(t, exitOK, "paused since", "month end")
	if position := h.positions()["ledger"]; position != 20 {
		t.Errorf("the paused ledger went on to %d", position)
	}
	handlers("resume", "ledger", "--reason=done").wants(t, exitOK, "goes on")
	eventually(t, "the ledger catches up", h.done)

	handlers("replay", "forward.shop", "--all", "--reason=lost at the shop").wants(t, exitOK, "would see 21 events again", "--yes")
	handlers("replay", "forward.shop", "--reference=7000003", "--reason=lost at the shop", "--yes").wants(t, exitOK, "sees 1 events again")
	eventually(t, "the shop gets it again", func() bool { return h.shop.has(h.ids[3]) == 2 })
	handlers("replay", "ledger", "--since=2020-01-01", "--reason=prove", "--yes").wants(t, exitOK, "sees 21 events again")
	eventually(t, "all is done again", h.done)
	h.checkBooks()

	handlers("parked").wants(t, exitOK, "nothing is parked or buried")
	handlers("redrive", "--reason=none", "--dry-run").wants(t, exitOK, "0 events")
	handlers("forget", "ledger", "--reason=x").wants(t, exitNo, "a running receiver serves ledger")
	handlers("pause", "nobody", "--reason=x").wants(t, exitNo, "no such handler")
	handlers("--json").wants(t, exitOK, `"name": "ledger"`)

	if told := audit(t, h.dsn); !strings.HasPrefix(told, "cli:maria pause ledger month end; cli:maria resume ledger done; ") || !strings.Contains(told, "replay forward.shop") {
		t.Errorf("the audit tells %s", told)
	}
}

// audit returns the audit in one line.
func audit(tb testing.TB, dsn string) (told string) {
	tb.Helper()
	return asked(tb, dsn, "select string_agg(concat_ws(' ', actor, action, handler, reason), '; ' order by id) from audit")
}

func asked(tb testing.TB, dsn, query string) (answer string) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), dsn)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(tb.Context())
	if err := conn.QueryRow(tb.Context(), query).Scan(&answer); err != nil {
		tb.Fatal(err)
	}
	return answer
}

func TestARebuildProvesTheBooksAndMendsThem(t *testing.T) {
	h := openHandling(t)
	env := map[string]string{"IPN_DATABASE_URL": h.dsn}
	rebuild := func() ran { return runProgram(t, env, "", "handlers", "rebuild", "ledger", "--reason=audit") }
	r := start(t, h.env...)
	random := rand.New(rand.NewPCG(5, 5))
	for n := range 50 {
		h.record(random, n)
	}
	eventually(t, "all is done", h.done)
	rebuild().wants(t, exitOK, "equal to what stood")
	asked(t, h.dsn, "with gone as (delete from movements where event_id = 7 returning 1) select count(*)::text from gone")
	asked(t, h.dsn, "with forged as (update daily_totals set amount = amount + 1 returning 1) select count(*)::text from forged")
	rebuild().wants(t, exitNo, "differed", "mended")
	rebuild().wants(t, exitOK, "equal to what stood")
	h.checkBooks()

	h.record(random, 1000)
	eventually(t, "the handler goes on", h.done)
	if err := r.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.command.Wait()
	rebuild().wants(t, exitOK, "51 events")
}

func TestCommandsOnHandlersNameWhatIsWrong(t *testing.T) {
	env := map[string]string{"IPN_DATABASE_URL": pgtest.Own(t).DSN()}
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"a database no handler was served on", nil, exitOK, "no handler was ever started"},
		{"an act without a reason", []string{"pause", "ledger"}, exitUsage, "--reason"},
		{"a replay of nothing in particular", []string{"replay", "ledger", "--reason=x"}, exitUsage, "say which events"},
		{"a replay of two things", []string{"replay", "ledger", "--reason=x", "--all", "--type=CHARGE"}, exitUsage, "say which events"},
		{"a time that is none", []string{"replay", "ledger", "--reason=x", "--since=yesterday"}, exitUsage, "2026-11-01"},
		{"a handler without books", []string{"rebuild", "forward.shop", "--reason=x"}, exitUsage, "ledger"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runProgram(t, env, "", append([]string{"handlers"}, tt.args...)...).wants(t, tt.code, tt.want)
		})
	}
}

func TestATargetsFileThatCannotBeIsRefusedWithFileLineAndField(t *testing.T) {
	file := mustWrite(t, "forward:\n  - name: shop\n    url: http://shop.example/ipn\n    unsigned: true\n    colour: blue\n")
	r := runProgram(t, map[string]string{"IPN_TARGETS_FILE": file}, "")
	r.wants(t, exitUsage, name("targets-file"), file+":3", "forward[0].url", file+":5", "colour")
	runProgram(t, map[string]string{"IPN_TARGETS_FILE": file + ".missing"}, "").wants(t, exitUsage, name("targets-file"), "is not there")
}

func TestCommandsOnHandlersMakeNoDatabase(t *testing.T) {
	dir := dataDir(t)
	env := map[string]string{"IPN_DATA_DIR": dir, "IPN_CACHE_DIR": dir}
	runProgram(t, env, "", "handlers").wants(t, exitNo, "no receiver ever kept anything in "+dir, name("data-dir"))
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory was made")
	}
}
