package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/ask"
)

// eventPaging says how a list is turned over: the rest of the table of filters.
type eventPaging struct {
	Order  string `name:"order" placeholder:"TIME" help:"Which time the list goes by: occurred, when it is not set, or received."`
	Limit  string `name:"limit" default:"50" placeholder:"N" help:"How many to list at most."`
	Cursor string `name:"cursor" placeholder:"CURSOR" help:"Go on where an earlier list ended, which told the cursor; with the same filters."`
}

type listEvents struct {
	history
	eventPaging `embed:""`
}

func (c *listEvents) values() url.Values {
	values := url.Values{}
	askedBy(c.EventFilters, values, ask.Filters())
	askedBy(c.eventPaging, values, ask.Filters())
	return values
}

func (c *listEvents) check(m machine) error {
	if err := c.history.check(m); err != nil {
		return err
	}
	_, err := ask.Read(c.values())
	return byFlag(err, ask.Filters())
}

func (c *listEvents) run(ctx context.Context, p *program) (int, error) {
	return c.opening(ctx, p, func(o *opened) error {
		body, query, err := c.query(p, c.values(), o.key)
		if err != nil {
			return err
		}
		method, path := http.MethodGet, "/api/v1/events?"+c.values().Encode()
		if len(query.People) > 0 {
			method, path = http.MethodPost, "/api/v1/events/search"
		}
		answer, err := o.call(ctx, method, path, body)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(p.stdout, answer)
		}
		return printEvents(p.stdout, p.stderr, answer)
	})
}

// printJSON prints an answer of the API, indented.
func printJSON(w io.Writer, answer []byte) error {
	var text bytes.Buffer
	if err := json.Indent(&text, bytes.TrimSpace(answer), "", "  "); err != nil {
		return err
	}
	text.WriteByte('\n')
	_, err := text.WriteTo(w)
	return err
}

// listedEvent is what a line tells of an event.
type listedEvent struct {
	ID                                                         int64
	TransactionType, ReferenceNumber, Amount, Currency, Status string
	OccurredAt                                                 *time.Time
	ReceivedAt                                                 time.Time
	Test                                                       bool
	Receipts, VariantCount                                     int64
	Problems                                                   []json.RawMessage
}

// notes say in words what is out of the ordinary.
func (e *listedEvent) notes() string {
	var notes []string
	for _, n := range []struct {
		holds bool
		text  string
	}{
		{e.Test, "test"},
		{e.OccurredAt == nil, "no date"},
		{e.Receipts > 1, fmt.Sprintf("%d receipts", e.Receipts)},
		{e.VariantCount == 1, "1 variant"},
		{e.VariantCount > 1, fmt.Sprintf("%d variants", e.VariantCount)},
		{len(e.Problems) == 1, "1 problem"},
		{len(e.Problems) > 1, fmt.Sprintf("%d problems", len(e.Problems))},
	} {
		if n.holds {
			notes = append(notes, n.text)
		}
	}
	return strings.Join(notes, ", ")
}

func (e *listedEvent) at() time.Time {
	if e.OccurredAt == nil {
		return e.ReceivedAt
	}
	return *e.OccurredAt
}

func printEvents(w, more io.Writer, answer []byte) error {
	var page struct {
		Items      []listedEvent
		NextCursor string
	}
	if err := json.Unmarshal(answer, &page); err != nil {
		return err
	}
	if len(page.Items) == 0 {
		_, err := fmt.Fprintln(w, "no event matches")
		return err
	}
	rows := [][]string{{"ID", "TIME", "TYPE", "REFERENCE", "AMOUNT", "", "STATUS", "NOTES"}}
	for i := range page.Items {
		e := &page.Items[i]
		rows = append(rows, []string{fmt.Sprint(e.ID), e.at().UTC().Format("2006-01-02 15:04:05"), e.TransactionType, e.ReferenceNumber, e.Amount, e.Currency, e.Status, e.notes()})
	}
	if err := printTable(w, rows, 0, 4); err != nil {
		return err
	}
	if page.NextCursor != "" {
		_, err := fmt.Fprintf(more, "there are more: add --cursor=%s\n", page.NextCursor)
		return err
	}
	return nil
}

// printTable prints rows in columns, those whose numbers are given flush right. Texts are a stranger's: what a terminal would
// act upon is taken out.
func printTable(w io.Writer, rows [][]string, right ...int) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = printable(cell)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	flush := make(map[int]bool, len(right))
	for _, i := range right {
		flush[i] = true
	}
	var out strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if flush[i] {
				cell, gap = gap+cell, ""
			}
			line.WriteString(cell + gap + "  ")
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}
