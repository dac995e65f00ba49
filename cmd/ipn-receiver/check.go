package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
	"github.com/ipn-receiver/ipn-receiver/internal/handlers/targets"
)

// name is how errors call a setting: by its flag and its variable.
func name(flag string) string { return "--" + flag + " (" + variable(flag) + ")" }

// variable is the variable of a flag: IPN_MAX_BODY of max-body.
func variable(flag string) string {
	return "IPN_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// complaints gathers what is wrong with the settings, so that all is told at once.
type complaints []error

// unless adds a complaint about a setting when it does not hold.
func (c *complaints) unless(holds bool, flag, format string, args ...any) {
	if !holds {
		*c = append(*c, fmt.Errorf("%s: %s", name(flag), fmt.Sprintf(format, args...)))
	}
}

// check reads the secrets, fills in what depends on the machine, and returns all
// that is wrong, each with its setting and how to mend it. Nothing but files of
// secrets, the tokens file and the targets file is opened.
func (s *Settings) check(machine machine) error {
	var c complaints
	for _, load := range []func() error{s.PrivateAccess.load, s.PeopleSearch.load, s.SigningKeys.load, s.Proof.load} {
		if err := load(); err != nil {
			c = append(c, err)
		}
	}
	if err := s.DatabaseSetting.check(machine); err != nil {
		c = append(c, err)
	}
	s.checkDoors(&c)
	s.checkReturn(&c)
	s.checkAccess(&c)
	s.checkProof(&c)
	s.checkNumbers(&c)
	s.checkDispatching(&c)
	s.PaymentService.check(&c)
	s.WantedIPNs.check(&c, s.PaymentsURL != "", &s.PublicDoor)
	c.unless(s.ConfigureInterval >= time.Second, "configure-interval", "set at least 1s, such as 15m")
	s.checkProduction(&c)
	return errors.Join(c...)
}

func (s *Settings) checkDoors(c *complaints) {
	checkAddress(c, "listen", s.Listen)
	checkAddress(c, "private-listen", s.PrivateListen)
	c.unless(s.Listen != s.PrivateListen || strings.HasSuffix(s.Listen, ":0"), "private-listen",
		"both doors have one address: give the private one a port of its own")
	c.unless(isPlainPath(s.Path), "path", "%q is no plain path: write it as /ipn, without a slash at the end", s.Path)
}

func isPlainPath(text string) bool {
	return strings.HasPrefix(text, "/") && path.Clean(text) == text && !strings.ContainsAny(text, "?#%{} ;")
}

// checkReturn reads the page that shoppers are sent on to.
func (s *Settings) checkReturn(c *complaints) {
	c.unless(isPlainPath(s.ReturnPath), "return-path", "%q is no plain path: write it as /return, without a slash at the end", s.ReturnPath)
	c.unless(s.ReturnPath != s.Path, "return-path", "IPNs come in there: give it another path than %s", name("path"))
	for _, method := range s.TransferMethods {
		c.unless(strings.TrimSpace(method) != "", "transfer-methods", "one of them is empty: write them as SOFORT,IDEAL")
		c.unless(method != "CC", "transfer-methods", "CC is cards, which have no return: leave it out")
	}
	if s.ReturnTo == "" {
		return
	}
	to, err := url.Parse(s.ReturnTo)
	c.unless(err == nil && (to.Scheme == "https" || to.Scheme == "http") && to.Host != "" && to.User == nil && to.Fragment == "", "return-to",
		"write it as https://shop.example/thanks, without user and without #")
	s.Return = to
}

func checkAddress(c *complaints, flag, address string) {
	_, port, err := net.SplitHostPort(address)
	n, portErr := strconv.Atoi(port)
	c.unless(err == nil && portErr == nil && n >= 0 && n <= 65535, flag, "%q is no address: write HOST:PORT, such as 127.0.0.1:8080 or :8080", address)
}

// isLoopback tells whether an address is reached from this machine only. An
// empty host is every interface.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// checkAccess holds the private door closed: who forgets to say who may ask has it on this machine only.
func (s *Settings) checkAccess(c *complaints) {
	c.unless(s.APIToken.IsZero() || len(s.APIToken.Reveal()) >= 16, "api-token", "too short: set a random one of at least 16 characters")
	c.unless(s.Guarded() || isLoopback(s.PrivateListen), "tokens-file",
		"needed, or %s, or %s, because the private door is reached from other machines; or set --private-listen to 127.0.0.1:8081", name("api-token"), name("sso-user-header"))
	if s.SSOUserHeader == "" {
		const alone = "means nothing without %s: set that too, or leave this out"
		c.unless(s.SSORoleHeader == "", "sso-role-header", alone, name("sso-user-header"))
		c.unless(s.SSODefaultRole == "", "sso-default-role", alone, name("sso-user-header"))
		c.unless(s.SSOProxies.Len() == 0, "sso-proxies", alone, name("sso-user-header"))
		return
	}
	checkSSOHeader(c, "sso-user-header", s.SSOUserHeader)
	if s.SSORoleHeader != "" {
		checkSSOHeader(c, "sso-role-header", s.SSORoleHeader)
	}
	c.unless(!strings.EqualFold(s.SSOUserHeader, s.SSORoleHeader), "sso-role-header", "one header cannot hold user and role: name two")
	c.unless(s.SSORoleHeader != "" || s.SSODefaultRole != "", "sso-default-role", "needed without %s: else nobody has a role", name("sso-role-header"))
	c.unless(s.SSOProxies.Len() > 0, "sso-proxies", "needed: without the proxy's addresses anybody could write its headers")
	for _, network := range strings.Split(s.SSOProxies.String(), ",") {
		c.unless(!strings.HasSuffix(network, "/0"), "sso-proxies", "%s is everybody: name the proxy's own addresses", network)
	}
}

// checkSSOHeader refuses names that mean something else already.
func checkSSOHeader(c *complaints, flag, header string) {
	c.unless(httpguts.ValidHeaderFieldName(header), flag, "%q is no name of a header", header)
	for _, taken := range []string{"Authorization", "Cookie", "Forwarded", "Host", "Origin", "X-Forwarded-For"} {
		c.unless(!strings.EqualFold(header, taken), flag, "%s says something else: have the proxy use a header of its own", taken)
	}
}

func (s *Settings) checkProof(c *complaints) {
	mode := s.VerificationMode()
	c.unless(mode != "enforce" || s.hasKey(), "verification",
		"enforce without a key would refuse every IPN: set %s or %s", name("signing-secrets"), name("data-protection-key"))
	exposed := s.Production() || !isLoopback(s.Listen)
	c.unless(mode == "enforce" || s.AcceptUnverified || !exposed, "verification",
		"anyone who finds the public door could make up payments: set %s and leave verification at auto, or type --accept-unverified if you mean it", name("signing-secrets"))
	c.unless(s.SendersMode != "enforce" || s.Senders.Len() > 0, "senders-mode",
		"enforce without senders would refuse every IPN: set %s", name("senders"))
	c.unless(httpguts.ValidHeaderFieldName(s.SignatureHeader), "signature-header", "%q is no name of a header", s.SignatureHeader)
	c.unless(httpguts.ValidHeaderFieldName(s.TimestampHeader), "timestamp-header", "%q is no name of a header", s.TimestampHeader)
	c.unless(!strings.EqualFold(s.SignatureHeader, s.TimestampHeader), "timestamp-header", "one header cannot hold signature and timestamp: name two")
	c.unless(s.SignatureWindow > 0, "signature-window", "must be more than 0, such as 72h")
}

func (s *Settings) checkNumbers(c *complaints) {
	for _, atLeast := range []struct {
		flag          string
		value, lowest int
	}{
		{"pool-size", s.PoolSize, 1}, {"max-fields", s.MaxFields, 100},
		{"max-connections", s.MaxConnections, 1}, {"max-connections-per-address", s.MaxConnectionsPerAddress, 1},
		{"junk-rate", s.JunkRate, 1}, {"junk-burst", s.JunkBurst, 1}, {"quarantine-max-rows", s.QuarantineMaxRows, 1},
		{"batch-size", s.BatchSize, 1}, {"retry-attempts", s.RetryAttempts, 1}, {"dispute-days", s.DisputeDays, 0},
	} {
		c.unless(atLeast.value >= atLeast.lowest, atLeast.flag, "%d is too few: set at least %d", atLeast.value, atLeast.lowest)
	}
	c.unless(s.BatchSize <= 10_000, "batch-size", "set at most 10000: a batch is one transaction")
	c.unless(s.MaxBody >= 64<<10, "max-body", "too small: an IPN may have 64KiB")
	c.unless(s.MaxBody <= 64<<20, "max-body", "too large: set at most 64MiB; real IPNs have a few KiB")
	c.unless(s.MemoryBudget >= s.MaxBody, "memory-budget", "too small: one IPN of %s must fit", name("max-body"))
	c.unless(s.QuarantineMaxBytes >= s.MaxBody, "quarantine-max-bytes", "too small: one IPN of %s must fit", name("max-body"))
	c.unless(s.Hold >= 500*time.Millisecond && s.Hold <= time.Minute, "hold", "set it between 500ms and 1m: a commit takes its time, and who sent the IPN hangs up sooner or later")
	c.unless(s.AdmissionWait >= 0 && s.AdmissionWait <= time.Minute, "admission-wait", "set it between 0s and 1m")
	c.unless(s.DrainTimeout > 0, "drain-timeout", "must be more than 0, such as 10s")
	c.unless(s.DrainDelay >= 0 && s.DrainDelay < s.DrainTimeout, "drain-delay", "must be shorter than %s, of which it is a part", name("drain-timeout"))
}

// checkDispatching reads the targets file too, whose complaints name file, line and field.
func (s *Settings) checkDispatching(c *complaints) {
	c.unless(s.ClaimInterval > 0 && s.ClaimInterval <= time.Second, "claim-interval", "set it above 0s and up to 1s, such as 2ms")
	c.unless(s.PollInterval >= 10*time.Millisecond && s.PollInterval <= time.Minute, "poll-interval", "set it between 10ms and 1m, such as 1s")
	c.unless(s.RetryFirst > 0 && s.RetryFirst <= s.RetryLongest, "retry-first", "must be more than 0 and at most %s", name("retry-longest"))
	c.unless(s.RetryLongest <= 24*time.Hour, "retry-longest", "set at most 24h")
	c.unless(s.RetryAge > 0, "retry-age", "must be more than 0, such as 72h")
	source, err := url.Parse(s.EventSource)
	c.unless(err == nil && s.EventSource != "" && source.User == nil, "event-source", "%q is no URI reference: write it as /ipn-receiver or https://shop.example/ipn", s.EventSource)
	if s.TargetsFile == "" {
		return
	}
	if s.Targets, err = targets.Read(s.TargetsFile); err != nil {
		*c = append(*c, fmt.Errorf("%s: %w", name("targets-file"), err))
	}
}

func (s *Settings) checkProduction(c *complaints) {
	if !s.Production() {
		return
	}
	c.unless(!s.UsesEmbedded(), "database-url", "needed in production, where the private PostgreSQL is refused: nobody backs it up")
	c.unless(s.Verification != "off", "verification", "off is refused in production: leave it at auto, and set %s", name("signing-secrets"))
	c.unless(s.Guarded(), "tokens-file", "needed in production, or %s, or %s", name("api-token"), name("sso-user-header"))
}

// check reads the database URL and fills in the directories.
func (d *DatabaseSetting) check(m machine) error {
	if err := d.load(); err != nil {
		return err
	}
	var c complaints
	c.unless(!d.DatabaseURL.IsZero() || d.UsesEmbedded(), "database-url", "needed, because %s is off", name("embedded"))
	if d.UsesEmbedded() {
		c.fill(&d.DataDir, "data-dir", m, embeddedpg.DefaultDir)
		c.fill(&d.CacheDir, "cache-dir", m, embeddedpg.DefaultCacheDir)
	}
	return errors.Join(c...)
}

// fill sets a directory that nobody named to the one usual on the machine.
func (c *complaints) fill(dir *string, flag string, m machine, usual func(int, func(string) string) (string, error)) {
	if *dir != "" {
		return
	}
	found, err := usual(m.uid, m.getenv)
	c.unless(err == nil, flag, "needed: %v", err)
	*dir = found
}

// machine is what the settings depend on besides what was typed.
type machine struct {
	uid       int // 0 is root, who has directories of the system
	lookupEnv func(string) (string, bool)
}

func (m machine) getenv(variable string) string {
	value, _ := m.lookupEnv(variable)
	return value
}
