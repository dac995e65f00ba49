package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

type showEvent struct {
	history
	ID     int64  `arg:"" help:"The event, by its number in the list."`
	Reveal bool   `help:"Show personal fields too. That is kept in the audit, with the reason."`
	Reason string `placeholder:"TEXT" help:"Why they are revealed; kept in the audit."`
}

func (c *showEvent) check(m machine) error {
	switch {
	case c.ID < 1:
		return errors.New("ID: name an event by its number, as \"ipn-receiver events list\" tells it")
	case c.Reveal && strings.TrimSpace(c.Reason) == "":
		return errors.New("--reveal: say why with --reason TEXT; it is kept in the audit")
	case c.Reason != "" && !c.Reveal:
		return errors.New("--reason: say what for with --reveal; without it nothing is revealed and nothing kept in the audit")
	}
	return c.history.check(m)
}

func (c *showEvent) run(ctx context.Context, p *program) (int, error) {
	return c.opening(ctx, p, func(o *opened) error {
		method, path, body := http.MethodGet, fmt.Sprintf("/api/v1/events/%d", c.ID), []byte(nil)
		if c.Reveal {
			var err error
			if body, err = json.Marshal(map[string]string{"reason": c.Reason}); err != nil {
				return err
			}
			method, path = http.MethodPost, path+"/reveal"
		}
		answer, err := o.call(ctx, method, path, body)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(p.stdout, answer)
		}
		return printTree(p.stdout, answer)
	})
}

// printTree prints a JSON object as lines of names and values, in its order, what belongs together under its name.
func printTree(w io.Writer, object []byte) error {
	in := json.NewDecoder(bytes.NewReader(object))
	in.UseNumber()
	value, err := readOrdered(in)
	if err != nil {
		return err
	}
	var out strings.Builder
	writeTree(&out, value, 0)
	_, err = io.WriteString(w, out.String())
	return err
}

// members are an object in its order.
type members []member

type member struct {
	name  string
	value any // members, a list of any, or a scalar
}

// readOrdered reads a value of JSON without losing the order of names.
func readOrdered(in *json.Decoder) (any, error) {
	token, err := in.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		found := members{}
		for in.More() {
			name, err := in.Token()
			if err != nil {
				return nil, err
			}
			value, err := readOrdered(in)
			if err != nil {
				return nil, err
			}
			found = append(found, member{name.(string), value})
		}
		_, err = in.Token()
		return found, err
	case json.Delim('['):
		found := []any{}
		for in.More() {
			value, err := readOrdered(in)
			if err != nil {
				return nil, err
			}
			found = append(found, value)
		}
		_, err = in.Token()
		return found, err
	}
	return token, nil
}

func writeTree(out *strings.Builder, value any, depth int) {
	indent := strings.Repeat("  ", depth)
	switch v := value.(type) {
	case members:
		width := 0
		for _, m := range v {
			if isScalar(m.value) {
				width = max(width, len(printable(m.name)))
			}
		}
		for _, m := range v {
			name := printable(m.name)
			if isScalar(m.value) {
				fmt.Fprintf(out, "%s%-*s  %s\n", indent, width, name, scalar(m.value))
				continue
			}
			fmt.Fprintf(out, "%s%s\n", indent, name)
			writeTree(out, m.value, depth+1)
		}
	case []any:
		for i, item := range v {
			if i > 0 {
				fmt.Fprintf(out, "%s-\n", indent)
			}
			writeTree(out, item, depth)
		}
	default:
		fmt.Fprintf(out, "%s%s\n", indent, scalar(v))
	}
}

// isScalar tells whether a value stands in one line: lists of words do too.
func isScalar(value any) bool {
	switch v := value.(type) {
	case members:
		return len(v) == 0
	case []any:
		for _, item := range v {
			if !isScalar(item) {
				return false
			}
		}
	}
	return true
}

func scalar(value any) string {
	switch v := value.(type) {
	case nil, members:
		return "-"
	case []any:
		texts := make([]string, len(v))
		for i, item := range v {
			texts[i] = scalar(item)
		}
		return cmp.Or(strings.Join(texts, ", "), "-")
	}
	return printable(fmt.Sprint(value))
}
