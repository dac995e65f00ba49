package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// somebody is a charge whose shopper can be told from all else that is said.
const somebody = "transactionType=CHARGE&referenceNumber=R1&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR" +
	"&firstName=Canaria&lastName=Ornithopter&email=canary.bird%40ornithopter.example"

// search asks for events in a body, and returns the status and the answer.
func (r *running) search(body string) (int, string) {
	r.tb.Helper()
	response, err := http.Post(r.private+"/api/v1/events/search", "application/json", strings.NewReader(body))
	if err != nil {
		r.tb.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.tb.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// finds tells how many events a search finds.
func (r *running) finds(body string) int {
	r.tb.Helper()
	status, text := r.search(body)
	var page struct {
		Items []struct{ ReferenceNumber string }
	}
	if err := json.Unmarshal([]byte(text), &page); status != http.StatusOK || err != nil {
		r.tb.Fatalf("search %s: %d, %v: %s", body, status, err, text)
	}
	return len(page.Items)
}

// handler returns where a handler stands, and whether there is one of that name.
func (r *running) handler(name string) (ipn.HandlerState, bool) {
	r.tb.Helper()
	var handlers struct{ Items []ipn.HandlerState }
	r.answer("/api/v1/handlers", &handlers)
	at := slices.IndexFunc(handlers.Items, func(h ipn.HandlerState) bool { return h.Name == name })
	if at < 0 {
		return ipn.HandlerState{}, false
	}
	return handlers.Items[at], true
}

// indexed waits until everything that came in is in the index of people.
func (r *running) indexed() {
	r.tb.Helper()
	eventually(r.tb, "the index of people is done", func() bool {
		h, found := r.handler("people")
		return found && h.Position > 0 && h.LagEvents == 0 && h.Parked == 0
	})
}

// S-82: whoever is searched for is asked for in a body, and neither log nor metrics tell of them, not even of an address that
// somebody wrote into a URL; nor do they tell the key.
func TestAPersonIsFoundAndLeavesNoTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a PostgreSQL of its own")
	}
	dir := dataDir(t)
	r := start(t, "IPN_DATA_DIR="+dir, "IPN_LOG_LEVEL=debug")
	if got := r.post(somebody, nil).StatusCode; got != http.StatusOK {
		t.Fatalf("the post was answered %d", got)
	}
	r.indexed()
	for body, want := range map[string]int{
		`{"email":"Canary.Bird@Ornithopter.example"}`: 1, `{"name":"canaria ornithopter"}`: 1, `{"name":"ORNITHOPTER"}`: 1,
		`{"name":"canaria"}`: 0, `{"email":"canary@ornithopter.example"}`: 0, `{"name":"ornithopter","transactionType":"REFUND"}`: 0,
	} {
		if got := r.finds(body); got != want {
			t.Errorf("%s finds %d events, want %d", body, got, want)
		}
	}
	response, err := http.Get(r.private + "/api/v1/events?email=canary.bird%40ornithopter.example")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("an address in a URL is answered %d, want 422", response.StatusCode)
	}
	r.search(`{"email":"no address of canaria"}`)

	key, err := os.ReadFile(filepath.Join(dir, "search-key"))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "search-key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the made-up key may be read by others: %v, %v", info, err)
	}
	told := strings.ToLower(r.said() + r.get("/metrics"))
	if !strings.Contains(told, "/api/v1/events/search") {
		t.Errorf("the log does not tell of the search:\n%s", told)
	}
	for _, trace := range []string{"canar", "ornithopter", strings.ToLower(strings.TrimSpace(string(key)))} {
		if at := strings.Index(told, trace); at >= 0 {
			t.Errorf("%q is told: %s", trace, told[max(at-200, 0):min(at+200, len(told))])
		}
	}
}

func TestAnotherKeyFindsPeopleAfterAReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a PostgreSQL")
	}
	t.Parallel()
	dsn := pgtest.Own(t).DSN()
	env := []string{"IPN_DATABASE_URL=" + dsn, "IPN_SEARCH_KEY=one-search-key-0123456789"}
	first := start(t, env...)
	first.post(somebody, nil)
	first.indexed()
	if got := first.finds(`{"name":"ornithopter"}`); got != 1 {
		t.Errorf("found %d events", got)
	}
	stop(t, first)

	keyless := start(t, env[0])
	if status, text := keyless.search(`{"name":"ornithopter"}`); status != http.StatusUnprocessableEntity || !strings.Contains(text, "IPN_SEARCH_KEY") || strings.Contains(text, "ornithopter") {
		t.Errorf("without a key: got %d %s, want 422 that names IPN_SEARCH_KEY", status, text)
	}
	if h, found := keyless.handler("people"); !found || h.Configured {
		t.Errorf("without a key the index is kept: %+v, %t", h, found)
	}
	stop(t, keyless)

	file := mustWrite(t, "another-search-key-0123456789\n")
	second := start(t, env[0], "IPN_SEARCH_KEY_FILE="+file)
	second.indexed()
	if got := second.finds(`{"name":"ornithopter"}`); got != 0 {
		t.Errorf("before the replay another key finds %d events", got)
	}
	runProgram(t, map[string]string{"IPN_DATABASE_URL": dsn}, "", "handlers", "replay", "people", "--all", "--reason=another key", "--yes").wants(t, exitOK, "sees 1 events again")
	eventually(t, "another key finds the event", func() bool { return second.finds(`{"name":"ornithopter"}`) == 1 })
}

// stop ends the program in order.
func stop(tb testing.TB, r *running) {
	tb.Helper()
	if err := r.command.Process.Signal(os.Interrupt); err != nil {
		tb.Fatal(err)
	}
	if err := r.command.Wait(); err != nil {
		tb.Fatalf("the program ended with %v", err)
	}
}
