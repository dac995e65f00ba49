package receiver

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxPrefixes bounds how many networks are remembered. When there are more, all are forgotten: forgetting favours the
// sender, and whoever still floods is back in the book at once.
const maxPrefixes = 4096

// flood counts posts that failed verification, per network prefix (/24 or /64), and tells when a network has sent so
// many that its next ones are turned away before their bodies are read. Good posts cost nothing.
type flood struct {
	limit rate.Limit
	burst int

	mu    sync.Mutex
	books map[netip.Prefix]*rate.Limiter
}

func newFlood(perSecond float64, burst int) *flood {
	return &flood{limit: rate.Limit(perSecond), burst: max(burst, 1), books: map[netip.Prefix]*rate.Limiter{}}
}

// isOver reports whether the peer's network has used up its allowance.
func (f *flood) isOver(peer netip.Addr, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	book, known := f.books[network(peer)]
	return known && book.TokensAt(now) < 1
}

// count charges the peer's network for one failed post.
func (f *flood) count(peer netip.Addr, now time.Time) {
	if f.limit <= 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	prefix := network(peer)
	if f.books[prefix] == nil {
		if len(f.books) >= maxPrefixes {
			clear(f.books)
		}
		f.books[prefix] = rate.NewLimiter(f.limit, f.burst)
	}
	f.books[prefix].AllowN(now, 1)
}

func network(peer netip.Addr) netip.Prefix {
	peer = peer.Unmap().WithZone("")
	bits := 64
	if peer.Is4() {
		bits = 24
	}
	prefix, err := peer.Prefix(bits)
	if err != nil { // no address known: all such peers share one book
		return netip.Prefix{}
	}
	return prefix
}
