package payments

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// notificationFlags are the flags of specification section 2.8, in its order.
var notificationFlags = [...]string{
	"sendAuthOnly", "sendCancellation", "sendCancelOnRenewal", "sendCharge", "sendChargeback", "sendChargebackStatusChanged",
	"sendContractChange", "sendCancellationRefund", "sendFailedPayoutTransfer", "sendSubscriptionReminder", "sendDecline",
	"sendRefund", "sendRecurring", "sendCcFailure", "sendSubCcFailure", "sendUnderVendorReview", "sendPaymentUpdate",
	"sendPaymentUpdateFailure", "sendAccountUpdater", "sendPayout", "sendVendorStatusChanged", "sendFraudDecline",
	"sendChargePending", "sendShopperDeleted", "sendVendorReportAvailable", "sendMerchantOnboarded", "sendOfflineOrder",
	"sendCcStatusChanged",
}

// NotificationFlags returns the 28 flags in the order of specification section 2.8. The slice is the caller's.
func NotificationFlags() []string { return slices.Clone(notificationFlags[:]) }

// NotificationConfiguration says which IPNs go where, for the whole account (specification section 2.8).
//
// As JSON it is the body of the interface: every one of the 28 flags is written, because the service sets a flag that it
// does not find to false. Reading takes booleans as true, "true" or "Y", and a single destination that is not in a list.
type NotificationConfiguration struct {
	Destinations     []NotificationDestination
	EnsureReceipt    bool // ensureNotificationReceipt
	ReceiveAffiliate bool // receiveAffiliateNotifications
}

// NotificationDestination is one address that receives IPNs.
type NotificationDestination struct {
	URL  string          // ipnUrl
	Send map[string]bool // by flag, such as sendCharge; what is missing is false. Flags beside the 28 are kept and sent too
}

// Check tells what keeps a configuration from being sent: no destination, one without an absolute http or https URL, one
// that comes twice, or a flag with a name that is none.
func (c NotificationConfiguration) Check() error {
	if len(c.Destinations) == 0 {
		return &FieldError{Field: "ipnDestinations", Reason: "at least one destination is required"}
	}
	seen := make(map[string]bool)
	for _, d := range c.Destinations {
		if err := d.check(); err != nil {
			return err
		}
		if seen[d.key()] {
			return &FieldError{Field: "ipnUrl", Reason: "the same address is given twice"}
		}
		seen[d.key()] = true
	}
	return nil
}

// check tells what is wrong with one destination, without quoting its address: a query can hold a secret.
func (d NotificationDestination) check() error {
	if err := checkURL("ipnUrl", d.URL); err != nil {
		return err
	}
	for name := range d.Send {
		if !isFlag(name) {
			return &FieldError{Field: "ipnDestinations", Reason: "holds a flag whose name is not letters after \"send\""}
		}
	}
	return nil
}

// defaultPorts are left out of addresses, or not.
var defaultPorts = map[string]string{"https": ":443", "http": ":80"}

// key is the address as it is compared: scheme and host in lower case, the default port left out (RFC 3986, sections 6.2.2.1
// and 6.2.3). Path and query are compared as they are, for a receiver may tell /ipn from /ipn/. What is sent is the address
// as it was written.
func (d NotificationDestination) key() string {
	scheme, rest, found := strings.Cut(d.URL, "://")
	if !found {
		return d.URL
	}
	end := len(rest)
	if at := strings.IndexAny(rest, "/?#"); at >= 0 {
		end = at
	}
	host := strings.LastIndexByte(rest[:end], '@') + 1 // a user keeps its letters
	scheme = strings.ToLower(scheme)
	return scheme + "://" + rest[:host] + strings.TrimSuffix(strings.ToLower(rest[host:end]), defaultPorts[scheme]) + rest[end:]
}

// isFlag accepts names the specification does not list: the service may learn new ones.
func isFlag(name string) bool {
	rest, found := strings.CutPrefix(name, "send")
	return found && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' && len(name) <= 64 &&
		strings.Trim(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// flags returns the names to send for a destination: the 28, and after them, sorted, those that only this one has.
func (d NotificationDestination) flags() []string {
	names := NotificationFlags()
	for _, name := range slices.Sorted(maps.Keys(d.Send)) {
		if !slices.Contains(notificationFlags[:], name) {
			names = append(names, name)
		}
	}
	return names
}

// MarshalJSON writes the body of the interface, with all flags explicit.
func (c NotificationConfiguration) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Destinations     []NotificationDestination `json:"ipnDestinations"`
		EnsureReceipt    bool                      `json:"ensureNotificationReceipt"`
		ReceiveAffiliate bool                      `json:"receiveAffiliateNotifications"`
	}{append([]NotificationDestination{}, c.Destinations...), c.EnsureReceipt, c.ReceiveAffiliate})
}

// MarshalJSON writes ipnUrl and then every flag, in the order of specification section 2.8.
func (d NotificationDestination) MarshalJSON() ([]byte, error) {
	address, err := json.Marshal(d.URL)
	if err != nil {
		return nil, fmt.Errorf("write ipnUrl: %w", err)
	}
	text := append([]byte(`{"ipnUrl":`), address...)
	for _, name := range d.flags() {
		text = fmt.Appendf(text, `,%q:%t`, name, d.Send[name])
	}
	return append(text, '}'), nil
}

// UnmarshalJSON reads what the service answers. Members it does not know are passed over, but without ipnDestinations only an
// empty object is a configuration: anything else is an answer to another question.
func (c *NotificationConfiguration) UnmarshalJSON(text []byte) error {
	var wire struct {
		Destinations     *destinations `json:"ipnDestinations"`
		EnsureReceipt    flexibleBool  `json:"ensureNotificationReceipt"`
		ReceiveAffiliate flexibleBool  `json:"receiveAffiliateNotifications"`
	}
	if err := json.Unmarshal(text, &wire); err != nil {
		return err
	}
	*c = NotificationConfiguration{EnsureReceipt: bool(wire.EnsureReceipt), ReceiveAffiliate: bool(wire.ReceiveAffiliate)}
	if wire.Destinations != nil {
		c.Destinations = *wire.Destinations
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || len(members) > 0 {
		return mistyped[destinations]("ipnDestinations")
	}
	return nil
}

// UnmarshalJSON reads ipnUrl and every member whose name begins with send.
func (d *NotificationDestination) UnmarshalJSON(text []byte) error {
	var wire map[string]json.RawMessage
	if err := json.Unmarshal(text, &wire); err != nil {
		return err
	}
	*d = NotificationDestination{Send: make(map[string]bool, len(wire))}
	for name, value := range wire {
		var err error
		switch {
		case name == "ipnUrl":
			err = json.Unmarshal(value, &d.URL)
		case isFlag(name):
			var on flexibleBool
			err = json.Unmarshal(value, &on)
			d.Send[name] = bool(on)
		}
		if err != nil {
			return mistyped[NotificationDestination](name)
		}
	}
	return nil
}

// destinations reads a list, or the one destination that should have been in one.
type destinations []NotificationDestination

func (d *destinations) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		*d = make(destinations, 1)
		return json.Unmarshal(text, &(*d)[0])
	}
	return json.Unmarshal(text, (*[]NotificationDestination)(d))
}
