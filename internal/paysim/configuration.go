package paysim

import (
	"errors"
	"maps"
	"slices"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// Configuration is the notification configuration of the account (specification section 2.8). There
// is one, as there is one API user (section 5). The two settings are kept and told and change
// nothing: what they do is not shown.
type Configuration struct {
	Destinations     []Destination // the specification sends a list of one; several are taken, and each gets its IPNs
	EnsureReceipt    bool          // ensureNotificationReceipt
	ReceiveAffiliate bool          // receiveAffiliateNotifications
}

// Destination is where IPNs go and which.
type Destination struct {
	URL  string          // ipnUrl, http or https: whoever replaces the configuration has checked it
	Send map[string]bool // by the flag's name, such as sendCharge; what is missing is false
}

// copy shares nothing with the original.
func (c Configuration) copy() Configuration {
	c.Destinations = slices.Clone(c.Destinations)
	for i := range c.Destinations {
		c.Destinations[i].Send = maps.Clone(c.Destinations[i].Send)
	}
	return c
}

// Configuration returns a copy of the notification configuration; false when none was set, or it
// was deleted.
func (s *Service) Configuration() (Configuration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.configuration == nil {
		return Configuration{}, false
	}
	return s.configuration.copy(), true
}

// ReplaceConfiguration puts another configuration in the place of the one that is there, wholly: a
// flag that is not told is off (specification section 4, rule 7). IPNs that are on their way stay
// on it.
func (s *Service) ReplaceConfiguration(c Configuration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c = c.copy()
	s.configuration = &c
}

// DeleteConfigurations removes all destinations and the configuration (specification section 4,
// rule 8). What the portal has switched on stays on.
func (s *Service) DeleteConfigurations() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.configuration = nil
}

// SwitchPortalType switches one of the eight types on or off that have no send flag, which only the
// portal can do: a merchant gets types that no configuration asked for. They begin switched off.
// 10001 for a type that has a flag, or is none.
func (s *Service) SwitchPortalType(transactionType string, on bool) error {
	if notice.Flag(transactionType) != "" || !notice.Known(transactionType) {
		return Refuse("10001", "transactionType", transactionType)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.portal[transactionType] = on
	return nil
}

// PortalTypes returns the types without a send flag that the portal has switched on, sorted.
func (s *Service) PortalTypes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var on []string
	for name := range s.portal {
		if s.portal[name] {
			on = append(on, name)
		}
	}
	slices.Sort(on)
	return on
}

// ErrNotTaken is what Emit answers when nobody would get the IPN. It tells all reasons: a person
// has to look for hers.
var ErrNotTaken = errors.New("no destination takes this type: there is no configuration, its send flag is off, or the portal has not switched it on")

// Emit sends a sample of any type, laid over with fields, to the destinations that take the type,
// and returns it. Nothing has happened then: the sample tells of a sale that the service does not
// know. A type that is none looks like a CHARGE of another name. It fails with ErrNotTaken when
// there is nobody to send it to, and returns what would have been sent.
func (s *Service) Emit(transactionType string, fields ...notice.Field) (notice.Notice, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := notice.Sample(transactionType, s.random.Uint64(), s.agenda.Now(), s.config.NodeField).With(fields...)
	if s.notify(n) == 0 {
		return n, ErrNotTaken
	}
	return n, nil
}

// notify sends an IPN to each destination whose flag for its type is set (specification section 6),
// or, for the types without a flag, when the portal has switched the type on; all destinations get
// the same. It returns how many these were. A type that nobody takes is gone: switching it on later
// brings nothing back. The lock is held.
func (s *Service) notify(n notice.Notice) int {
	if s.configuration == nil {
		return 0
	}
	flag, sent := notice.Flag(n.Type), 0
	for _, d := range s.configuration.Destinations {
		if flag != "" && d.Send[flag] || flag == "" && s.portal[n.Type] {
			s.config.Send(d.URL, n)
			sent++
		}
	}
	return sent
}
