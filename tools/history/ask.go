package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// asker measures a running receiver.
type asker struct {
	URL    string  `name:"url" default:"http://127.0.0.1:8081" help:"Its private door."`
	Token  string  `help:"Token for it, where it asks for one."`
	Rounds int     `default:"200" help:"How often each question is asked."`
	Only   string  `help:"Only what has this in its name."`
	Calm   float64 `default:"100" help:"Ask a question again while the host of a virtual machine took more than this percentage of the processors."`
	Email  string  `default:"shopper17@example.com" help:"Somebody of the history, for the search by e-mail."`
}

// question is one thing that finance asks. Its values take turns, so that no answer is only remembered.
type question struct {
	name   string
	path   string
	values []url.Values
	body   string // of a POST
}

// Run prints a line for each question: the time to the end of the answer, and its size.
func (a *asker) Run() error {
	if a.Rounds < 1 {
		return errors.New("--rounds must be positive")
	}
	samples, err := a.sample()
	if err != nil {
		return err
	}
	fmt.Printf("| question | p50 ms | p99 ms | worst ms | kB | stolen %% |\n|---|---|---|---|---|---|\n")
	for _, q := range append(a.listings(samples), append(a.reports(samples), a.pages(samples)...)...) {
		if !strings.Contains(q.name, a.Only) {
			continue
		}
		if err := a.measure(q); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	if a.Only != "" && !strings.Contains("export", a.Only) {
		return nil
	}
	for _, form := range []string{"csv", "jsonl"} {
		if err := a.export(form); err != nil {
			return fmt.Errorf("export of %s: %w", form, err)
		}
	}
	return nil
}

// sample takes events from all over the history, whose references are then asked for.
func (a *asker) sample() ([]map[string]any, error) {
	var found []map[string]any
	for month := range 20 {
		to := time.Now().AddDate(0, -month, 0).UTC().Format(time.DateOnly)
		body, err := a.get("/api/v1/events?limit=200&to=" + to)
		if err != nil {
			return nil, err
		}
		var page struct{ Items []map[string]any }
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, err
		}
		found = append(found, page.Items...)
	}
	if len(found) == 0 {
		return nil, errors.New("there are no events: make a history first")
	}
	return found, nil
}

// valuesOf are the values that a field has in the samples, as a filter; at most 50.
func valuesOf(samples []map[string]any, field, filter string) []url.Values {
	var values []url.Values
	seen := map[string]bool{}
	for _, event := range samples {
		value, _ := event[field].(string)
		if value == "" || seen[value] {
			continue
		}
		seen[value] = true
		values = append(values, url.Values{filter: {value}})
		if len(values) == 50 {
			break
		}
	}
	return values
}

// query reads filters as a query writes them.
func query(texts ...string) []url.Values {
	var values []url.Values
	for _, text := range texts {
		parsed, err := url.ParseQuery(text)
		if err != nil {
			panic(err) // constants of this file
		}
		values = append(values, parsed)
	}
	return values
}

// days are spans of so many days, beginning on days all over the last two years.
func days(from, to string, span int) []url.Values {
	var values []url.Values
	for back := 10; back < 700; back += 60 {
		begin := time.Now().UTC().AddDate(0, 0, -back)
		values = append(values, url.Values{from: {begin.Format(time.DateOnly)}, to: {begin.AddDate(0, 0, span).Format(time.DateOnly)}})
	}
	return values
}

// listings are the first pages of the event list, by each filter alone and by some together.
func (a *asker) listings(samples []map[string]any) []question {
	const events = "/api/v1/events"
	types := make([]string, len(kinds))
	for i, kind := range kinds {
		types[i] = "transactionType=" + kind
	}
	return []question{
		{name: "events, no filter", path: events, values: query("")},
		{name: "events by transactionType", path: events, values: query(types...)},
		{name: "events by referenceNumber", path: events, values: valuesOf(samples, "referenceNumber", "referenceNumber")},
		{name: "events by originalRefNum", path: events, values: valuesOf(samples, "originalRefNum", "originalRefNum")},
		{name: "events by subscriptionId", path: events, values: valuesOf(samples, "subscriptionId", "subscriptionId")},
		{name: "events by merchantTransactionId", path: events, values: valuesOf(samples, "merchantTransactionId", "merchantTransactionId")},
		{name: "events by accountId", path: events, values: valuesOf(samples, "accountId", "accountId")},
		{name: "events by vendorId", path: events, values: valuesOf(samples, "vendorId", "vendorId")},
		{name: "events by currency", path: events, values: valuesOf(samples, "currency", "currency")},
		{name: "events by status", path: events, values: query("status=NEW", "status=COMPLETED_WON", "status=NEVER")},
		{name: "events by amount", path: events, values: query("amountFrom=5.00&amountTo=7.50", "amountFrom=49.99&amountTo=50.01", "amountFrom=99999999", "amountFrom=10&amountTo=40")},
		{name: "events by a day", path: events, values: days("from", "to", 1)},
		{name: "events by a month", path: events, values: days("from", "to", 30)},
		{name: "events by a day of receipt", path: events, values: days("receivedFrom", "receivedTo", 1)},
		{name: "events by a month of receipt", path: events, values: days("receivedFrom", "receivedTo", 30)},
		{name: "events of test orders", path: events, values: query("test=true", "test=false")},
		{name: "events with problems", path: events, values: query("hasProblems=true", "hasProblems=false")},
		{name: "events with variants", path: events, values: query("hasVariants=true", "hasVariants=false")},
		{name: "events parked", path: events, values: query("isParked=true", "isParked=false")},
		{name: "events by any number", path: events, values: valuesOf(samples, "referenceNumber", "q")},
		{name: "events by type and currency", path: events, values: query("transactionType=REFUND&currency=HUF", "transactionType=CHARGE&currency=EUR", "transactionType=PAYOUT&currency=KWD")},
		{name: "events by type and month", path: events, values: days("from", "to", 30)},
		{name: "events by e-mail", path: events + "/search", body: `{"email":"` + a.Email + `"}`},
	}
}

// reports are the questions about money.
func (a *asker) reports(samples []map[string]any) []question {
	year := days("from", "to", 365)
	with := func(extra string) []url.Values {
		values := make([]url.Values, len(year))
		for i, span := range year {
			values[i] = url.Values{"from": span["from"], "to": span["to"]}
			name, value, _ := strings.Cut(extra, "=")
			values[i].Set(name, value)
		}
		return values
	}
	stories := valuesOf(samples, "referenceNumber", "number")
	questions := []question{
		{name: "totals of a year by day", path: "/api/v1/totals", values: with("groupBy=day")},
		{name: "totals of a year by month", path: "/api/v1/totals", values: with("groupBy=month")},
		{name: "totals of a year by type", path: "/api/v1/totals", values: with("groupBy=transactionType")},
		{name: "totals of a year by currency", path: "/api/v1/totals", values: with("groupBy=currency")},
		{name: "balance of a year", path: "/api/v1/balance", values: year},
		{name: "taxes of a year", path: "/api/v1/taxes", values: year},
		{name: "contracts of a year", path: "/api/v1/contracts", values: year},
		{name: "rates of a year", path: "/api/v1/rates", values: year},
		{name: "open disputes", path: "/api/v1/disputes", values: query("state=open")},
		{name: "subscriptions at risk", path: "/api/v1/subscriptions", values: query("atRisk=true")},
		{name: "payouts", path: "/api/v1/payouts", values: query("")},
		{name: "bank transfers of a month", path: "/api/v1/transfers", values: query("", "trouble=ipn_without_return", "trouble=pending")},
	}
	for _, s := range stories[:min(len(stories), 1)] {
		questions = append(questions, question{name: "one transaction", path: "/api/v1/transactions/" + s.Get("number"), values: query("")},
			question{name: "one story", path: "/api/v1/stories/" + s.Get("number"), values: query("")})
	}
	return questions
}

// pages are what people look at.
func (a *asker) pages(samples []map[string]any) []question {
	var pages []question
	for _, path := range []string{"/", "/events", "/money", "/subscriptions", "/disputes", "/payouts", "/transfers", "/handlers", "/quarantine", "/configuration", "/audit"} {
		pages = append(pages, question{name: "page " + path, path: path, values: query("")})
	}
	if id, ok := samples[0]["id"].(float64); ok {
		pages = append(pages, question{name: "page of an event", path: fmt.Sprintf("/events/%.0f", id), values: query("")})
	}
	if reference, _ := samples[0]["referenceNumber"].(string); reference != "" {
		pages = append(pages, question{name: "page of a transaction", path: "/transactions/" + reference, values: query("")})
	}
	return pages
}

// measure prints the line of a question. Where others of the same host took more of the processors than is calm, it says
// more of them than of the receiver, and the question is asked again.
func (a *asker) measure(q question) error {
	if len(q.values) == 0 {
		q.values = query("")
	}
	const most = 300
	for range most {
		before := readProcessors()
		waits, size, err := a.time(q)
		if err != nil {
			return err
		}
		stolen := readProcessors().stolenSince(before)
		line := fmt.Sprintf("| %s | %.1f | %.1f | %.1f | %.0f | %.1f |",
			q.name, ms(waits[len(waits)/2]), ms(waits[len(waits)*99/100]), ms(waits[len(waits)-1]), float64(size)/1000, stolen)
		if stolen <= a.Calm {
			fmt.Println(line)
			return nil
		}
		fmt.Fprintln(os.Stderr, line, "disturbed, once more")
	}
	return fmt.Errorf("others took more than %.1f%% of the processors each of %d times: try at another time, or with a higher --calm", a.Calm, most)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// time asks a question in rounds, first a few times for nothing, and returns how long the answers took, shortest first, and
// the size of the largest in bytes.
func (a *asker) time(q question) (waits []time.Duration, size int, err error) {
	const warm = 5
	for i := range a.Rounds + warm {
		began := time.Now()
		var body []byte
		if q.body != "" {
			body, err = a.do(http.MethodPost, q.path, q.body)
		} else {
			body, err = a.get(q.path + "?" + q.values[i%len(q.values)].Encode())
		}
		if err != nil {
			return nil, 0, err
		}
		if i >= warm {
			waits, size = append(waits, time.Since(began)), max(size, len(body))
		}
	}
	slices.Sort(waits)
	return waits, size, nil
}

// export takes everything along, and watches the receiver's memory meanwhile.
func (a *asker) export(form string) error {
	idle, err := a.memory()
	if err != nil {
		return err
	}
	began := time.Now()
	response, err := a.send(context.Background(), http.MethodGet, "/api/v1/export?format="+form, "")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	rows, peak, last := 0, idle, time.Now()
	lines := bufio.NewReaderSize(response.Body, 1<<20)
	for {
		_, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if rows++; time.Since(last) > 200*time.Millisecond {
			now, err := a.memory()
			if err != nil {
				return err
			}
			peak, last = max(peak, now), time.Now()
		}
	}
	took := time.Since(began)
	fmt.Printf("export as %s: %d lines in %s, %.0f a second; resident memory %d MiB before, %d MiB at most\n",
		form, rows, took.Round(time.Millisecond), float64(rows)/took.Seconds(), idle>>20, peak>>20)
	return nil
}

// memory is what the receiver's process holds, in bytes, by its own metrics.
func (a *asker) memory() (int64, error) {
	body, err := a.get("/metrics")
	if err != nil {
		return 0, err
	}
	for _, line := range strings.Split(string(body), "\n") {
		if text, found := strings.CutPrefix(line, "process_resident_memory_bytes "); found {
			bytes, err := strconv.ParseFloat(text, 64)
			return int64(bytes), err
		}
	}
	return 0, errors.New("the metrics do not tell process_resident_memory_bytes")
}

func (a *asker) get(path string) ([]byte, error) { return a.do(http.MethodGet, path, "") }

func (a *asker) do(method, path, body string) ([]byte, error) {
	response, err := a.send(context.Background(), method, path, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// send asks, and takes nothing but 200 for an answer.
func (a *asker) send(ctx context.Context, method, path, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(a.URL, "/")+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if a.Token != "" {
		request.Header.Set("Authorization", "Bearer "+a.Token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 500))
		_ = response.Body.Close()
		fmt.Fprintf(os.Stderr, "%s %s: %s %s\n", method, path, response.Status, text)
		return nil, fmt.Errorf("answered %s", response.Status)
	}
	return response, nil
}
