package access

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Who types a token pastes it, so few attempts fail. Those that do are counted for the address and for all together; one
// that works costs nothing.
const (
	addressBurst = 5
	addressEvery = 12 * time.Second // five a minute
	allBurst     = 100
	allEvery     = time.Second

	// maxAddresses bounds how many are remembered. When there are more, those that have all their attempts again are
	// forgotten, and if that is not enough all of them: the count of all together still stands.
	maxAddresses = 4096
)

// limiter bounds attempts to sign in. The zero limiter is ready.
type limiter struct {
	mu        sync.Mutex
	all       *rate.Limiter
	addresses map[netip.Prefix]*rate.Limiter
}

// attempt is one that was let through.
type attempt struct{ address, all *rate.Reservation }

// attempt lets one through, or tells how long to wait. An attempt counts as failed until it is forgiven.
func (l *limiter) attempt(from netip.Addr, now time.Time) (attempt, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = rate.NewLimiter(rate.Every(allEvery), allBurst)
		l.addresses = map[netip.Prefix]*rate.Limiter{}
	}
	address := l.address(household(from), now)
	made := attempt{address.ReserveN(now, 1), l.all.ReserveN(now, 1)}
	if wait := max(made.address.DelayFrom(now), made.all.DelayFrom(now)); wait > 0 {
		made.forgive(now)
		return attempt{}, wait
	}
	return made, 0
}

// forgive takes an attempt out of the count, at the time it was made.
func (a attempt) forgive(made time.Time) {
	a.address.CancelAt(made)
	a.all.CancelAt(made)
}

func (l *limiter) address(of netip.Prefix, now time.Time) *rate.Limiter {
	if book, known := l.addresses[of]; known {
		return book
	}
	if len(l.addresses) >= maxAddresses {
		for prefix, book := range l.addresses {
			if book.TokensAt(now) >= addressBurst {
				delete(l.addresses, prefix)
			}
		}
	}
	if len(l.addresses) >= maxAddresses {
		clear(l.addresses)
	}
	book := rate.NewLimiter(rate.Every(addressEvery), addressBurst)
	l.addresses[of] = book
	return book
}

// household is what one person may have at their hands: an IPv4 address, or an IPv6 network of 64 bits.
func household(from netip.Addr) netip.Prefix {
	bits := 64
	if from.Is4() {
		bits = 32
	}
	prefix, err := from.Prefix(bits)
	if err != nil { // no address known: all such share one book
		return netip.Prefix{}
	}
	return prefix
}
