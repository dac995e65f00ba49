package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// bodies makes charges of made-up people: some 100 fields, 2.3 kB, as the sender's are. One in a hundred repeats an
// earlier one. The same seed gives the same bodies in the same order.
type bodies struct {
	seed uint64
	next atomic.Uint64
	rest string // the fields that all bodies share
}

func newBodies(seed uint64) *bodies {
	words := rand.New(rand.NewPCG(seed, 1))
	fields := ipn.Fields{
		{Name: "transactionType", Value: "CHARGE"}, {Name: "transactionDate", Value: "11/21/2026 09:15 AM"}, {Name: "testMode", Value: "N"},
		{Name: "invoiceChargeAmount", Value: "105.00"}, {Name: "invoiceChargeCurrency", Value: "USD"}, {Name: "invoiceAmountUSD", Value: "105.00"},
		{Name: "taxChargeAmount", Value: "5.00"}, {Name: "currency", Value: "USD"}, {Name: "paymentMethod", Value: "CC"}, {Name: "accountId", Value: "21200001"},
		{Name: "firstName", Value: "José"}, {Name: "lastName", Value: "Example"}, {Name: "email", Value: "jose@example.com"}, {Name: "country", Value: "US"},
	}
	for i := len(fields); i < 99; i++ {
		value := ""
		if i%3 != 0 {
			value = fmt.Sprintf("%x %x", words.Uint64(), words.Uint32N(1<<16))
		}
		fields = append(fields, ipn.Field{Name: fmt.Sprintf("Custom field%02d", i), Value: value})
	}
	return &bodies{seed: seed, rest: string(ipn.Encode(fields))}
}

// take returns the next body and its reference.
func (b *bodies) take() (body, reference string) {
	n := b.next.Add(1)
	if n%100 == 0 {
		n -= 50
	}
	reference = fmt.Sprintf("%d%09d", b.seed, n)
	var text strings.Builder
	text.Grow(len(b.rest) + 64)
	text.WriteString("referenceNumber=")
	text.WriteString(reference)
	text.WriteByte('&')
	text.WriteString(b.rest)
	return text.String(), reference
}
