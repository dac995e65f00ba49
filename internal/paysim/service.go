// Package paysim is the payment service as a merchant's server sees it: tax quotes, card
// transactions, refunds, disputes, subscriptions, bank transfers and the notification
// configuration, with their states and rules, and an IPN for all that happens.
//
// It is written from the interface's specification and imports nothing of the receiver: the two can
// disagree, which is what a test is for. Its one non-obvious decision is that it is one account, in
// memory, behind one lock: whoever starts it starts from nothing, and every answer follows from
// what was asked before, the seed and the clock.
package paysim

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/money"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

// Config says what the service is made of. Agenda, Send and BankURL are needed: without one the
// first IPN or the first bank transfer panics.
type Config struct {
	Agenda *agenda.Agenda // its clock, and the list of what it will do later
	// Send takes an IPN on its way to a URL. It is called with the service's lock held: it must not
	// block, nor call back.
	Send func(url string, n notice.Notice)
	// Seed chooses all that is made up: numbers, references, people, samples. The same seed and the
	// same requests in the same order, on the same clock, give the same answers and the same IPNs.
	// 0 is a seed as any other.
	Seed uint64
	// BankURL is the address of the bank's page, to which an order number is added; asked each
	// time.
	BankURL func() string
	// NodeField is the name of the field that tells the data centre; "" means serviceNode.
	NodeField string
	// Reseller is whether the account is under the Reseller Payment Model: a capture must then name
	// a tax quote.
	Reseller bool
}

// Service is the payment service. Its methods may be called from anywhere at any time; each is done
// wholly before the next begins, and hands out copies only. What it refuses comes back as a
// *Refusal, and then nothing has changed, unless the method says otherwise. New makes one; the zero
// Service is not usable.
type Service struct {
	config Config
	agenda *agenda.Agenda

	mu            sync.Mutex
	random        *rand.Rand
	next          int64 // the number that was given out last
	quotes        map[string]*Quote
	transactions  map[string]*Transaction
	subscriptions map[string]*Subscription
	transfers     map[int64]*Transfer
	shoppers      map[int64]*Shopper
	entered       []string                // transaction numbers, oldest first: the map does not keep the order
	paid          map[string]money.Amount // what was paid out, by currency
	configuration *Configuration          // nil: none, so no IPN goes anywhere
	portal        map[string]bool         // types without a flag that the portal has switched on
}

// New returns a service that nothing has happened to. The seed also chooses where its numbers
// begin, so that two simulators beside each other rarely give out the same.
func New(c Config) *Service {
	if c.NodeField == "" {
		c.NodeField = "serviceNode"
	}
	return &Service{
		config: c, agenda: c.Agenda, random: rand.New(rand.NewPCG(c.Seed, c.Seed)), next: 1_000_000 + int64(c.Seed%90_000)*1_000_000,
		quotes: map[string]*Quote{}, transactions: map[string]*Transaction{}, subscriptions: map[string]*Subscription{},
		transfers: map[int64]*Transfer{}, shoppers: map[int64]*Shopper{}, portal: map[string]bool{}, paid: map[string]money.Amount{},
	}
}

// number gives out the next number. Transactions, refunds, disputes, orders, subscriptions and
// shoppers share one ascending row with gaps in it, as an account among many would see it: a client
// that takes one for another is found out. The lock is held.
func (s *Service) number() int64 {
	s.next += 1 + s.random.Int64N(7)
	return s.next
}

// numberText is number, as the text that references are in the API and in IPNs.
func (s *Service) numberText() string { return strconv.FormatInt(s.number(), 10) }

// uuid makes a random UUID (RFC 9562 5.4) of the seed. The lock is held.
func (s *Service) uuid() string {
	high, low := s.random.Uint64()&^0xf000|0x4000, s.random.Uint64()&^(3<<62)|2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&0xffff_ffff_ffff)
}
