package payments

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Headers and paths of specification sections 4, 5 and 9. Slashes at the end are as it shows them.
const (
	interfaceVersion = "2.0" // of the version header, on retrieve and delete of the configuration only
	keyHeader        = "Idempotency-Key"

	asJSON = "application/json"
	asXML  = "application/xml"

	prefix            = "/services/2/"
	transactionPath   = "/services/2/transactions"
	refundPath        = "/services/2/transactions/refund/"
	pendingRefundPath = "/services/2/transactions/pending-refund/"
	subscriptionPath  = "/services/2/recurring/subscriptions"
	transferPath      = "/services/2/alt-transactions/"
	configurationPath = "/services/2/notification-config/"
)

// call is one operation on its way.
type call struct {
	operation string // what it does, for errors
	method    string
	path      string // after the base URL, escaped
	versioned bool   // carries the version header
	repeat    repetition
	key       string // idempotency-key; "" sends none
	body      []byte // nil: none
	format    string // of the body; "" is asJSON
	unread    bool   // the status of a success tells all
	quoted    bool   // uses a tax quote
}

// quoting is a request that may carry a tax quote.
type quoting interface{ quotes() bool }

// create posts a request that creates something: it keeps one idempotency-key over all attempts.
func create[T any](ctx context.Context, c *Client, operation, path, key string, request any) (T, error) {
	if key == "" {
		key = newKey()
	}
	if len(key) > 64 || !isPlain(key) {
		var none T
		return none, &FieldError{Field: "idempotency-key", Reason: "must be up to 64 letters, digits and hyphens"}
	}
	return send[T](ctx, c, call{operation: operation, method: http.MethodPost, path: path, repeat: always, key: key}, request)
}

// newKey returns an idempotency-key that nobody else has.
func newKey() string { return rand.Text() }

// change puts a request, which no key makes safe to repeat.
func change[T any](ctx context.Context, c *Client, operation, path string, request any) (T, error) {
	return send[T](ctx, c, call{operation: operation, method: http.MethodPut, path: path, repeat: carefully}, request)
}

// read gets something.
func read[T any](ctx context.Context, c *Client, operation, path string) (T, error) {
	return ask[T](ctx, c, call{operation: operation, method: http.MethodGet, path: path, repeat: always})
}

// send writes a request as JSON and asks.
func send[T any](ctx context.Context, c *Client, k call, request any) (T, error) {
	body, err := json.Marshal(request)
	if err != nil {
		var none T
		return none, fmt.Errorf("%s: write the request: %w", k.operation, err)
	}
	k.body = body
	if q, ok := request.(quoting); ok {
		k.quoted = q.quotes()
	}
	return ask[T](ctx, c, k)
}

// ask performs a call and reads the answer. With an error, the answer is the zero one.
func ask[T any](ctx context.Context, c *Client, k call) (T, error) {
	var answer, none T
	reply, err := c.exchange(ctx, k)
	if err != nil {
		return none, err
	}
	if err := decode(reply.body, &answer); err != nil {
		return none, fmt.Errorf("%s: %w", k.operation, err)
	}
	return answer, nil
}

// reply is an answer whose status is a success.
type reply struct {
	status int
	body   []byte
}

// attempt asks once, within the timeout. Its errors are a *silence, an *Error, ErrUnreadable, or why nothing was sent.
func (c *Client) attempt(ctx context.Context, k call) (*reply, error) {
	limited, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	request, err := c.request(limited, k)
	if err != nil {
		return nil, err
	}
	response, err := c.config.Transport.RoundTrip(request) // a client would follow redirects
	if err != nil {
		return nil, unanswered(k.operation, err)
	}
	defer func() { _ = response.Body.Close() }() // read as far as it is wanted
	return c.receive(k, response)
}

// request makes the request of one attempt.
func (c *Client) request(ctx context.Context, k call) (*http.Request, error) {
	username, password, err := c.config.Credentials()
	if err != nil {
		return nil, fmt.Errorf("%s: read the credentials: %w", k.operation, err)
	}
	request, err := http.NewRequestWithContext(ctx, k.method, c.config.BaseURL+k.path, bytes.NewReader(k.body))
	if err != nil { // its text would quote the address
		return nil, fmt.Errorf("%s: the address cannot be used", k.operation)
	}
	request.SetBasicAuth(username, password)
	format := k.format
	if format == "" {
		format = asJSON
	}
	request.Header.Set("Content-Type", format)
	request.Header.Set("Accept", asJSON)
	request.Header.Set("User-Agent", c.config.UserAgent)
	if k.versioned {
		request.Header.Set(c.config.VersionHeader, interfaceVersion)
	}
	if k.key != "" {
		request.Header.Set(keyHeader, k.key)
	}
	return request, nil
}

// receive reads an answer within its bound. What is no success becomes an *Error, whatever its body is like.
func (c *Client) receive(k call, response *http.Response) (*reply, error) {
	success := response.StatusCode >= 200 && response.StatusCode <= 299
	if response.StatusCode == http.StatusSwitchingProtocols {
		return nil, refusal(k, response, nil) // the body is the bare connection
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, c.config.MaxBody+1))
	switch tooLong := int64(len(body)) > c.config.MaxBody; {
	case !success && tooLong:
		return nil, refusal(k, response, nil)
	case !success:
		return nil, refusal(k, response, body)
	case k.unread:
		return &reply{status: response.StatusCode}, nil
	case err != nil:
		return nil, unanswered(k.operation, err)
	case tooLong:
		return nil, fmt.Errorf("%s: %w: it is longer than %d bytes", k.operation, ErrUnreadable, c.config.MaxBody)
	}
	return &reply{status: response.StatusCode, body: body}, nil
}
