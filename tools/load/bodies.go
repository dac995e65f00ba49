package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

const (
	usualBody    = 2300 // bytes: what the sender's charges have on average
	smallestBody = 1850
	fieldsOfBody = 100
)

// bodies makes charges of made-up people: 100 fields, as the sender's have about, a third of them empty. One in a hundred
// repeats an earlier one byte for byte. The same seed gives the same bodies in the same order.
type bodies struct {
	seed uint64
	next atomic.Uint64
	rest string // the fields that all bodies share
}

// newBodies makes bodies of about size bytes, which is to be smallestBody or more.
func newBodies(seed uint64, size int) *bodies {
	fields := ipn.Fields{
		{Name: "transactionType", Value: "CHARGE"}, {Name: "transactionDate", Value: "11/21/2026 09:15 AM"}, {Name: "testMode", Value: "N"},
		{Name: "invoiceChargeAmount", Value: "105.00"}, {Name: "invoiceChargeCurrency", Value: "USD"}, {Name: "invoiceAmountUSD", Value: "105.00"},
		{Name: "taxChargeAmount", Value: "5.00"}, {Name: "currency", Value: "USD"}, {Name: "paymentMethod", Value: "CC"}, {Name: "accountId", Value: "21200001"},
		{Name: "firstName", Value: "José"}, {Name: "lastName", Value: "Example"}, {Name: "email", Value: "jose@example.com"}, {Name: "country", Value: "US"},
	}
	known := len(fields)
	for i := known; i < fieldsOfBody-1; i++ { // one more is the reference
		fields = append(fields, ipn.Field{Name: fmt.Sprintf("Custom field%02d", i)})
	}
	spare := size - len(ipn.Encode(fields)) - len("referenceNumber=1000000001&")
	words := rand.New(rand.NewPCG(seed, 1))
	for i := known; i < len(fields); i++ {
		if i%3 != 0 {
			fields[i].Value = word(words, spare*3/2/(len(fields)-known))
		}
	}
	return &bodies{seed: seed, rest: string(ipn.Encode(fields))}
}

// word makes up a text of so many letters and digits, at least one.
func word(from *rand.Rand, length int) string {
	text := make([]byte, max(length, 1))
	for i := range text {
		text[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[from.IntN(36)]
	}
	return string(text)
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
