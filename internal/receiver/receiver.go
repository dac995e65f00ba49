// Package receiver is the front door: it takes the posts of the payment service and answers each one with what is true.
//
// A post climbs a ladder of guards, one rung per line of the protocol, cheap proof before dear work; whoever reaches the
// top is recorded and gets an empty 200, which means durable and nothing less. The one non-obvious decision is what the
// ladder refuses: framing, size and forgery, hard; the content of an authentic post, never. What is odd inside is
// flagged, what cannot become an event is put into quarantine and still acknowledged, because the sender's only other
// answer to us is to send the very same bytes again.
package receiver

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

// Record is where receipts and quarantined posts are kept.
type Record interface {
	// Record returns after the receipt's commit is durable. It fails with ipn.ErrUnavailable once ctx ends, with
	// ipn.ErrOverloaded when too many wait, and with *ipn.RefusedError for a row the database will never take.
	Record(ctx context.Context, r *ipn.Receipt) (ipn.Recorded, error)
	// Quarantine keeps a post; kept is false when it was refused (q.Answered is not 200) and the bounds are reached.
	Quarantine(ctx context.Context, q *ipn.Quarantined) (kept bool, err error)
}

// Config says how the door behaves. Zero values of times and sizes are refused by New.
type Config struct {
	Path          string        // where IPNs are posted, "/ipn"
	MaxBody       int64         // bytes; a larger body is answered 413
	MemoryBudget  int64         // bytes for all posts in flight together, see admission
	AdmissionWait time.Duration // how long a post waits for its share of the budget
	Hold          time.Duration // how long a post is held while the database is away: from its arrival, less the time its body took
	JunkPerSecond float64       // posts that fail verification, per network prefix; 0: unlimited
	JunkBurst     int

	Policy  Policy
	Decoder *ipn.Decoder
	Scope   ipn.Scope
	Proxies ipn.Senders // declared proxies, whose X-Forwarded-For counts

	Returns *Returns // nil: the door takes no shoppers who come back from their bank

	Record     Record
	Registerer prometheus.Registerer // nil: no metrics are shown
	Now        func() time.Time      // nil: time.Now
}

// Receiver is the handler of the public door.
type Receiver struct {
	Config
	admission    *admission
	junk         *flood
	quarantining *semaphore.Weighted
	returns      *flood
	returning    *semaphore.Weighted
	metrics      *metrics
}

// New checks the configuration and returns the door.
func New(c Config) (*Receiver, error) {
	if c.Path == "" || c.Path[0] != '/' || c.MaxBody <= 0 || c.MemoryBudget <= 0 || c.Hold <= 0 || c.Record == nil || c.Decoder == nil {
		return nil, errors.New("receiver: path, maximum body, memory budget, hold, decoder and record must all be set")
	}
	if r := c.Returns; r != nil && (r.Path == "" || tidy(r.Path) == tidy(c.Path) || r.Parse == nil || r.Keep == nil) {
		return nil, errors.New("receiver: the return needs a path of its own, and ways to read and keep")
	}
	if !c.Policy.sound() {
		return nil, errors.New("receiver: modes must be off, observe or enforce, and verification other than off needs secrets")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	m, err := newMetrics(c.Registerer)
	if err != nil {
		return nil, err
	}
	return &Receiver{
		Config: c, metrics: m,
		admission:    newAdmission(c.MemoryBudget, c.AdmissionWait),
		junk:         newFlood(c.JunkPerSecond, c.JunkBurst),
		quarantining: semaphore.NewWeighted(quarantiners),
		returns:      newFlood(returnsPerSecond, returnsBurst),
		returning:    semaphore.NewWeighted(returnsAtOnce),
	}, nil
}

// Handler serves the exact path, in any method, and the return where there is one; it answers everything else 404. Duplicate and trailing slashes are
// tolerated, and nothing is ever redirected: a sender that does not follow would lose its event.
func (rc *Receiver) Handler() http.Handler {
	routes := chi.NewRouter()
	routes.Use(tidySlashes)
	routes.HandleFunc(tidy(rc.Path), rc.serve)
	if rc.Returns != nil {
		routes.HandleFunc(tidy(rc.Returns.Path), rc.comeBack)
	}
	routes.MethodNotAllowed(rc.serve)
	routes.NotFound(func(w http.ResponseWriter, r *http.Request) { rc.answer(w, r, plain(notFound), time.Time{}) })
	return routes
}

// tidySlashes makes //ipn and /ipn/ mean /ipn. Dots are left alone: /x/../ipn is another path, and stays one.
func tidySlashes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chi.RouteContext(r.Context()).RoutePath = tidy(r.URL.Path)
		next.ServeHTTP(w, r)
	})
}

func tidy(path string) string {
	return "/" + strings.Join(strings.FieldsFunc(path, func(c rune) bool { return c == '/' }), "/")
}

// serve takes one post from its arrival to its answer.
func (rc *Receiver) serve(w http.ResponseWriter, r *http.Request) {
	arrived := rc.Now()
	rc.metrics.inflight.Inc()
	defer rc.metrics.inflight.Dec()
	rc.answer(w, r, rc.receive(w, r, arrived), arrived)
}

// receive is the ladder. Each rung either returns the answer or lets the post climb on.
func (rc *Receiver) receive(w http.ResponseWriter, r *http.Request, arrived time.Time) result {
	if isProbe(r) {
		return plain(probed)
	}
	if r.Method != http.MethodPost {
		return plain(wrongMethod)
	}
	peer := rc.peer(r)
	if rc.junk.isOver(peer, arrived) && !rc.Policy.Senders.Contains(peer) {
		return plain(flooding)
	}
	if r.ContentLength > rc.MaxBody {
		return plain(tooLarge)
	}
	share, ok := rc.admission.enter(r.Context(), r.ContentLength, rc.MaxBody)
	if !ok {
		return plain(overloaded)
	}
	defer share.leave()

	reading := rc.Now()
	body, rung := readBody(w, r, rc.MaxBody)
	if rung != nil {
		return plain(rung)
	}
	share.settle(len(body))
	// The hold is for the database: a sender that is slow to tell does not use it up.
	until := arrived.Add(rc.Hold + rc.Now().Sub(reading))
	return rc.take(r, &post{body: body, request: r, peer: peer, arrived: arrived, until: until})
}

// post is a body that was read whole, and where it came from.
type post struct {
	body    []byte
	request *http.Request
	peer    netip.Addr
	arrived time.Time
	until   time.Time // how long it may be held
}

// take verifies, decodes, identifies and records a post. From here on the request's own end no longer matters: a client
// that hangs up must not leave a commit half known.
func (rc *Receiver) take(r *http.Request, p *post) result {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(r.Context()), p.until)
	defer cancel()

	judged := rc.judge(p)
	if judged.refusal != nil {
		rc.junk.count(p.peer, p.arrived)
		return rc.refuse(ctx, p, judged)
	}
	event := rc.Decoder.Decode(p.body, r.Header.Get("Content-Type"))
	event.Problems = append(event.Problems, judged.problems...)
	if judged = rc.judgeAuthKey(event, judged); judged.refusal != nil {
		rc.junk.count(p.peer, p.arrived)
		return rc.refuse(ctx, p, judged)
	}
	if reason, odd := unstorable(event); odd {
		return rc.own(ctx, p, reason, "")
	}
	return rc.record(ctx, p, event, judged.vouched)
}

// unstorable tells the two kinds of body that cannot become an event of their own.
func unstorable(event *ipn.Event) (ipn.Reason, bool) {
	named := false
	for _, f := range event.Fields {
		named = named || f.Name != ""
	}
	if !named {
		return ipn.ReasonNoFields, true
	}
	for _, p := range event.Problems {
		if p.Code == ipn.TooManyFields {
			return ipn.ReasonTooManyFields, true
		}
	}
	return "", false
}

// record keeps the event, held for as long as ctx allows while the database is away.
func (rc *Receiver) record(ctx context.Context, p *post, event *ipn.Event, vouched ipn.Vouched) result {
	receipt := &ipn.Receipt{
		Event: event, Identity: rc.Scope.Identify(event), Digest: ipn.DigestOf(p.body), Content: event.ContentDigest(),
		Vouched: vouched, Raw: p.body, Origin: rc.origin(p),
	}
	recorded, err := rc.Record.Record(ctx, receipt)
	var refused *ipn.RefusedError
	switch {
	case errors.As(err, &refused):
		return rc.own(ctx, p, ipn.ReasonRefusedByDatabase, refused.SQLState)
	case errors.Is(err, ipn.ErrOverloaded):
		return plain(overloaded)
	case err != nil:
		return result{answer: unavailable, cause: err}
	}
	rc.metrics.kept(event, recorded, p.arrived)
	return result{answer: answerTo[recorded.Outcome], fields: []zap.Field{
		zap.Int64("eventId", recorded.EventID),
		zap.String("type", event.Type.Label()),
		zap.String("identity", receipt.Identity.String()[:12]),
		zap.Int64("receipts", recorded.Receipts),
		zap.String("verification", string(vouched)),
		zap.Int("problems", len(event.Problems)),
	}}
}

func (rc *Receiver) origin(p *post) ipn.Origin {
	headers := map[string]string{}
	for _, name := range []string{"Content-Type", "Content-Encoding", "User-Agent", rc.Policy.SignatureHeader, rc.Policy.TimestampHeader} {
		if values := p.request.Header.Values(name); len(values) > 0 {
			headers[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd")
		}
	}
	return ipn.Origin{Headers: headers, Peer: p.peer, ReceivedAt: p.arrived}
}

// peer is the sender's address: the TCP peer, or behind declared proxies the right-most hop that is none of them.
func (rc *Receiver) peer(r *http.Request) netip.Addr {
	direct, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ipn.ClientAddress(direct.Addr(), r.Header.Values("X-Forwarded-For"), rc.Proxies)
}

// answer writes what was found: the status, no body, and one set of fields for the request's log line.
func (rc *Receiver) answer(w http.ResponseWriter, r *http.Request, found result, arrived time.Time) {
	a := found.answer
	rc.metrics.requests.WithLabelValues(a.outcome).Inc()
	server.LogField(r.Context(), append(found.fields, zap.String("outcome", a.outcome))...)
	if found.cause != nil {
		server.LogField(r.Context(), zap.NamedError("cause", found.cause))
	}
	header := w.Header()
	header.Set("Content-Length", "0")
	if a.retryAfter != "" {
		header.Set("Retry-After", a.retryAfter)
	}
	if a == wrongMethod {
		header.Set("Allow", "POST, GET, HEAD")
	}
	if a.closes {
		header.Set("Connection", "close")
	}
	w.WriteHeader(a.status)
	if a.acknowledges {
		rc.metrics.ack.Observe(rc.Now().Sub(arrived).Seconds())
	}
}
