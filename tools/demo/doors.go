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
)

// A door is one of the addresses of a program. It follows no redirects: where a form leads is an answer.
type door struct {
	base  string
	token string // of the receiver's API; "" for doors without
}

var browser = &http.Client{
	Timeout:       2 * time.Minute, // a year on the simulator's clock takes a while
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// A refusal is an answer that is not what was asked for.
type refusal struct {
	what   string
	status int
	body   string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s was answered %d: %s", r.what, r.status, r.body)
}

// call sends a JSON body, or none, and reads a JSON answer into answer, or nothing. Any status of 200 and above, below 300,
// is good.
func (d door) call(ctx context.Context, method, path string, body, answer any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write the body: %w", err)
		}
		sent = bytes.NewReader(text)
	}
	response, text, err := d.send(ctx, method, path, "application/json", sent)
	if err != nil {
		return err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return &refusal{method + " " + path, response.StatusCode, strings.TrimSpace(string(text))}
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	return nil
}

// form posts a form as a browser does, and returns where it leads.
func (d door) form(ctx context.Context, path string, fields url.Values) (location string, err error) {
	response, _, err := d.send(ctx, http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(fields.Encode()))
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusSeeOther {
		return "", &refusal{"the form " + path, response.StatusCode, "not a redirect"}
	}
	return response.Header.Get("Location"), nil
}

const longestAnswer = 64 << 20

func (d door) send(ctx context.Context, method, path, kind string, body io.Reader) (*http.Response, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, d.base+path, body)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Content-Type", kind)
	if d.token != "" {
		request.Header.Set("Authorization", "Bearer "+d.token)
	}
	response, err := browser.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	if err != nil {
		return nil, nil, fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	return response, text, nil
}

// answers tells whether a door answers 200 under a path; a door that is shut is no error.
func (d door) answers(path string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		response, _, err := d.send(ctx, http.MethodGet, path, "", nil)
		return err == nil && response.StatusCode == http.StatusOK, nil
	}
}
