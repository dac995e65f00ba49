// Package access says who may do what at the private door: who somebody is (a token, a session of the page, a proxy that
// signed them in), which role they have, and which rights come with it.
//
// Its one non-obvious decision is that knowing and refusing are apart. The Gate only finds out who asks and puts the person
// into the context; each operation names the one right it needs, and one that names none is refused to everybody. So a door
// that forgets to ask, and an operation that forgets to say, both end closed.
package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Role is what somebody is here for. The zero Role may nothing.
type Role string

// The roles, from the one who may least.
const (
	Viewer   Role = "viewer"   // looks things up; personal fields stay masked
	Finance  Role = "finance"  // does the books: sees everything, takes it along, records taxes
	Operator Role = "operator" // keeps the handlers going: acts on them, reads the audit
	Admin    Role = "admin"    // everything
)

// Right is what an operation needs of who asks for it.
type Right string

// The rights.
const (
	See     Right = "see"     // events and what they come to, with personal fields masked
	Reveal  Right = "reveal"  // personal fields, raw bodies, bodies in quarantine
	Export  Right = "export"  // whole lists as files
	Record  Right = "record"  // tax records
	Operate Right = "operate" // pause, resume, replay, redrive, promote
	Audit   Right = "audit"   // the list of what was done by hand
)

// grants is the one table of who may what.
var grants = []struct {
	role   Role
	rights []Right
}{
	{Viewer, []Right{See}},
	{Finance, []Right{See, Reveal, Export, Record}},
	{Operator, []Right{See, Operate, Audit}},
	{Admin, []Right{See, Reveal, Export, Record, Operate, Audit}},
}

// Roles returns every role, from the one who may least.
func Roles() []Role {
	roles := make([]Role, len(grants))
	for i, g := range grants {
		roles[i] = g.role
	}
	return roles
}

// ParseRole reads the name of a role, in any case. The error names the roles there are.
func ParseRole(text string) (Role, error) {
	names := make([]string, len(grants))
	for i, g := range grants {
		if strings.EqualFold(text, string(g.role)) {
			return g.role, nil
		}
		names[i] = string(g.role)
	}
	return "", fmt.Errorf("no such role: write %s or %s", strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
}

// Rights returns what the role may, none for one that does not exist.
func (r Role) Rights() []Right {
	for _, g := range grants {
		if g.role == r {
			return slices.Clone(g.rights)
		}
	}
	return nil
}

// May tells whether the role has the right. Nobody has the zero Right.
func (r Role) May(right Right) bool { return slices.Contains(r.Rights(), right) }

// How somebody came to be known.
const (
	ViaToken = "token" // showed a token with the request
	ViaPage  = "page"  // signed in at the page with a token
	ViaProxy = "proxy" // was signed in by a proxy of our own
	ViaOpen  = "open"  // nobody asked: development on this machine, without tokens
	ViaCLI   = "cli"   // typed a command on a machine that reaches the database
)

// Person is who asks.
type Person struct {
	Name string // of the token, or what the proxy calls them
	Role Role
	Via  string // one of the words above
}

// Actor is the person as the audit writes it: api:NAME with a token, page:NAME signed in at the page, proxy:NAME,
// open:NAME, cli:NAME.
func (p Person) Actor() string {
	if p.Via == ViaToken {
		return "api:" + p.Name
	}
	return p.Via + ":" + p.Name
}

// May tells whether the person has the right.
func (p Person) May(right Right) bool { return p.Role.May(right) }

type personKey struct{}

// With returns a context that knows who asks.
func With(ctx context.Context, p Person) context.Context {
	return context.WithValue(ctx, personKey{}, p)
}

// From returns who asks, and false when nobody is known: then nothing may be answered.
func From(ctx context.Context) (Person, bool) {
	p, known := ctx.Value(personKey{}).(Person)
	return p, known
}

// rightKey is where an operation's metadata names the right.
const rightKey = "right"

// Needs is the metadata of an operation that needs the right.
func Needs(right Right) map[string]any { return map[string]any{rightKey: right} }

// Needed returns the right that an operation's metadata names, and false when it names none that anybody has.
func Needed(metadata map[string]any) (Right, bool) {
	right, named := metadata[rightKey].(Right)
	return right, named && Admin.May(right)
}

type troubleKey struct{}

// Trouble returns why it could not be found out who asks, such as ipn.ErrUnavailable for a session while the record is
// away; nil when nothing stood in the way. Whoever shows a session then is not told to sign in again.
func Trouble(ctx context.Context) error {
	err, _ := ctx.Value(troubleKey{}).(error)
	return err
}
