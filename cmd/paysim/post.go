package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// postTimeout is how long an answer may take: what the payment service waits is not known.
const postTimeout = 10 * time.Second

// posting is what send and load have in common: where IPNs go, what they are signed with, and what they are made of.
type posting struct {
	url                              string
	signingKeyFile                   string
	signatureHeader, timestampHeader string
	userAgent, nodeField             string
	seed                             uint64

	key    *signingKey
	client *http.Client
	now    func() time.Time
}

// define enters the flags that send and load share.
func (p *posting) define(set *flag.FlagSet) {
	set.StringVar(&p.url, "url", defaultIPNURL, "`URL` to post to.")
	set.StringVar(&p.signingKeyFile, "signing-key-file", "", "`FILE` with the key to sign with; \"none\" signs nothing. When it is not set, the secret that an ipn-receiver in development has made up on this machine.")
	set.StringVar(&p.signatureHeader, "signature-header", "X-IPN-Signature", "`NAME` of the header with the signature.")
	set.StringVar(&p.timestampHeader, "timestamp-header", "X-IPN-Timestamp", "`NAME` of the header with the timestamp that is signed.")
	set.StringVar(&p.userAgent, "user-agent", "paysim/1", "`NAME` under which IPNs come.")
	set.StringVar(&p.nodeField, "node-field", "serviceNode", "`NAME` of the field that tells the data centre.")
	set.Uint64Var(&p.seed, "seed", 0, "`NUMBER` that what is made up follows from; each further IPN takes the next one. Without one, another each time.")
}

// check settles the key, the seed and the client. Redirects are not followed: to the payment service they are failures.
func (p *posting) check(of *program) error {
	var err error
	p.key, err = of.openSigningKey(p.signingKeyFile)
	p.now = of.now
	if p.seed == 0 {
		p.seed = uint64(of.now().UnixNano())
	}
	p.client = &http.Client{
		Timeout:       postTimeout,
		Transport:     &http.Transport{MaxIdleConnsPerHost: maxConnections, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return errors.Join(checkURL("url", p.url), err)
}

// sample is the i-th IPN of a type, dated now. Number and seed together choose it: two runs with one seed send the same.
func (p *posting) sample(transactionType string, i int) notice.Notice {
	return notice.Sample(transactionType, p.seed+uint64(i), p.now(), p.nodeField)
}

// post sends one IPN and returns the status of the answer. Its error shows no more of the URL than the host, for its
// query may hold a token.
func (p *posting) post(ctx context.Context, body []byte) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("make the request: %w", withoutURL(err))
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("User-Agent", p.userAgent)
	if key := p.key.current(); len(key) > 0 {
		timestamp := notice.Timestamp(p.now())
		request.Header.Set(p.timestampHeader, timestamp)
		request.Header.Set(p.signatureHeader, notice.Sign(key, timestamp, body))
	}
	response, err := p.client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("post to %s: %w", request.URL.Host, withoutURL(err))
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10) // so that the connection can be used again
	return response.StatusCode, nil
}

// withoutURL takes the URL out of an error of net/http.
func withoutURL(err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		return inner.Err
	}
	return err
}
