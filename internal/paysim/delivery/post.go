package delivery

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

const (
	lanes    = 16               // posts at a time
	patience = 10 * time.Second // of the world's time, for an answer: what the payment service waits is not known
	maxHead  = 64 << 10         // bytes of an answer's head
	maxBody  = 64 << 10         // bytes of an answer that are read; nobody reads them, but the connection is used again
)

// newClient makes the client that posts, of another where there is one. It follows no redirects: to the payment service they
// are failures. It decompresses nothing, and its transport asks no proxy: what the history tells is what was on the wire.
func newClient(of *http.Client) *http.Client {
	c := http.Client{Timeout: patience, Transport: &http.Transport{
		DisableCompression: true, MaxResponseHeaderBytes: maxHead, MaxIdleConnsPerHost: lanes, IdleConnTimeout: time.Minute,
	}}
	if of != nil {
		c = *of
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// Run posts what is due, in the order in which it became due, several at a time, and plays bursts, until ctx ends. Posts that
// ctx interrupts are attempts that failed. It returns when all of them are over.
func (s *Sender) Run(ctx context.Context) {
	var begun sync.WaitGroup
	defer s.client.CloseIdleConnections()
	defer begun.Wait()
	for ctx.Err() == nil {
		work, changed := s.take()
		if work != nil {
			begun.Go(func() { work(ctx) })
			continue
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// take returns the next thing to do, or nil and what is closed when that may have changed.
func (s *Sender) take() (work func(context.Context), changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.bursts) > 0:
		b := s.bursts[0]
		s.bursts = s.bursts[1:]
		s.playing++
		return func(ctx context.Context) { s.play(ctx, b) }, nil
	case len(s.queue) > 0 && s.posting < lanes:
		a := s.queue[0]
		s.queue[0] = attempt{} // not to be kept by the array behind the slice
		s.queue = s.queue[1:]
		s.posting++
		return func(ctx context.Context) { s.settle(a, s.try(ctx, a)) }, nil
	}
	return nil, s.changed
}

// road is how far a request comes.
type road int

const (
	open road = iota
	cut       // half way through the body
	lost      // nowhere
)

// letter is an attempt as it is about to be posted. Faults write into it, each into its own place, so that several may strike
// at once: a request can have the wrong charset, a bad signature, and be cut.
type letter struct {
	notice notice.Notice
	encode func(notice.Notice) []byte // nil: the bytes that the delivery has already
	key    []byte
	at     time.Time // what the timestamp says: the world's time, for the receiver's clock does not run with the agenda
	road   road
	deaf   bool // the answer is thrown away
	twice  bool
}

// try makes an attempt and returns what it was: one post, or two of the same. The copy of a duplicate travels without the
// faults of the way, so that a request that is lost and duplicated still arrives once.
func (s *Sender) try(ctx context.Context, a attempt) []Attempt {
	l := letter{notice: a.of.Notice, key: s.config.Key(), at: time.Now()}
	for _, f := range a.faults {
		if apply := effects[f.Name].apply; apply != nil {
			apply(&l, a, f)
		}
	}
	first := s.write(a, l)
	if !l.twice {
		s.post(ctx, a.of.URL, l, &first)
		return []Attempt{first}
	}
	second := first
	second.Faults = append(a.names(func(e effect) bool { return e.stage != travelling }), duplicated)
	var both sync.WaitGroup
	both.Go(func() { s.post(ctx, a.of.URL, l, &first) })
	both.Go(func() { s.post(ctx, a.of.URL, letter{}, &second) })
	both.Wait()
	return []Attempt{first, second}
}

// write puts the attempt into the bytes that are posted. The signature is made last, over these bytes, whatever a fault has
// done to them: the wrong charset is not also a wrong signature.
func (s *Sender) write(a attempt, l letter) Attempt {
	body := a.of.body
	if l.encode != nil {
		body = l.encode(l.notice)
	}
	headers := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "User-Agent": {s.config.UserAgent}}
	if len(l.key) > 0 {
		timestamp := notice.Timestamp(l.at)
		headers.Set(s.config.TimestampHeader, timestamp)
		headers.Set(s.config.SignatureHeader, notice.Sign(l.key, timestamp, body))
	}
	return Attempt{Number: a.number, At: s.config.Agenda.Now(), Faults: a.names(func(effect) bool { return true }), Headers: headers, Body: body}
}

// names lists the faults that touch a post of the attempt, of those that are meant; the name of the fault that added its
// delivery is the first.
func (a attempt) names(meant func(effect) bool) []string {
	var names []string
	if a.of.Origin != "" {
		names = append(names, a.of.Origin)
	}
	for _, f := range a.faults {
		if f.Name != duplicated && meant(effects[f.Name]) { // that one touches the copy
			names = append(names, f.Name)
		}
	}
	return names
}

// post sends the attempt as far as the letter says, and writes the answer into it. The status of an answer that is thrown
// away stays: it tells that the receiver has the IPN, and will see it again.
func (s *Sender) post(ctx context.Context, to string, l letter, done *Attempt) {
	begun := time.Now()
	var err error
	switch l.road {
	case open:
		done.Status, err = s.exchange(ctx, to, done)
	case cut:
		err = s.hangUp(ctx, to, done)
	case lost:
		err = errors.New("the request was lost on its way")
	}
	if l.deaf && err == nil {
		err = errors.New("the answer was lost on its way")
	}
	done.Took = time.Since(begun)
	done.Acknowledged = err == nil && done.Status == http.StatusOK
	if err != nil {
		done.Error = err.Error()
	}
}

// exchange posts an attempt and returns the status of the answer. Its body is read as far as the connection is worth it, and
// passed over: the documented acknowledgement is the status alone.
func (s *Sender) exchange(ctx context.Context, to string, a *Attempt) (int, error) {
	request, err := newRequest(ctx, to, a)
	if err != nil {
		return 0, err
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return 0, reason(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxBody)) // the head has told all
	return answer.StatusCode, nil
}

// newRequest makes a request of an attempt, whose headers and body are as the history has them.
func newRequest(ctx context.Context, to string, a *Attempt) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(a.Body))
	if err != nil {
		return nil, reason(err)
	}
	request.Header = a.Headers.Clone()
	return request, nil
}

// reason takes the URL out of an error: the delivery tells it already.
func reason(err error) error {
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// hangUp sends an attempt's head and half of its body and closes the connection. It dials by itself: net/http would send
// nothing of a short request that it cannot send whole.
func (s *Sender) hangUp(ctx context.Context, to string, a *Attempt) error {
	request, err := newRequest(ctx, to, a)
	if err != nil {
		return err
	}
	var wire bytes.Buffer
	if err := request.Write(&wire); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := s.dial(ctx, request.URL)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience)) // a connection without one is closed by the receiver
	if _, err := conn.Write(wire.Bytes()[:wire.Len()-(len(a.Body)+1)/2]); err != nil {
		return err
	}
	return errors.New("hung up half way through the body")
}

// dial connects as the client would, with the authorities that it trusts.
func (s *Sender) dial(ctx context.Context, to *url.URL) (net.Conn, error) {
	var config *tls.Config
	if transport, known := s.client.Transport.(*http.Transport); known && transport.TLSClientConfig != nil {
		config = transport.TLSClientConfig.Clone()
		config.NextProtos = nil // HTTP/1.1 is what is written
	}
	port := cmp.Or(to.Port(), map[string]string{"http": "80", "https": "443"}[to.Scheme])
	address := net.JoinHostPort(to.Hostname(), port)
	if to.Scheme == "https" {
		return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}
