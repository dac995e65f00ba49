package targets

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/cloudevent"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// commonNames are what a target of either kind may say.
var commonNames = []string{"name", "filter", "fields", "start", "concurrency", "timeout", "retry"}

// longestName leaves room for the kind in front of it, which makes the name of the handler.
const longestName = 40

// names are the names that targets of one kind have taken, with the line of each.
type names map[string]int

var (
	nameForm     = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
)

// readCommon reads what every target says out of its members.
func readCommon(in map[string]node, taken names) Common {
	return Common{
		Name:        readName(in["name"], taken),
		Filter:      readFilter(in["filter"]),
		Fields:      readFields(in["fields"]),
		FromNow:     in["start"].word("now", "beginning") == "now",
		Concurrency: in["concurrency"].count(defaultConcurrency, 1, 256),
		Timeout:     in["timeout"].duration(defaultTimeout, 100*time.Millisecond, time.Minute),
		Retry:       readRetry(in["retry"]),
	}
}

func readName(n node, taken names) string {
	name := n.text()
	switch line, twice := taken[name]; {
	case name == "":
		n.fail("every target needs a name: its cursor, metrics and logs stand under it")
	case !nameForm.MatchString(name) || len(name) > longestName:
		n.fail("write 1 to %d small letters and digits, with single '-' between them", longestName)
	case twice:
		n.fail("the name %q is taken by the target in line %d: its cursor stands under it, so each needs its own", name, line)
	default:
		taken[name] = n.line
	}
	return name
}

func readRetry(n node) Retry {
	in := n.object("attempts", "first", "longest", "age")
	r := Retry{
		Attempts: in["attempts"].count(0, 1, 1000),
		First:    in["first"].duration(0, 100*time.Millisecond, 24*time.Hour),
		Longest:  in["longest"].duration(0, 100*time.Millisecond, 7*24*time.Hour),
		Age:      in["age"].duration(0, time.Second, 90*24*time.Hour),
	}
	if r.Longest > 0 && r.Longest < r.First {
		n.fail("longest (%s) is shorter than first (%s): raise it, or lower first", short(r.Longest), short(r.First))
	}
	return r
}

func readFields(n node) []string {
	var fields []string
	for _, item := range n.list() {
		name := item.text()
		same := func(other string) bool { return strings.EqualFold(name, other) }
		switch {
		case name == "" || len(name) > 128:
			item.fail("write the name of a field, at most 128 bytes")
		case cloudevent.Forbidden(name):
			item.fail("the field %s is a secret between the sender and the receiver, and is given to nobody: take it out", name)
		case slices.ContainsFunc(fields, same):
			item.fail("the field stands in the list twice: take one out")
		}
		fields = append(fields, name)
	}
	return fields
}

func readFilter(n node) cloudevent.Filter {
	in := n.object("types", "families", "currencies", "minAmount", "maxAmount", "test")
	f := cloudevent.Filter{
		Types:      readTypes(in["types"]),
		Families:   readFamilies(in["families"]),
		Currencies: readCurrencies(in["currencies"]),
		MinAmount:  readAmount(in["minAmount"]),
		MaxAmount:  readAmount(in["maxAmount"]),
		Orders:     cloudevent.Orders(in["test"].word("live", "test", "both")),
	}
	if !f.MinAmount.IsZero() && !f.MaxAmount.IsZero() && f.MinAmount.Decimal().GreaterThan(f.MaxAmount.Decimal()) {
		in["minAmount"].fail("is more than maxAmount, so that no event passes")
	}
	return f
}

// readTypes returns canonical names. A type that the receiver does not know cannot be chosen by name, only by the
// family unknown: its name may be a misspelling, and then nothing would ever be sent.
func readTypes(n node) []string {
	var types []string
	for _, item := range n.list() {
		name := item.text()
		kind, known := ipn.LookupType(name)
		if !known {
			item.fail("there is no transaction type %q%s", name, hint(name, typeNames()))
			continue
		}
		types = append(types, kind.Name)
	}
	return types
}

func typeNames() []string {
	var all []string
	for _, kind := range ipn.Types() {
		all = append(all, kind.Name)
	}
	return all
}

// readFamilies takes the families that the table of types knows, and unknown.
func readFamilies(n node) []ipn.Family {
	known := []string{string(ipn.FamilyUnknown)}
	for _, kind := range ipn.Types() {
		if !slices.Contains(known, string(kind.Family)) {
			known = append(known, string(kind.Family))
		}
	}
	var families []ipn.Family
	for _, item := range n.list() {
		name := item.text()
		if !slices.Contains(known, name) {
			item.fail("there is no family %q%s", name, hint(name, known))
			continue
		}
		families = append(families, ipn.Family(name))
	}
	return families
}

func readCurrencies(n node) []string {
	var currencies []string
	for _, item := range n.list() {
		code := item.text()
		if !currencyForm.MatchString(code) {
			item.fail("write a currency as its ISO 4217 code, such as EUR")
			continue
		}
		currencies = append(currencies, code)
	}
	return currencies
}

func readAmount(n node) ipn.Money {
	amount, err := ipn.ParseMoney(n.text())
	if err != nil || amount.Negative() {
		n.fail(`write an amount without sign and currency, such as "10.00": amounts of events are magnitudes`)
		return ipn.Money{}
	}
	return amount
}
