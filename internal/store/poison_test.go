package store_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

// uglyValue draws what senders should not send: bytes that no text can hold, numbers without end, words of our own SQL.
var uglyValue = rapid.OneOf(
	rapid.Just(""), rapid.Just("\x00"), rapid.Just("\xff\xfe"), rapid.Just(`\u0000`), rapid.Just("\ud7ff\uffff\U0010ffff"), rapid.Just("NaN"), rapid.Just("1e999999"),
	rapid.Just("-Infinity"), rapid.Just("02/30/2026 25:61 XM"), rapid.Just("01/01/2200 12:00 AM"), rapid.Just("€€€"), rapid.Just("'; drop table events; --"),
	rapid.StringMatching(`-?[0-9]{1,41}(\.[0-9]{1,40})?`), rapid.String(),
	rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) }),
	rapid.Map(rapid.IntRange(250, 5000), func(n int) string { return strings.Repeat("é", n) }),
)

var uglyName = rapid.OneOf(
	rapid.SampledFrom([]string{"transactionType", "referenceNumber", "invoiceChargeAmount", "invoiceChargeCurrency", "invoiceAmountUSD", "reversalAmount",
		"transactionDate", "subscriptionId", "accountId", "contractId", "merchantTransactionId", "paymentMethod", "testMode", "cbStatus", "TRANSACTIONTYPE"}),
	uglyValue,
)

var uglyBody = rapid.Custom(func(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
		return string(rapid.SliceOfN(rapid.Byte(), 0, 500).Draw(t, "bytes"))
	}
	pairs := []string{"transactionType=" + rapid.SampledFrom([]string{"CHARGE", "REFUND", "CHARGEBACK", "NOVEL", "%00", "%ff"}).Draw(t, "type")}
	for range rapid.IntRange(0, 12).Draw(t, "pairs") {
		name, value := uglyName.Draw(t, "name"), uglyValue.Draw(t, "value")
		if rapid.Bool().Draw(t, "encoded") {
			name, value = url.QueryEscape(name), url.QueryEscape(value)
		}
		pairs = append(pairs, name+"="+value)
	}
	return strings.Join(pairs, "&")
})

// B-16: whatever the bytes, a healthy database takes the receipt, and gives it back.
func TestNoBodyIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	r := newRecorder(t, s)
	run(t, r)
	contentTypes := []string{"application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=UTF-16", "text/\xff\x00", ""}
	record := func(t *rapid.T) {
		body := uglyBody.Draw(t, "body")
		contentType := rapid.SampledFrom(contentTypes).Draw(t, "content type")
		sent := receipt(body)
		sent.Event = new(ipn.Decoder).Decode([]byte(body), contentType)
		sent.Identity, sent.Content = ipn.Scope{}.Identify(sent.Event), sent.Event.ContentDigest()
		sent.Headers = map[string]string{"content-type": contentType, uglyValue.Draw(t, "header"): uglyValue.Draw(t, "header value")}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		recorded, err := r.Record(ctx, sent)
		if err != nil {
			t.Fatalf("record: %v", err)
		}
		event, err := s.Event(ctx, recorded.EventID)
		if err != nil {
			t.Fatalf("read back: %v", err)
		}
		if recorded.Outcome == ipn.OutcomeNew && (string(event.Raw) != body || event.Facts.Amount != sent.Event.Facts.Amount || event.Facts.Status != sent.Event.Facts.Status) {
			t.Fatalf("got %+v", event)
		}
	}
	for range 3 { // 300 bodies
		rapid.Check(t, record)
	}
}
