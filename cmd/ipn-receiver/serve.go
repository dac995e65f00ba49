package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
	"github.com/ipn-receiver/ipn-receiver/internal/receiver"
	"github.com/ipn-receiver/ipn-receiver/internal/server"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

// service is the running program. Its parts stand in the order in which an IPN meets them; they are closed in reverse.
//
//	public door -> receiver -> recorder -> store -> PostgreSQL
//	                 ledger, targets <- dispatch <-^
//	the payment service's configuration <- configurer
//	private door -> finance, metrics, health -^
type service struct {
	*Settings
	program  *program
	log      *zap.Logger
	registry *prometheus.Registry
	keys     *keys
	tokens   *tokens
	people   ipn.PersonKey // zero: people cannot be searched for

	public, private *server.Listener
	database        *database
	store           *store.Store
	recorder        *store.Recorder
	handlers        []dispatch.Handler
	closers         []func() // of the handlers
	books           *ledger.Reader
	configurer      *configurer
	migrated        chan struct{} // closed when the schema is up to date
}

// serve takes IPNs in until ctx ends, then drains. Requests that had to be cut are no error: nothing that was
// acknowledged is lost, and who got no answer sends again.
func serve(ctx context.Context, p *program, settings *Settings) error {
	log := newLogger(&settings.Process, p.stderr)
	defer func() { _ = log.Sync() }()
	if unknown := unknownVariables(p.environ); len(unknown) > 0 {
		log.Warn("variables that look like settings but are none; are they misspelt? \"ipn-receiver serve --help\" tells all settings", zap.Strings("variables", unknown))
	}
	s := &service{Settings: settings, program: p, log: log, registry: prometheus.NewRegistry(), migrated: make(chan struct{})}
	err := s.run(ctx)
	if errors.Is(err, server.ErrCut) {
		log.Warn("stopped with requests in flight")
		return nil
	}
	return err
}

func (s *service) run(ctx context.Context) (err error) {
	if err := s.openDoors(); err != nil {
		return err
	}
	defer s.public.Close()
	defer s.private.Close()

	if s.database, err = openDatabase(ctx, &s.DatabaseSetting, s.log); err != nil {
		return err
	}
	defer s.database.close(s.log)
	if s.keys, err = openKeys(s.Settings); err != nil {
		return err
	}
	s.tokens = openTokens(&s.PrivateAccess)
	if s.people, err = personKey(&s.PeopleSearch, &s.DatabaseSetting, s.Production()); err != nil {
		return err
	}
	if err := s.openStore(ctx); err != nil {
		return err
	}
	defer briefly(s.store.Close)
	defer briefly(s.books.Close)
	defer s.closeHandlers()
	dispatcher, err := s.openDispatch()
	if err != nil {
		return err
	}
	if s.configurer, err = s.openConfigurer(); err != nil {
		return err
	}
	edge, err := s.edge()
	if err != nil {
		return err
	}

	// The background outlives ctx: what is in flight when the signal comes is still recorded.
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var working sync.WaitGroup
	working.Go(func() { s.recorder.Run(background) })
	working.Go(func() { s.prepareSchema(background) })
	working.Go(func() { s.keys.watch(background, s.log) })
	working.Go(func() { s.tokens.watch(background, s.log) })
	working.Go(func() { s.database.keep(background, s.log) })
	serving, rest := context.WithCancel(ctx) // ends with the signal: what comes in meanwhile waits in the log
	working.Go(func() { s.dispatch(serving, dispatcher) })
	working.Go(func() { s.keepConfigured(serving) })
	defer working.Wait()
	defer stop()
	defer rest() // a door that fails ends the program without a signal

	return edge.Run(ctx, s.program.stopNow)
}

// briefly calls what may wait for a server that hangs, and does not wait for it: the process ends anyway.
func briefly(shut func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		shut()
	}()
	select {
	case <-done:
	case <-time.After(time.Second):
	}
}

// openDoors binds both addresses, so that a port that is taken stops the program before anything else is started.
func (s *service) openDoors() (err error) {
	s.public, err = server.Listen(s.Listen, server.Limits{
		Connections: s.MaxConnections, PerAddress: s.MaxConnectionsPerAddress, Exempt: s.TrustedProxies.Contains,
	})
	if err != nil {
		return fmt.Errorf("open the public door, %s: %w", name("listen"), err)
	}
	if s.private, err = server.Listen(s.PrivateListen, server.Limits{Connections: 256}); err != nil {
		s.public.Close()
		return fmt.Errorf("open the private door, %s: %w", name("private-listen"), err)
	}
	return nil
}

func (s *service) openStore(ctx context.Context) (err error) {
	s.store, err = store.Open(context.WithoutCancel(ctx), store.Config{
		DSN: s.database.dsn, PoolSize: s.PoolSize, Registerer: s.registry,
		QuarantineRows: int64(s.QuarantineMaxRows), QuarantineBytes: int64(s.QuarantineMaxBytes),
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name("database-url"), err)
	}
	if s.books, err = ledger.OpenReader(context.WithoutCancel(ctx), s.database.dsn, booksConnections); err != nil {
		return err
	}
	s.recorder, err = store.NewRecorder(s.store, 0, s.registry)
	return err
}

// openDispatch prepares the handlers; nil when this process serves none.
func (s *service) openDispatch() (*dispatch.Dispatcher, error) {
	if !s.Dispatch.On() {
		return nil, nil
	}
	if err := s.addHandlers(); err != nil {
		return nil, err
	}
	if err := s.registry.Register(s.store.NewHandlerCollector(s.handlerNames())); err != nil {
		return nil, fmt.Errorf("register the handlers' metrics: %w", err)
	}
	return dispatch.New(dispatch.Config{
		Handlers: s.handlers, Listen: func(ctx context.Context, wake func()) error { return s.store.Listen(ctx, s.handlerNames(), wake) }, Interval: s.ClaimInterval, Poll: s.PollInterval,
		Log: s.log.Named("handlers"), Registerer: s.registry,
	})
}

// dispatch serves the handlers from when the schema is there until ctx ends.
func (s *service) dispatch(ctx context.Context, dispatcher *dispatch.Dispatcher) {
	select {
	case <-ctx.Done():
	case <-s.migrated:
		if dispatcher != nil {
			s.checkConnections(ctx)
			dispatcher.Run(ctx)
		}
	}
}

// keepConfigured keeps the payment service's configuration as desired, from when the schema is there until ctx ends.
func (s *service) keepConfigured(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.migrated:
		s.configurer.run(ctx)
	}
}

func (s *service) closeHandlers() {
	for _, shut := range s.closers {
		shut()
	}
}

// booksConnections are those for questions about the books.
const booksConnections = 4

// checkConnections warns when the handlers, each of which holds a connection, leave too few for the rest. What comes in is
// recorded all the same: its connections are kept from the start.
func (s *service) checkConnections(ctx context.Context) {
	if len(s.handlers) == 0 {
		return
	}
	allowed, err := s.store.ConnectionsAllowed(ctx)
	needed := len(s.handlers) + s.PoolSize + booksConnections + store.OwnConnections
	if err == nil && needed > allowed {
		s.log.Error("the database allows fewer connections than this process may need: raise max_connections, or have fewer targets",
			zap.Int("allowed", allowed), zap.Int("needed", needed), zap.Int("handlers", len(s.handlers)))
	}
}

// edge puts the handlers behind the doors.
func (s *service) edge() (*server.Server, error) {
	health := server.NewHealth(
		server.Check{Name: "schema", Probe: s.schemaReady},
		server.Check{Name: "database", Probe: s.store.Ready},
	)
	door, err := newDoor(s.Settings, s.keys, doorRecord{s.recorder, s.store}, s.registry)
	if err != nil {
		return nil, err
	}
	private, err := s.privateHandler(health, door)
	if err != nil {
		return nil, err
	}
	public := s.observed("public", nil, func(r chi.Router) {
		intake := door.Handler()
		r.Mount("/", intake)
		r.NotFound(intake.ServeHTTP) // the door answers for whatever comes in by it, invented verbs too
		r.MethodNotAllowed(intake.ServeHTTP)
	})
	doors := []server.Door{
		{Name: "public", Listener: s.public, Handler: public, WriteTimeout: s.Hold + 10*time.Second},
		{Name: "private", Listener: s.private, Handler: private},
	}
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		server.NewBuildInfo(server.ReadBuild()), server.NewConnections(doors...))
	return &server.Server{Doors: doors, Log: s.log, Health: health, DrainDelay: s.DrainDelay, DrainTimeout: s.DrainTimeout}, nil
}

// doorRecord is what the public door keeps things in.
type doorRecord struct {
	*store.Recorder
	*store.Store
}

// newDoor makes the receiver that the settings describe.
func newDoor(s *Settings, k *keys, record doorRecord, registerer prometheus.Registerer) (*receiver.Receiver, error) {
	return receiver.New(receiver.Config{
		Path: s.Path, MaxBody: int64(s.MaxBody), MemoryBudget: int64(s.MemoryBudget), AdmissionWait: s.AdmissionWait, Hold: s.Hold,
		JunkPerSecond: float64(s.JunkRate), JunkBurst: s.JunkBurst,
		Policy: receiver.Policy{
			Mode:            receiver.Mode(s.VerificationMode()),
			Signature:       ipn.Signature{Zone: s.SignatureZone.Location, Window: s.SignatureWindow},
			Secrets:         k.current,
			SignatureHeader: s.SignatureHeader, TimestampHeader: s.TimestampHeader,
			AuthKey: s.AuthKey,
			Senders: s.Senders.Senders, SendersMode: s.sendersMode(),
		},
		Decoder: s.decoder(), Scope: ipn.Scope{Endpoint: s.Endpoint, NodeFields: s.NodeFields}, Proxies: s.TrustedProxies.Senders,
		Returns: s.returns(record.AddTransferReturn), Record: record, Registerer: registerer,
	})
}

// returns is where shoppers come back from their bank; nil in production while nobody has said where to send them on to.
func (s *Settings) returns(keep func(context.Context, ipn.TransferReturn) error) *receiver.Returns {
	if s.Production() && s.Return == nil {
		return nil
	}
	return &receiver.Returns{Path: s.ReturnPath, Then: s.Return, Keep: keep, Parse: func(query url.Values) (ipn.TransferReturn, error) {
		r, err := payments.ParseBankTransferReturn(query)
		return ipn.TransferReturn{Status: r.Status, OrderID: r.OrderID, TransactionID: r.TransactionID, MerchantTransactionID: r.MerchantTransactionID}, err
	}}
}

// sendersMode is off while no senders are set: an empty list is no list.
func (s *Settings) sendersMode() receiver.Mode {
	if s.Senders.Len() == 0 {
		return receiver.Off
	}
	return receiver.Mode(s.SendersMode)
}

func (s *Settings) decoder() *ipn.Decoder {
	return &ipn.Decoder{Zone: s.Zone.Location, MaxFields: s.MaxFields}
}

// observed wraps a door's routes so that each request leaves one log line.
func (s *service) observed(door string, quiet []string, routes func(chi.Router)) http.Handler {
	observer := &server.Observer{
		Log: s.log.Named(door), Quiet: quiet, Proxy: s.TrustedProxies.Contains,
		Route: func(r *http.Request) string {
			if route := chi.RouteContext(r.Context()); route != nil {
				return route.RoutePattern()
			}
			return ""
		},
	}
	router := chi.NewRouter()
	router.Use(observer.Wrap)
	routes(router)
	return router
}

// schemaReady is the readiness check of prepareSchema.
func (s *service) schemaReady(context.Context) error {
	select {
	case <-s.migrated:
		return nil
	default:
		return errors.New("the schema is being brought up to date; the log tells if it cannot be")
	}
}

// prepareSchema migrates the database, trying for as long as it is away, then says that all is ready and keeps the
// months of payloads made ahead.
func (s *service) prepareSchema(ctx context.Context) {
	for pause := 500 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		start := time.Now()
		err := store.Migrate(ctx, s.database.dsn, s.log.Sugar().Infof)
		if err == nil {
			s.log.Info("schema is up to date", zap.Duration("took", time.Since(start)))
			break
		}
		if ctx.Err() != nil {
			return
		}
		s.log.Warn("the schema cannot be brought up to date; trying again", zap.Error(err), zap.Duration("pause", pause))
		if !sleep(ctx, pause) {
			return
		}
	}
	close(s.migrated)
	s.announce(ctx)
	for sleep(ctx, 12*time.Hour) {
		if err := s.store.MakeMonths(ctx, time.Now()); err != nil {
			s.log.Error("cannot make the months of payloads that are due; payloads_default takes them meanwhile", zap.Error(err))
		}
	}
}

// sleep waits and reports whether ctx still goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
