package main

import (
	"net/url"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/targets"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// Settings are all settings of the receiver, by subject. Each field that carries
// help is a flag, named like the field, and a variable, IPN_ and the flag's name
// in capitals; a variable that is empty counts as not set, and a flag goes
// before its variable. A field that ends in File names a file to read the secret
// from. Settings are complete and consistent once check has returned nil.
type Settings struct {
	PublicDoor      `group:"public"`
	PrivateAddress  `group:"private"`
	PrivateAccess   `group:"private"`
	PeopleSearch    `group:"private"`
	DatabaseSetting `group:"database"`
	Meaning         `group:"meaning"`
	SigningKeys     `group:"proof"`
	Proof           `group:"proof"`
	Network         `group:"network"`
	Intake          `group:"intake"`
	Dispatching     `group:"handlers"`
	PaymentService  `group:"configuration"`
	WantedIPNs      `group:"configuration"`
	Configuring     `group:"configuration"`
	Process         `group:"process"`
}

// PublicDoor is where the payment service sends to.
type PublicDoor struct {
	Listen string `default:"127.0.0.1:8080" help:"Address of the public door, where IPNs come in. The default is reached from this machine only; ':8080' from everywhere."`
	Path   string `default:"/ipn" help:"Path of the public door that takes IPNs: that of the URL told to the payment service."`

	ReturnPath      string   `default:"/return" help:"Path of the public door where shoppers come back from their bank: that of the returnUrl of bank transfers. What they bring is kept as a claim, which proves nothing."`
	ReturnTo        string   `placeholder:"URL" help:"Your page that they are sent on to, with the query they brought. Not set: a plain page says thank you; in production there is no return path then."`
	TransferMethods []string `default:"SOFORT" help:"Values of paymentMethod in IPNs that are bank transfers with a return."`

	// Return is the page as read; check fills it.
	Return *url.URL `kong:"-"`
}

// PrivateAddress is where operators and finance ask.
type PrivateAddress struct {
	PrivateListen string `default:"127.0.0.1:8081" help:"Address of the private door: page, API, metrics and health. Never open it to the internet."`
}

// PrivateAccess says who may ask there.
type PrivateAccess struct {
	TokensFile   string `type:"path" placeholder:"FILE" help:"File with who may ask: a line for each token, with name, role and the token's SHA-256. Make one with: ipn-receiver tokens make. Read again when it changes. This, an API token or single sign-on is needed in production, and wherever the private door is not on loopback."`
	APIToken     Secret `help:"One token without a file, named api, with the role admin: at least 16 random characters, sent as 'Authorization: Bearer TOKEN' or typed at the page."`
	APITokenFile string `type:"path" placeholder:"FILE" help:"File with the API token."`

	SSOUserHeader  string   `name:"sso-user-header" placeholder:"NAME" help:"Header in which a proxy of your own names the user it has signed in, such as X-Forwarded-User. It is believed from the proxy's addresses only."`
	SSORoleHeader  string   `name:"sso-role-header" placeholder:"NAME" help:"Header in which that proxy names the user's groups: the first that is called viewer, finance, operator or admin is the role."`
	SSODefaultRole string   `name:"sso-default-role" enum:",viewer,finance,operator,admin" default:"" placeholder:"ROLE" help:"Role of users for whom the proxy names none: viewer, finance, operator or admin. Not set: they may nothing."`
	SSOProxies     Networks `name:"sso-proxies" placeholder:"NETWORK,..." help:"Addresses and networks of that proxy alone: whoever sends from there is whom they say they are."`

	// Tokens are those of the file and the API token; check fills them.
	Tokens     access.Tokens `kong:"-"`
	tokensText string
}

// Guarded tells whether anybody is asked who they are.
func (a *PrivateAccess) Guarded() bool {
	return a.TokensFile != "" || !a.APIToken.IsZero() || a.SSOUserHeader != ""
}

// PeopleSearch is what events are found with by a person.
type PeopleSearch struct {
	SearchKey     Secret `help:"Key that events are found with by e-mail address or name, at least 16 random characters: the index holds hashes made with it, and no names. After a change replay the handler people: ipn-receiver handlers replay people --all. Not set: one is made up in development beside the private PostgreSQL, else people cannot be searched for."`
	SearchKeyFile string `type:"path" placeholder:"FILE" help:"File with the search key."`

	// PersonKey is the search key as read; check fills it.
	PersonKey ipn.PersonKey `kong:"-"`
}

// DatabaseSetting is where everything is kept.
type DatabaseSetting struct {
	DatabaseURL     Secret `name:"database-url" help:"PostgreSQL to keep everything in, such as postgres://ipn@db.internal/ipn?sslmode=verify-full. Not set: a private PostgreSQL is started in the data directory (not in production)."`
	DatabaseURLFile string `name:"database-url-file" type:"path" placeholder:"FILE" help:"File with the database URL."`
	PoolSize        int    `default:"10" help:"Connections for questions of finance; recording has a few of its own."`

	Embedded      Switch `default:"on" enum:"on,off" help:"Whether a private PostgreSQL may be started when no database URL is set: on or off."`
	DataDir       string `type:"path" placeholder:"DIR" help:"Where the private PostgreSQL keeps its data. Not set: /var/lib/ipn-receiver for root, else a directory for state in your home."`
	CacheDir      string `type:"path" placeholder:"DIR" help:"Where a fetched PostgreSQL is unpacked. Not set: /var/cache/ipn-receiver for root, else a directory for caches in your home."`
	PostgresBin   string `type:"path" placeholder:"DIR" help:"Directory with the programs initdb and postgres. Not set: looked for in the usual places."`
	PostgresFetch Switch `default:"on" enum:"on,off" help:"Whether a PostgreSQL may be fetched when none is installed: on or off."`
}

// Meaning is what the bytes of an IPN do not say of themselves.
type Meaning struct {
	Endpoint   string   `help:"Name of the account IPNs come from, a part of each event's identity: it keeps two merchants, or sandbox and production, apart in one database. Never change it afterwards."`
	NodeFields []string `default:"serviceNode" help:"Names of the fields that tell the sender's data centre, a part of each event's identity: it keeps sandbox and production apart. Never change them afterwards."`
	Zone       Zone     `default:"America/Los_Angeles" help:"Time zone of dates in IPNs, which name none."`
	MaxFields  int      `default:"1000" help:"Fields one IPN may have. One with more is kept whole in quarantine, to be promoted once this is raised."`
}

// SigningKeys are what signatures are verified with.
type SigningKeys struct {
	SigningSecrets     Secret        `help:"Secrets the payment service may have signed with, separated by commas or newlines, at least 16 characters each: during a rotation the new one and the old one."`
	SigningSecretsFile string        `type:"path" placeholder:"FILE" help:"File with the signing secrets, one per line."`
	SignatureZone      Zone          `default:"UTC" help:"Time zone of the timestamps that are signed."`
	SignatureWindow    time.Duration `default:"72h" help:"Age from which a good signature is marked as stale. Keep it longer than the sender goes on trying: it may re-send with the first timestamp."`

	// Keys are the signing secrets as read; check fills them.
	Keys  []ipn.Secret `kong:"-"`
	texts []string
}

// Proof is what an IPN must show to be believed.
type Proof struct {
	SignatureHeader       string `default:"X-IPN-Signature" help:"Name of the header with the signature."`
	TimestampHeader       string `default:"X-IPN-Timestamp" help:"Name of the header with the timestamp that is signed."`
	DataProtectionKey     Secret `help:"Key of the older proof, the field authKey, at least 16 characters."`
	DataProtectionKeyFile string `type:"path" placeholder:"FILE" help:"File with the data protection key."`
	Verification          string `default:"auto" enum:"auto,off,observe,enforce" help:"What becomes of an IPN whose proof fails: enforce refuses it and keeps a copy in quarantine, observe keeps it and marks it, off does not look. auto is enforce when a secret or key is set, else observe."`
	AcceptUnverified      bool   `help:"Start although nothing proves where IPNs come from: anyone who finds the address can then make up payments."`

	// AuthKey is the data protection key as read; check fills it.
	AuthKey ipn.Secret `kong:"-"`
}

// Network is whom the public door lets in.
type Network struct {
	Senders        Networks `placeholder:"NETWORK,..." help:"Addresses and networks the payment service sends from, such as 192.0.2.7,198.51.100.0/24."`
	SendersMode    string   `default:"observe" enum:"off,observe,enforce" help:"What becomes of an IPN from elsewhere, once senders are set: enforce refuses it, observe marks it, off does not look."`
	TrustedProxies Networks `placeholder:"NETWORK,..." help:"Addresses and networks of your own proxies: only from these X-Forwarded-For is believed."`

	MaxConnections           int `default:"4096" help:"Connections open at a time at the public door; others wait."`
	MaxConnectionsPerAddress int `default:"1024" help:"Connections open at a time from one address (IPv6: one /64); more are closed. Trusted proxies are exempt."`
	JunkRate                 int `default:"50" help:"IPNs a second, from one network, that may fail their proof before more are refused unread."`
	JunkBurst                int `default:"500" help:"How many of those may come at once."`
}

// Intake is how IPNs are taken in.
type Intake struct {
	MaxBody            Size          `default:"1MiB" help:"Largest IPN taken, at least 64KiB; real ones have a few KiB."`
	Hold               time.Duration `default:"4s" help:"How long a sender is made to wait for a database that is away, before it is asked to come again."`
	AdmissionWait      time.Duration `default:"2s" help:"How long an IPN may wait for its turn under load; a part of the hold."`
	MemoryBudget       Size          `default:"64MiB" help:"Memory for the bodies of all IPNs in flight."`
	QuarantineMaxRows  int           `default:"10000" help:"Copies of refused IPNs kept in quarantine at most; more are refused without a copy. What was answered 200 is always kept."`
	QuarantineMaxBytes Size          `default:"100MiB" help:"Bytes of those copies at most."`
}

// Dispatching is how events reach their handlers.
type Dispatching struct {
	Dispatch    Switch `default:"on" enum:"on,off" help:"Whether this process serves handlers: on or off. Of several processes on one database each handler is served by one; the others stand by."`
	Ledger      Switch `default:"on" enum:"on,off" help:"Whether the books are kept: movements, transactions, subscriptions, disputes and totals."`
	TargetsFile string `type:"path" placeholder:"FILE" help:"File (YAML or JSON) with the targets that events are forwarded and published to; deploy/targets.example.yaml teaches it. Read once, at the start."`
	EventSource string `default:"/ipn-receiver" help:"What events name as their source when they are forwarded or published: a URI reference. Never change it afterwards: with the id it tells events apart."`

	BatchSize     int           `default:"256" help:"Events of the log a handler is handed at a time."`
	ClaimInterval time.Duration `default:"2ms" help:"Shortest time between two looks at the log by a handler that is up to date; one that is behind does not wait."`
	PollInterval  time.Duration `default:"1s" help:"Longest time between two looks, for when a notification of the database is lost."`
	RetryAttempts int           `default:"12" help:"Attempts an event gets from a handler before it is buried. A target may have its own."`
	RetryFirst    time.Duration `default:"5s" help:"Wait after the first attempt that failed; each further one waits four times as long."`
	RetryLongest  time.Duration `default:"6h" help:"Longest of those waits."`
	RetryAge      time.Duration `default:"72h" help:"Time after its first failure from which an event is buried at the next one."`
	DisputeDays   int           `default:"14" help:"Days after the opening of a dispute that are shown as its estimated deadline; the payment service tells none."`

	// Targets are the contents of the file; check fills them.
	Targets targets.Targets `kong:"-"`
}

// PaymentService is how the payment service's own API is reached. Its credential can also charge and refund: keep it out of
// the process that faces the internet, and run "ipn-receiver configure" beside it, where that matters.
type PaymentService struct {
	PaymentsURL             string `name:"payments-url" placeholder:"URL" help:"Address of the payment service's API, such as https://api.payments.example. Not set: nothing is asked of it and nothing told."`
	PaymentsCredentials     Secret `help:"Name and password for that API, as NAME:PASSWORD. They can charge and refund: rather set them for \"ipn-receiver configure\" only."`
	PaymentsCredentialsFile string `type:"path" placeholder:"FILE" help:"File with name and password. It is read again whenever it is needed, so that a rotation needs no restart."`
	PaymentsVersionHeader   string `default:"service-version" help:"Name of the header that tells the API's version."`
}

// WantedIPNs are what the payment service shall send, and where.
type WantedIPNs struct {
	PublicURL                     string   `name:"public-url" placeholder:"URL" help:"URL under which the payment service reaches the public door, with the path. Not set: the door's own address, when it is on loopback."`
	Notifications                 []string `default:"all" help:"What it shall send: all, or types and flags, such as CHARGE,REFUND or sendCharge,sendRefund. The others are switched off."`
	EnsureNotificationReceipt     Switch   `default:"off" enum:"on,off" help:"The payment service's setting ensureNotificationReceipt: on or off."`
	ReceiveAffiliateNotifications Switch   `default:"off" enum:"on,off" help:"The payment service's setting receiveAffiliateNotifications: on or off."`
	ConfigurationFile             string   `type:"path" placeholder:"FILE" help:"File (YAML or JSON) with all this in one place; deploy/configuration.example.yaml teaches it. It replaces the four settings above."`

	// Desired is the configuration that these settings describe; check fills it when the payment service's address is set.
	Desired payments.NotificationConfiguration `kong:"-"`
}

// Configuring is what the running receiver does about it.
type Configuring struct {
	Configure         string        `default:"apply" enum:"apply,plan,off" help:"What is done when the payment service's configuration is not as desired: apply replaces it, plan only tells, off does not look."`
	ConfigureInterval time.Duration `default:"15m" help:"Time between two looks, at the start and then again and again: somebody may change it in the portal."`
}

// Process is how the program runs.
type Process struct {
	Env          string        `default:"development" enum:"development,production" help:"development forgives; production refuses the private PostgreSQL, unverified IPNs and a private door that asks nobody who they are."`
	LogFormat    string        `default:"auto" enum:"auto,json,console" help:"json for machines, console for people; auto is console on a terminal, else json."`
	LogLevel     string        `default:"info" enum:"debug,info,warn,error" help:"Least level that is logged."`
	DrainTimeout time.Duration `default:"10s" help:"Time to stop in, from the signal to the end; a second signal stops at once."`
	DrainDelay   time.Duration `default:"0s" help:"Part of that time in which everything is still served after readiness is gone: what a load balancer needs to notice."`
}

// groups are the subjects, in the order of help and README.
var groups = []struct{ key, title string }{
	{"public", "Public door"},
	{"private", "Private door"},
	{"database", "Database"},
	{"meaning", "Meaning"},
	{"proof", "Proof of origin"},
	{"network", "Network"},
	{"intake", "Intake"},
	{"handlers", "Handlers"},
	{"configuration", "Notification configuration"},
	{"process", "Process"},
}

// Production tells whether mistakes are forgiven.
func (p *Process) Production() bool { return p.Env == "production" }

// UsesEmbedded tells whether the private PostgreSQL is to be started.
func (d *DatabaseSetting) UsesEmbedded() bool { return d.DatabaseURL.IsZero() && d.Embedded.On() }

// VerificationMode is off, observe or enforce: what auto means is settled here.
func (s *Settings) VerificationMode() string {
	switch {
	case s.Verification != "auto":
		return s.Verification
	case s.hasKey():
		return "enforce"
	}
	return "observe"
}

// hasKey tells whether anything can be verified at all.
func (s *Settings) hasKey() bool { return len(s.Keys) > 0 || !s.AuthKey.IsZero() }
