package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

func TestAReceiptIsReadBackWhole(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn)
	r := newRecorder(t, s)
	run(t, r)
	sent := receipt("transactionType=CHARGE&referenceNumber=R1&transactionDate=11/20/2026+08:30+AM&invoiceChargeAmount=21.00&invoiceChargeCurrency=EUR" +
		"&invoiceAmountUSD=23.1000&subscriptionId=S1&accountId=A1&merchantTransactionId=M1&paymentMethod=CC&invoiceCountry=x%00y&testMode=Y" +
		"&firstName=J%C3%BCrgen&sku=1&empty=&sku=2&bad=%zz")
	sent.Headers = map[string]string{"content-type": "application/x-www-form-urlencoded", "x-odd": "a\x00b\\u0000c\xff"}
	sent.Peer = netip.MustParseAddr("::ffff:192.0.2.9")
	recorded := mustRecord(t, r, sent)
	if want := (ipn.Recorded{EventID: recorded.EventID, Outcome: ipn.OutcomeNew, Receipts: 1}); recorded != want {
		t.Fatalf("got %+v, want %+v", recorded, want)
	}
	got, err := s.Event(t.Context(), recorded.EventID)
	if err != nil {
		t.Fatal(err)
	}
	if len(sent.Event.Problems) == 0 || sent.Event.Facts.OccurredAt.IsZero() || sent.Event.Facts.Amount.IsZero() {
		t.Fatalf("the sample is too plain: %+v", sent.Event)
	}
	want := &ipn.Stored{
		ID: recorded.EventID, Facts: sent.Event.Facts, Problems: sent.Event.Problems, Vouched: ipn.VouchedSignature, Identity: sent.Identity,
		Digest: sent.Digest, Receipts: 1, ReceivedAt: noon, LastReceivedAt: noon, SortedAt: sent.Event.Facts.OccurredAt, Raw: sent.Raw,
		Headers: map[string]string{"content-type": "application/x-www-form-urlencoded", "x-odd": "a\ufffdb\\u0000c\ufffd"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if peer := ask[netip.Addr](t, dsn, "select peer from payloads"); peer != netip.MustParseAddr("192.0.2.9") {
		t.Errorf("peer: got %v", peer)
	}
	var kept, told any
	if err := errors.Join(json.Unmarshal(ask[[]byte](t, dsn, "select fields from payloads"), &kept), json.Unmarshal(sent.Event.Fields.AppendJSON(nil), &told)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(kept, told) {
		t.Errorf("fields: got %v, want %v", kept, told)
	}
}

func TestTheFactsOfPlansAndPayoutsAreReadBack(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	r := newRecorder(t, s)
	run(t, r)
	for _, body := range []string{
		"transactionType=CONTRACT_CHANGE&subscriptionId=S1&oldContractId=1&newContractId=2&transactionDate=11/20/2026+08:30+AM&untilDate=12/20/2026+12:00+AM",
		"transactionType=PAYOUT&payoutId=P1&amount[0]=1204.50&currency[0]=EUR&amount[1]=310&currency[1]=JPY",
	} {
		sent := receipt(body)
		got, err := s.Event(t.Context(), mustRecord(t, r, sent).EventID)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Facts, sent.Event.Facts) {
			t.Errorf("got %+v, want %+v", got.Facts, sent.Event.Facts)
		}
	}
}

func TestAReceiptOfUnknownOriginIsKept(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	sent := receipt("")
	sent.Headers, sent.Peer, sent.Raw = nil, netip.Addr{}, []byte{}
	mustRecord(t, running(t, dsn), sent)
	if !ask[bool](t, dsn, "select raw = '' and fields = '{}' and headers = '{}' and peer is null and key_id is null from payloads") {
		t.Error("the payload is not empty")
	}
	if !ask[bool](t, dsn, "select transaction_type is null and amount is null and occurred_at is null and sorted_at = received_at from events") {
		t.Error("the facts are not absent")
	}
}

// B-14, one key: what parallel repeats of a sender come to.
func TestSixtyFourParallelReceiptsLeaveOneEvent(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	receipts := make([]*ipn.Receipt, 64)
	for i := range receipts {
		receipts[i] = charge("R1")
	}
	answers := recordAll(t.Context(), running(t, dsn), receipts...)()
	fresh, counts := 0, map[int64]bool{}
	for _, a := range answers {
		if a.err != nil || a.EventID != answers[0].EventID {
			t.Fatalf("got %+v", a)
		}
		if a.Outcome == ipn.OutcomeNew {
			fresh++
		}
		counts[a.Receipts] = true
	}
	if fresh != 1 || len(counts) != 64 || !counts[64] {
		t.Errorf("got %d new, %d different counts", fresh, len(counts))
	}
	wantSums(t, dsn, 1, 64)
}

// B-14, many keys, recorded by two stores as two replicas would.
func TestParallelReceiptsOfManyKeysAreCountedExactly(t *testing.T) {
	t.Parallel()
	const keys, each = 1000, 8
	dsn := pgtest.New(t)
	replicas := []*store.Recorder{running(t, dsn), running(t, dsn)}
	var waits []func() []answer
	for i, r := range replicas {
		var receipts []*ipn.Receipt
		for n := range keys * each / len(replicas) {
			receipts = append(receipts, charge(fmt.Sprint("R", (n*7+i)%keys)))
		}
		waits = append(waits, recordAll(t.Context(), r, receipts...))
	}
	for _, wait := range waits {
		for _, a := range wait() {
			if a.err != nil || a.Outcome == ipn.OutcomeVariant {
				t.Fatalf("got %+v", a)
			}
		}
	}
	wantSums(t, dsn, keys, keys*each)
}

// wantSums checks that events, receipts and payloads tie out.
func wantSums(t *testing.T, dsn string, events, receipts int) {
	t.Helper()
	got := ask[string](t, dsn, "select count(*) || ' events, ' || sum(receipts) || ' receipts, ' || (select count(*) from payloads) || ' payloads' from events")
	if want := fmt.Sprintf("%d events, %d receipts, %d payloads", events, receipts, events); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	const first = "transactionType=CHARGE&referenceNumber=R1&invoiceChargeAmount=1.00&firstName=Ann&ipnId=1"
	tests := []struct {
		name, body string
		want       ipn.Outcome
	}{
		{"the same bytes are a duplicate", first, ipn.OutcomeDuplicate},
		{"another order of fields is a duplicate", "ipnId=1&firstName=Ann&invoiceChargeAmount=1.00&referenceNumber=R1&transactionType=CHARGE", ipn.OutcomeDuplicate},
		{"another encoding is a duplicate", "transactionType=CHARG%45&referenceNumber=R1&invoiceChargeAmount=1.00&firstName=Ann&ipnId=1", ipn.OutcomeDuplicate},
		{"another number of the notification is a duplicate", "transactionType=CHARGE&referenceNumber=R1&invoiceChargeAmount=1.00&firstName=Ann&ipnId=2", ipn.OutcomeDuplicate},
		{"another amount is a variant", "transactionType=CHARGE&referenceNumber=R1&invoiceChargeAmount=2.00&firstName=Ann&ipnId=1", ipn.OutcomeVariant},
		{"a field less is a variant", "transactionType=CHARGE&referenceNumber=R1&invoiceChargeAmount=1.00", ipn.OutcomeVariant},
		{"another reference is new", "transactionType=CHARGE&referenceNumber=R2&invoiceChargeAmount=1.00&firstName=Ann&ipnId=1", ipn.OutcomeNew},
		{"another type is new", "transactionType=REFUND&referenceNumber=R1&invoiceChargeAmount=1.00&firstName=Ann&ipnId=1", ipn.OutcomeNew},
	}
	r := running(t, pgtest.New(t))
	for i, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			own := strings.NewReplacer("R1", fmt.Sprint("R1-", i), "R2", fmt.Sprint("R2-", i))
			mustRecord(t, r, receipt(own.Replace(first)))
			if got := mustRecord(t, r, receipt(own.Replace(tc.body))).Outcome; got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// Anybody who can post may add variants, and each may be as large as a body.
func TestOfManyVariantsTheFirstAreLookedAt(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s, r := open(t, dsn), running(t, dsn)
	for i := range ipn.MostVariants + 5 {
		mustRecord(t, r, charge("R1", fmt.Sprintf("invoiceChargeAmount=%d.00", i+1)))
	}
	event, err := s.Event(t.Context(), 1)
	if err != nil || event.Variants != ipn.MostVariants+4 {
		t.Fatalf("got %+v, %v", event, err)
	}
	variants, err := s.Variants(t.Context(), 1)
	if err != nil || len(variants) != ipn.MostVariants || !bytes.Contains(variants[0].Raw, []byte("=2.00")) {
		t.Errorf("got %d variants, %v", len(variants), err)
	}
}

// B-15: what came first stays as it is; what else is told stands beside it, each content once and counted.
func TestAVariantIsKeptBesideTheEventAndCounted(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t))
	first, other, third := charge("R1", "invoiceChargeAmount=1.00"), charge("R1", "invoiceChargeAmount=2.00"), charge("R1", "invoiceChargeAmount=3.00")
	later := *other
	later.ReceivedAt = noon.Add(time.Hour)
	earlier := *first
	earlier.ReceivedAt = noon.Add(-time.Hour) // the clock of another replica
	answers := recordInOrder(t, newRecorder(t, s), first, other, third, &later, &earlier)
	for i, want := range []ipn.Outcome{ipn.OutcomeNew, ipn.OutcomeVariant, ipn.OutcomeVariant, ipn.OutcomeVariant, ipn.OutcomeDuplicate} {
		if a := answers[i]; a.err != nil || a.Outcome != want || a.Receipts != int64(i+1) {
			t.Errorf("receipt %d: got %+v, want %s", i+1, a, want)
		}
	}
	event, err := s.Event(t.Context(), answers[0].EventID)
	if err != nil {
		t.Fatal(err)
	}
	if event.Receipts != 5 || event.Variants != 2 || event.Facts.Amount.String() != "1.00" || !bytes.Equal(event.Raw, first.Raw) ||
		!event.ReceivedAt.Equal(noon) || !event.LastReceivedAt.Equal(later.ReceivedAt) {
		t.Errorf("the event: got %+v", event)
	}
	variants, err := s.Variants(t.Context(), event.ID)
	if err != nil || len(variants) != 2 {
		t.Fatalf("got %+v, %v", variants, err)
	}
	want := ipn.Variant{ID: variants[0].ID, Digest: other.Digest, Vouched: ipn.VouchedSignature, Receipts: 2, ReceivedAt: noon,
		LastReceivedAt: later.ReceivedAt, Raw: other.Raw, Headers: other.Headers}
	if !reflect.DeepEqual(variants[0], want) {
		t.Errorf("got\n%+v\nwant\n%+v", variants[0], want)
	}
	if variants[1].Receipts != 1 || !bytes.Equal(variants[1].Raw, third.Raw) {
		t.Errorf("the second variant: got %+v", variants[1])
	}
}

func TestReceiptsKeepTheirOrderOfArrival(t *testing.T) {
	t.Parallel()
	const n = store.MaxBatch + 44 // more than one batch
	receipts := make([]*ipn.Receipt, n)
	for i := range receipts {
		receipts[i] = charge(fmt.Sprint("R", n-i))
	}
	answers := recordInOrder(t, newRecorder(t, open(t, pgtest.New(t))), receipts...)
	for i, a := range answers {
		if a.err != nil || i > 0 && a.EventID <= answers[i-1].EventID {
			t.Fatalf("receipt %d: got %+v after %+v", i, a, answers[max(i-1, 0)])
		}
	}
}

func TestAFullQueueRefusesAtOnce(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	r, err := store.NewRecorder(open(t, dsn), 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	wait := recordAll(ctx, r, charge("R1"), charge("R2"))
	eventually(t, "two receipts wait", func() bool { return r.Waiting() == 2 })
	if got, err := r.Record(ctx, charge("R3")); err != ipn.ErrOverloaded || got != (ipn.Recorded{}) {
		t.Errorf("got %+v, %v, want ipn.ErrOverloaded", got, err)
	}
	run(t, r)
	for _, a := range wait() {
		if a.err != nil {
			t.Error(a.err)
		}
	}
	wantSums(t, dsn, 2, 2)
}

func TestShutdownAnswersWhoeverWaits(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	blocker := connect(t, dsn)
	if _, err := blocker.Exec(t.Context(), "select pg_advisory_lock($1)", store.LogLock); err != nil {
		t.Fatal(err)
	}
	r := newRecorder(t, open(t, dsn))
	stop := run(t, r)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	inFlight := recordAll(ctx, r, charge("R1"))
	eventually(t, "a commit waits for the log lock", func() bool {
		return ask[bool](t, dsn, "select exists (select from pg_locks where locktype = 'advisory' and not granted)")
	})
	queued := recordAll(ctx, r, charge("R2"), charge("R3"))
	eventually(t, "two more wait", func() bool { return r.Waiting() == 2 })
	stop()
	for _, a := range append(inFlight(), queued()...) {
		wantUnavailable(t, a.err, "shutting down")
	}
	_, err := r.Record(ctx, charge("R4"))
	wantUnavailable(t, err, "shutting down")
}

func TestACallerThatLeavesTakesItsReceiptAlong(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	r := newRecorder(t, open(t, dsn))
	ctx, cancel := context.WithCancel(context.Background())
	leaver := recordAll(ctx, r, charge("R1"))
	eventually(t, "a receipt waits", func() bool { return r.Waiting() == 1 })
	stayer := recordAll(context.Background(), r, charge("R2"))
	eventually(t, "two receipts wait", func() bool { return r.Waiting() == 2 })
	cancel()
	if err := leaver()[0].err; !errors.Is(err, ipn.ErrUnavailable) {
		t.Errorf("got %v, want ipn.ErrUnavailable", err)
	}
	run(t, r)
	if a := stayer()[0]; a.err != nil {
		t.Error(a.err)
	}
	if got := ask[string](t, dsn, "select string_agg(reference_number, ',') from events"); got != "R2" {
		t.Errorf("kept: %s, want R2 alone", got)
	}
}
