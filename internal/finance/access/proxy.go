package access

import (
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Proxy signs people in and tells by headers who they are.
type Proxy struct {
	// Networks are the proxy's own addresses. From anywhere else the headers are taken off, since anybody can write them.
	Networks ipn.Senders
	// UserHeader holds the name of the user; "" is no proxy.
	UserHeader string
	// RoleHeader holds words between commas, the first of which that is a role is the user's: groups of a directory will do.
	// "": none does.
	RoleHeader string
	// DefaultRole is that of a user without a role in the header; "": they are nobody.
	DefaultRole Role
}

// maxUser is the longest name of a user, in bytes: longer than an e-mail address may be (RFC 5321 4.5.3.1) is somebody's trick.
// The audit holds it whole.
const maxUser = 240

// claim returns whom the proxy names, and takes the headers off the request when somebody else wrote them.
func (p *Proxy) claim(r *http.Request) (Person, bool) {
	if p.UserHeader == "" {
		return Person{}, false
	}
	if !p.Networks.Contains(peer(r)) {
		r.Header.Del(p.UserHeader)
		r.Header.Del(p.RoleHeader)
		return Person{}, false
	}
	users, roles := r.Header.Values(p.UserHeader), r.Header.Values(p.RoleHeader)
	if len(users) != 1 || len(roles) > 1 { // one of two came from outside, and the proxy let it through
		return Person{}, false
	}
	user, role := strings.TrimSpace(users[0]), p.role(roles)
	if user == "" || len(user) > maxUser || !isPrintable(user) || role == "" {
		return Person{}, false
	}
	return Person{Name: user, Role: role, Via: ViaProxy}, true
}

// role returns the first role among the words of the header.
func (p *Proxy) role(lines []string) Role {
	for _, word := range strings.Split(strings.Join(lines, ","), ",") {
		if role, err := ParseRole(strings.TrimSpace(word)); err == nil {
			return role
		}
	}
	return p.DefaultRole
}

// isPrintable tells whether a log, a page and a terminal can show the text as it is.
func isPrintable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) })
}
