package ipn

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
)

// Identity tells an event from every other: equal for all receipts of one event, whatever their field order,
// percent-encoding and delivery id.
type Identity [sha256.Size]byte

// String returns the identity in lower-case hex.
func (i Identity) String() string { return hex.EncodeToString(i[:]) }

// Digest is the SHA-256 of some content.
type Digest [sha256.Size]byte

// String returns the digest in lower-case hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// DigestOf returns the SHA-256 of the raw bytes of a body.
func DigestOf(body []byte) Digest { return sha256.Sum256(body) }

// Scope keeps apart what may carry the same references without being the same event: sandbox and production, and two
// merchants behind two endpoints.
type Scope struct {
	Endpoint   string   // names the door the IPN came in by
	NodeFields []string // names of the sender's data-centre fields; the first that is not empty counts
}

// Identify returns the event's identity: SHA-256 over endpoint, node, transactionType, testMode and the parts that the type's
// rule asks for. Every part is preceded by its length, so no two lists of parts read the same. If a part the rule
// needs is empty or contradicted, the whole content takes its place: merging two events loses one, while telling one
// event twice is seen and mended.
func (s Scope) Identify(e *Event) Identity {
	w := make(keyWriter, 0, 512)
	w.part(s.Endpoint)
	w.part(s.node(e))
	w.part(strings.ToUpper(e.Facts.TransactionType) + testMark(e))
	key, rule := e.Type.key.choose(e)
	w.part(rule)
	if key == nil {
		content := e.ContentDigest()
		w.part(string(content[:]))
	}
	for i := range key {
		w.part(key[i].text(e))
	}
	return sha256.Sum256(w)
}

// testMark keeps a test order apart from a live one with the same references: neither may stand for the other. No name of a
// type holds a NUL.
func testMark(e *Event) string {
	if e.Facts.Test {
		return "\x00test"
	}
	return ""
}

// node returns the value of the first node field that is not blank. Should the sender repeat that field, the smallest
// value counts, whatever their order.
func (s Scope) node(e *Event) string {
	for _, name := range s.NodeFields {
		node := ""
		for _, value := range e.Fields.All(name) {
			value = strings.TrimSpace(value)
			if value != "" && (node == "" || value < node) {
				node = value
			}
		}
		if node != "" {
			return node
		}
	}
	return ""
}

// ContentDigest is the SHA-256 over the decoded pairs in a fixed order, without ipnId, which names the delivery: equal
// for two bodies that say the same, whatever their order and percent-encoding. Fields beyond the decoder's limit are
// not in it.
func (e *Event) ContentDigest() Digest {
	order := make([]*Field, 0, len(e.Fields))
	size := 0
	for i := range e.Fields {
		if f := &e.Fields[i]; !sameName(f.Name, "ipnId") {
			order = append(order, f)
			size += len(f.Name) + len(f.Value) + 2*binary.MaxVarintLen16
		}
	}
	slices.SortFunc(order, compareFields)
	w := make(keyWriter, 0, size)
	for _, f := range order {
		w.part(f.Name)
		w.part(f.Value)
	}
	return sha256.Sum256(w)
}

// compareFields orders by length before text, which decides most comparisons without reading a name. Stored digests
// hang on it: it never changes.
func compareFields(a, b *Field) int {
	if len(a.Name) != len(b.Name) {
		return len(a.Name) - len(b.Name)
	}
	if order := strings.Compare(a.Name, b.Name); order != 0 {
		return order
	}
	return strings.Compare(a.Value, b.Value)
}

// keyWriter collects the parts of a key.
type keyWriter []byte

func (w *keyWriter) part(text string) {
	*w = binary.AppendUvarint(*w, uint64(len(text)))
	*w = append(*w, text...)
}

// A keyRule is how a type's events are told apart: one or more lists of parts, of which the first complete one counts.
// The zero rule always falls back to the content.
type keyRule []keyParts

type keyParts struct {
	name  string // goes into the key, so that two lists never give the same one
	parts []keyPart
}

type keyPart struct {
	id       nameID
	optional bool // may be empty
	form     keyForm
}

// keyForm says how a value is brought to the form in which resends agree.
type keyForm int

const (
	asSent keyForm = iota // without surrounding space
	folded                // without letter case
	amount                // the magnitude in canonical form; as sent when malformed
)

// The rules. A reference names an invoice and not an event, so it is never the key alone: the type goes in beside it.
var (
	// One event of a kind per invoice; the type tells a pending charge from the charge.
	keyReference = keyRule{{"ref", needs("referenceNumber")}}
	// Partial refunds share the original's reference; each has its own reversal number, or at least amount and minute.
	keyReversal = keyRule{
		{"rev", needs("referenceNumber", "reversalRefNum")},
		{"rev-amount", append(needs("referenceNumber", "transactionDate"), keyPart{id: mustName("reversalAmount"), form: amount})},
	}
	// A dispute changes repeatedly, and a status may return.
	keyDispute = keyRule{{"dispute", append(needs("reversalRefNum", "transactionDate"), keyPart{id: mustName("cbStatus"), form: folded})}}
	// Cancelled, reactivated, cancelled again.
	keySubscription = keyRule{{"sub", needs("subscriptionId", "transactionDate")}}
	// Several changes of plan under one charge.
	keyPlan = keyRule{{"plan", needs("subscriptionId", "oldContractId", "newContractId", "transactionDate")}}
	// Several tries and reminders per cycle.
	keyFailedCycle   = keyRule{{"cycle", append(needs("subscriptionId", "transactionDate"), may("failureReason")...)}}
	keyReminderCycle = keyRule{{"cycle", append(needs("subscriptionId", "transactionDate"), may("untilDate")...)}}
	// Types with an id of their own.
	keyUpdaterLine  = keyRule{{"own", needs("accountUpdaterLineId")}}
	keyOfflineOrder = keyRule{{"own", needs("offlineOrderId")}}
	keyPayout       = keyRule{{"own", needs("payoutId")}}
	keyBankChange   = keyRule{{"own", append(needs("accountId", "responseDate"),
		may("originalPublicAccountNumber", "originalPublicRoutingNumber", "updatedPublicRoutingNumber")...)}}
	// No own id is known.
	keyAccount = keyRule{{"acc", append(needs("accountId", "transactionDate"), may("subscriptionId")...)}}
	// Nothing is documented: the content is the key.
	keyContent = keyRule(nil)
)

func needs(names ...string) []keyPart {
	parts := make([]keyPart, len(names))
	for i, name := range names {
		parts[i] = keyPart{id: mustName(name)}
	}
	return parts
}

func may(names ...string) []keyPart {
	parts := needs(names...)
	for i := range parts {
		parts[i].optional = true
	}
	return parts
}

// choose returns the first complete list of parts and its name, or nil and "hash".
func (r keyRule) choose(e *Event) ([]keyPart, string) {
	for i := range r {
		if r[i].complete(e) {
			return r[i].parts, r[i].name
		}
	}
	return nil, "hash"
}

func (k keyParts) complete(e *Event) bool {
	for _, part := range k.parts {
		if !part.optional && e.value(part.id) == "" {
			return false
		}
	}
	return true
}

// text returns the value as it goes into the key.
func (p keyPart) text(e *Event) string {
	value := e.value(p.id)
	switch p.form {
	case folded:
		return strings.ToLower(value)
	case amount:
		if m, err := ParseMoney(value); err == nil && !m.IsZero() {
			return m.Abs().Decimal().String()
		}
	}
	return value
}
