// Package dispatchtest helps the authors of handlers to test them: with events that the real decoder has read, and with
// checks of the contract that docs/handlers.md states.
//
// Its one non-obvious decision is that nothing here imitates the receiver. Events pass the decoder, the log of a
// projection is a real database, and a check asks for what the dispatcher will do sooner or later: send an event twice,
// end a context, apply a batch again in another order.
package dispatchtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// mediaType is what the payment service sends.
const mediaType = "application/x-www-form-urlencoded"

// Noon is when the events of this package are received.
var Noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Event builds an event as the front door would keep it, from its type and pairs like "referenceNumber=1001", values as
// they are. Its ID is 1; set another where that matters.
func Event(tb testing.TB, transactionType string, fields ...string) ipn.Stored {
	tb.Helper()
	pairs := ipn.Fields{{Name: "transactionType", Value: transactionType}}
	for _, field := range fields {
		name, value, ok := strings.Cut(field, "=")
		if !ok {
			tb.Fatalf("dispatchtest: the field %q is no pair like name=value", field)
		}
		pairs = append(pairs, ipn.Field{Name: name, Value: value})
	}
	return stored(1, received(ipn.Encode(pairs)))
}

// Samples returns an event of every known type and one of an unknown type, with ids from 1 on. Each has references,
// money and the like, so a handler that reads any of it finds some.
func Samples(tb testing.TB) []ipn.Stored {
	tb.Helper()
	names := []string{"TYPE_OF_TOMORROW"}
	for _, known := range ipn.Types() {
		names = append(names, known.Name)
	}
	events := make([]ipn.Stored, len(names))
	for i, name := range names {
		events[i] = Event(tb, name,
			fmt.Sprint("referenceNumber=", 1001+i/4), fmt.Sprint("subscriptionId=", 6001+i/4), // a few events share one
			fmt.Sprint("reversalRefNum=", 8001+i), fmt.Sprint("batchId=", 9001+i), fmt.Sprintf("transactionDate=05/%02d/2026 01:02 PM", 1+i%28),
			"accountId=3001", "contractId=2001", "oldContractId=2001", "newContractId=2002", "vendorId=4001", "merchantTransactionId=order-1",
			"untilDate=06/15/2026 12:00 AM", "testMode=N", "country=DE", "paymentMethod=CC", "cbStatus=NEW",
			"invoiceChargeAmount=21.00", "invoiceChargeCurrency=EUR", "invoiceAmountUSD=22.84", "taxChargeAmount=3.35", "taxAmountUSD=3.65",
			"reversalAmount=5.00", "email=jonas@mail.example", "lastName=Müller")
		events[i].ID = int64(i + 1)
	}
	return events
}

// Canary returns a charge whose every text holds the word "canary", to be looked for where no field may appear.
func Canary(tb testing.TB) ipn.Stored {
	tb.Helper()
	var fields []string
	for _, name := range []string{
		"firstName", "lastName", "company", "address1", "city", "zipCode", "workPhone", "username", "personalId", "invoiceFirstName",
		"invoiceLastName", "shippingAddress1", "referenceNumber", "merchantTransactionId", "subscriptionId", "accountId", "contractName", "licenseKey",
	} {
		fields = append(fields, name+"=canary-"+strings.ToLower(name))
	}
	fields = append(fields, "email=canary@canary.example", "invoiceChargeAmount=424242.42", "invoiceChargeCurrency=EUR")
	return Event(tb, "CHARGE", fields...)
}

// receiptOf is the receipt that an event of this package was made of.
func receiptOf(e *ipn.Stored) *ipn.Receipt { return received(e.Raw) }

// received is the receipt of a body, as the front door would make it.
func received(body []byte) *ipn.Receipt {
	event := new(ipn.Decoder).Decode(body, mediaType)
	return &ipn.Receipt{
		Event: event, Identity: ipn.Scope{Endpoint: "/ipn"}.Identify(event), Digest: ipn.DigestOf(body), Content: event.ContentDigest(),
		Vouched: ipn.VouchedSignature, Raw: body,
		Origin: ipn.Origin{Headers: map[string]string{"content-type": mediaType}, ReceivedAt: Noon},
	}
}

// stored is the receipt's event as the record would give it back.
func stored(id int64, r *ipn.Receipt) ipn.Stored {
	sorted := r.Event.Facts.OccurredAt
	if sorted.IsZero() {
		sorted = r.ReceivedAt
	}
	return ipn.Stored{
		ID: id, Facts: r.Event.Facts, Problems: r.Event.Problems, Vouched: r.Vouched, Identity: r.Identity, Digest: r.Digest,
		Receipts: 1, ReceivedAt: r.ReceivedAt, LastReceivedAt: r.ReceivedAt, SortedAt: sorted, Raw: r.Raw, Headers: r.Headers,
	}
}
