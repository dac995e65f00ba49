package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/finance"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/server"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// eventsCommand groups what is asked of the event history. Each asks the database itself, whether a receiver runs or not,
// with the filters of the API, and answers what the API answers.
type eventsCommand struct {
	List   listEvents   `cmd:"" default:"withargs" help:"List events, newest first. What is done when no subcommand is named."`
	Show   showEvent    `cmd:"" help:"Show one event: its facts, its fields by group, its variants and what became of it. Personal fields are masked."`
	Export exportEvents `cmd:"" help:"Write events or movements as CSV or JSON lines, all that match, by ascending id."`
	Tail   tailEvents   `cmd:"" help:"Tell events as they come in, until interrupted."`
}

// EventFilters are what narrows events. They are the table of filters that API and page are made of, as flags; a test holds
// them to it. Exported, because what is embedded is only filled if it is.
type EventFilters struct {
	TransactionType string `name:"transaction-type" placeholder:"TYPE" help:"Only of this type, such as CHARGE."`
	Reference       string `name:"reference-number" placeholder:"NUMBER" help:"Only of this transaction; of refunds and disputes that of the transaction they act on."`
	Original        string `name:"original-ref-num" placeholder:"NUMBER" help:"Only with this as the subscription's first charge, or the charge acted on."`
	Subscription    string `name:"subscription-id" placeholder:"ID" help:"Only of this subscription."`
	MerchantID      string `name:"merchant-transaction-id" placeholder:"ID" help:"Only with this id of your own."`
	Account         string `name:"account-id" placeholder:"ID" help:"Only of this shopper, by the payment service's number."`
	Vendor          string `name:"vendor-id" placeholder:"ID" help:"Only of this vendor of a marketplace."`
	Currency        string `name:"currency" placeholder:"CODE" help:"Only in this currency, such as EUR."`
	Status          string `name:"status" placeholder:"TEXT" help:"Only those that say this of their state: of a dispute its cbStatus in capitals."`
	AmountFrom      string `name:"amount-from" placeholder:"AMOUNT" help:"Only of this amount or more, whatever the currency."`
	AmountTo        string `name:"amount-to" placeholder:"AMOUNT" help:"Only of this amount or less."`
	From            string `name:"from" placeholder:"TIME" help:"Only those that happened then or later: 2026-11-01 (midnight in UTC) or 2026-11-01T08:30:00Z."`
	To              string `name:"to" placeholder:"TIME" help:"Only those that happened before."`
	ReceivedFrom    string `name:"received-from" placeholder:"TIME" help:"Only those that were first received then or later."`
	ReceivedTo      string `name:"received-to" placeholder:"TIME" help:"Only those that were first received before."`
	Test            string `name:"test" placeholder:"true|false" help:"Only test orders, or none of them."`
	HasProblems     string `name:"has-problems" placeholder:"true|false" help:"Only events with something odd in them, or none of those."`
	HasVariants     string `name:"has-variants" placeholder:"true|false" help:"Only events that were told differently as well, or none of those."`
	IsParked        string `name:"is-parked" placeholder:"true|false" help:"Only events that some handler failed on, or none of those."`
	Text            string `name:"q" placeholder:"NUMBER" help:"Only those with this number, whichever reference it is."`
	Email           string `name:"email" placeholder:"-" help:"Only of the person with this e-mail address, which is read from standard input: write --email=-. People do not belong on a command line, which others can read."`
	Person          string `name:"name" placeholder:"-" help:"Only of people with this last name, or first and last name, read from standard input: write --name=-. With --email it is the second line."`
}

// fromStdin is written in place of what stands on standard input.
const fromStdin = "-"

// check refuses what cannot be understood, by the flag.
func (f *EventFilters) check() error {
	for _, person := range []struct{ flag, value string }{{"--email", f.Email}, {"--name", f.Person}} {
		if person.value != "" && person.value != fromStdin {
			return fmt.Errorf("%s: write %s=- and give it on standard input: what stands on a command line can be read by others", person.flag, person.flag)
		}
	}
	return nil
}

// ask returns the values of flags by the filters' names. flags is a struct; what is personal is left out.
func askedBy(flags any, into url.Values, table []ask.Filter) {
	value := reflect.Indirect(reflect.ValueOf(flags))
	for i := range value.NumField() {
		for _, f := range table {
			if value.Type().Field(i).Tag.Get("name") == f.Flag() && value.Field(i).String() != "" {
				into.Set(f.Name, value.Field(i).String())
			}
		}
	}
}

// byFlag names mistakes by flags in place of filters.
func byFlag(err error, table []ask.Filter) error {
	var mistakes ask.Mistakes
	if !errors.As(err, &mistakes) {
		return err
	}
	texts := make([]error, len(mistakes))
	for i, m := range mistakes {
		texts[i] = m
		for _, f := range table {
			if f.Name == m.Name {
				texts[i] = fmt.Errorf("--%s: %s", f.Flag(), m.Mend)
			}
		}
	}
	return errors.Join(texts...)
}

// history is what the commands on events have in common.
type history struct {
	operation
	PeopleSearch `group:"private"`
	Meaning      `group:"meaning"`
	EventFilters
}

func (h *history) check(m machine) error {
	return errors.Join(h.operation.check(m), h.PeopleSearch.load(), h.EventFilters.check())
}

// opened is the history, ready to be asked.
type opened struct {
	*store.Store
	books *ledger.Reader
	dsn   string
	key   ipn.PersonKey
	api   http.Handler
	by    access.Person
}

// opening reaches the database and does one thing. What it prints of errors is what the other commands on it print.
func (h *history) opening(ctx context.Context, p *program, do func(*opened) error) (int, error) {
	memory, dsn, done, err := h.open(ctx, p)
	if err != nil {
		return exitNo, err
	}
	defer done()
	books, err := ledger.OpenReader(ctx, dsn, 1)
	if err != nil {
		return exitNo, err
	}
	defer books.Close()
	key, err := personKey(&h.PeopleSearch, &h.DatabaseSetting, h.Production())
	if err != nil {
		return exitNo, err
	}
	if _, err := memory.LastEventID(ctx); err != nil {
		return exitNo, err
	}
	office := &finance.Office{
		History: memory, Quarantine: memory, Handlers: memory, Books: books, Witness: memory, People: key, Cursors: ask.NewCursors(memory.CursorKey),
		Decoder: &ipn.Decoder{Zone: h.Zone.Location, MaxFields: h.MaxFields}, Version: server.ReadBuild().Version,
	}
	router := chi.NewRouter()
	office.Mount(router)
	user := strings.TrimPrefix(act{}.by(p).Actor, access.ViaCLI+":")
	return result(do(&opened{memory, books, dsn, key, router, access.Person{Name: user, Role: access.Admin, Via: access.ViaCLI}}))
}

// people reads from standard input who is asked for, in the order address and name.
func (f *EventFilters) people(p *program) (email, name string, err error) {
	lines := bufio.NewReader(io.LimitReader(p.stdin, 8<<10))
	for _, wanted := range []struct {
		flag, value string
		into        *string
	}{{"--email", f.Email, &email}, {"--name", f.Person, &name}} {
		if wanted.value == "" {
			continue
		}
		line, err := lines.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", "", fmt.Errorf("read standard input: %w", err)
		}
		if *wanted.into = strings.TrimSpace(line); *wanted.into == "" {
			return "", "", fmt.Errorf("%s: standard input has no line for it", wanted.flag)
		}
	}
	return email, name, nil
}

// query reads the filters and the people on standard input as the API reads them.
func (f *EventFilters) query(p *program, values url.Values, key ipn.PersonKey) (body []byte, q ask.Query, err error) {
	object := map[string]any{}
	for _, filter := range ask.Filters() {
		text := values.Get(filter.Name)
		if text == "" {
			continue
		}
		object[filter.Name] = text
		if filter.Kind == ask.KindYesNo || filter.Kind == ask.KindNumber {
			object[filter.Name] = json.RawMessage(text)
		}
	}
	email, person, err := f.people(p)
	if err != nil {
		return nil, q, err
	}
	for name, text := range map[string]string{"email": email, "name": person} {
		if text != "" {
			object[name] = text
		}
	}
	if body, err = json.Marshal(object); err != nil {
		return nil, q, err
	}
	q, err = ask.ParseBody(body, key)
	return body, q, byFlag(err, append(ask.Filters(), ask.People()...))
}

// reply is what the API answers, kept.
type reply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *reply) Header() http.Header            { return r.header }
func (r *reply) Write(text []byte) (int, error) { return r.body.Write(text) }
func (r *reply) WriteHeader(status int)         { r.status = status }

// call asks the API as a tool would, without a socket in between: a command says and refuses what the API does.
func (o *opened) call(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(access.With(ctx, o.by), method, path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer := &reply{header: http.Header{}, status: http.StatusOK}
	o.api.ServeHTTP(answer, request)
	if answer.status < http.StatusBadRequest {
		return answer.body.Bytes(), nil
	}
	var problem struct {
		Detail string
		Errors []struct{ Message, Location string }
	}
	if err := json.Unmarshal(answer.body.Bytes(), &problem); err != nil || problem.Detail == "" {
		return nil, errors.New("the answer is " + strconv.Itoa(answer.status))
	}
	texts := []error{}
	for _, e := range problem.Errors {
		_, name, _ := strings.Cut(e.Location, ".")
		texts = append(texts, byFlag(ask.Mistakes{{Name: name, Mend: e.Message}}, append(ask.Filters(), ask.People()...)))
	}
	if len(texts) == 0 {
		texts = append(texts, errors.New(problem.Detail))
	}
	return nil, errors.Join(texts...)
}
