package ipn

// class says who may see the value of a field: what the page and the API show of it until somebody reveals it. The zero
// class is the most careful one, so a name without a class, and every name that is not in the table, is taken for personal.
type class uint8

const (
	classPersonal class = iota // who somebody is, where they live, their bank and tax numbers: ***
	className                  // a person's name: M*** S***
	classEmail                 // j***@d***.tld
	classMoney                 // what the books need, references among it: shown, and never searched for card numbers, which some look like
	classNaming                // what things are called, and texts of the merchant's: shown, but for card numbers in it
	classPlace                 // country and state, which taxes need: as classNaming
	classBrand                 // kind of a card: as classNaming
	classLastFour              // of a card number: •••• 1234
	classExpiry                // of a card: hidden
	classCheck                 // whether security code and address were sent and fitted: shown, but for a security code in its place
	classDevice                // what the visit to the checkout left behind: hidden
	classSecret                // keys, and links that open a door: hidden
)

// veil shows as much of a value as its class allows. The value is trimmed and not empty.
func (c class) veil(value string) string {
	switch c {
	case classMoney:
		return value
	case classNaming, classPlace, classBrand:
		return veilCards(value)
	case classCheck:
		return veilCheck(value)
	case className:
		return veilName(value)
	case classEmail:
		return veilEmail(value)
	case classLastFour:
		return veilLastFour(value)
	case classExpiry, classDevice, classSecret:
		return hidden
	}
	return veiled
}

// classOf returns the class of a field by its name as sent.
func classOf(name string) class { return nameTable[lookupName(name)].class }
