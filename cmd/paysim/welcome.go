package main

import (
	"cmp"
	"fmt"
	"strings"
)

// welcome shows a newcomer what to click, and how to buy without clicking.
func (c *serveCommand) welcome(controlURL string) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("")
	say("The payment service's simulator is ready. No money moves, and nothing is kept when it ends: not for production.")
	say("  Shop      %s/   buy, subscribe, refund, dispute, and see the IPNs go out", c.baseURL)
	say("  API       %s/services/2/   %s", c.baseURL, c.credentialsInWords())
	say("  Control   %s/   faults, history, clock, the account's portal", controlURL)
	say("  IPNs      %s", c.destinationInWords())
	say("  Again     --seed %d gives the same numbers and persons in another run", c.options.Seed)
	say("")
	say("Buy something:")
	say("")
	say("%s", c.curl("/services/2/transactions", charge))
	say("")
	say("Have the IPNs of two types sent, and no others:")
	say("")
	say("%s", c.curl("/services/2/notification-config/", fmt.Sprintf(configuration, cmp.Or(c.ipnURL, defaultIPNURL))))
	say("")
	return b.String()
}

// The bodies of the printed requests. The card is a well-known test number; the %q of the configuration is the ipnUrl.
const (
	charge = `{"cardTransactionType":"AUTH_CAPTURE","amount":21.00,"currency":"EUR","softDescriptor":"Blue yarn",` +
		`"cardHolderInfo":{"firstName":"Ann","lastName":"Example","zip":"10115","country":"de"},` +
		`"creditCard":{"cardNumber":"4111111111111111","securityCode":"123","expirationMonth":"12","expirationYear":"2035"}}`
	configuration = `{"ipnDestinations":[{"ipnUrl":%q,"sendCharge":true,"sendRefund":true}],` +
		`"ensureNotificationReceipt":false,"receiveAffiliateNotifications":false}`
)

// curl is a request that can be pasted into a shell. A password that stands in a file is left out: curl asks for it.
func (c *serveCommand) curl(path, body string) string {
	user := c.options.Username
	if c.passwordFile == "" {
		user += ":" + c.options.Password // which stands in the help as well
	}
	return fmt.Sprintf("curl -i -u %s %s%s -H 'Content-Type: application/json' -H 'Accept: application/json' --data-raw '%s'", user, c.baseURL, path, body)
}

// credentialsInWords tells the default password, which is no secret, and of any other only where it is.
func (c *serveCommand) credentialsInWords() string {
	if c.passwordFile == "" {
		return "user " + c.options.Username + ", password " + c.options.Password
	}
	return "user " + c.options.Username + ", the password is in " + c.passwordFile
}

func (c *serveCommand) destinationInWords() string {
	if c.ipnURL == "" {
		return "go nowhere until the API or the portal says where"
	}
	return "go to " + c.ipnURL + ", all types, until the API or the portal says otherwise"
}
