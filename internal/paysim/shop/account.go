package shop

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// accountPage is the merchant's side: the clock, the notification configuration, the portal.
type accountPage struct {
	Now           time.Time
	Speed         float64 // simulated seconds in one of the world's
	Speeds        []choice
	Configuration paysim.Configuration
	Configured    bool     // false: there is no Configuration
	Flags         []string // all of them, by name
	Portal        []string // the types that no flag switches
	On            []string // those of them that the portal has switched on
	Currencies    []string
	ControlURL    string // of the second door; "": not shown
}

// speeds are those that the page offers, as the clock reads them.
var speeds = []choice{{"1", "as the world"}, {"60", "a minute a second"}, {"3600", "an hour a second"}, {"86400", "a day a second"}}

// account shows the merchant's side. The flags stand in the order of their names, to be found.
func (s *shop) account(*http.Request) (page, error) {
	p := accountPage{Now: s.now(), Speed: s.agenda.Speed(), Speeds: speeds, Currencies: currencies, ControlURL: s.controlURL(), On: s.service.PortalTypes()}
	p.Configuration, p.Configured = s.service.Configuration()
	for _, name := range notice.Types() {
		if flag := notice.Flag(name); flag != "" {
			p.Flags = append(p.Flags, flag)
		} else {
			p.Portal = append(p.Portal, name)
		}
	}
	slices.Sort(p.Flags)
	return page{name: "account", title: "Account", data: p, here: accountPath}, nil
}

// accountPath is where the acts of the page lead back to.
const accountPath = "/shop/account"

const longestAdvance = 400 * 24 * time.Hour // a little over a year: renewals are worked off one by one

// moveClock advances the clock, so that all that becomes due on the way has happened and its IPNs
// have been posted when the page is answered, or sets its speed. Both are bounded, above and below:
// a year holds some hundred events, a century would keep the person waiting.
func (s *shop) moveClock(r *http.Request) (string, error) {
	to := back(r, accountPath)
	if text := r.PostFormValue("speed"); text != "" {
		speed, err := strconv.ParseFloat(text, 64)
		if err != nil || !(speed > 0 && speed <= agenda.Fastest) { // written so that NaN is refused, too
			return "", wrong("The speed must be a number above 0, at most a million.")
		}
		s.agenda.SetSpeed(speed)
		return to, nil
	}
	d, err := time.ParseDuration(r.PostFormValue("advance"))
	if err != nil || d <= 0 || d > longestAdvance {
		return "", wrong("The clock goes forward, by 400 days at most, such as 24h.")
	}
	return to, s.sender.Advance(r.Context(), d)
}

// switchType does what the portal does for types that have no send flag: a merchant cannot, by the
// API.
func (s *shop) switchType(r *http.Request) (string, error) {
	return accountPath, s.service.SwitchPortalType(r.PostFormValue("type"), r.PostFormValue("on") != "")
}

// payout pays out what was earned in a currency, or fails to, as the form says; refused when
// nothing was earned.
func (s *shop) payout(r *http.Request) (string, error) {
	_, err := s.service.Payout(r.PostFormValue("currency"), r.PostFormValue("fails") != "")
	return accountPath, err
}
