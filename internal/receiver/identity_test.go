package receiver_test

import (
	"strings"
	"testing"
)

// TestSixtyFourPostsOfOneBodyAreOneEvent is the sender that tries too often, all at once.
func TestSixtyFourPostsOfOneBodyAreOneEvent(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	client := newClient(t)
	const posts = 64
	answers := make(chan int, posts)
	for range posts {
		go func() {
			got, _ := d.try(client, charge("1"))
			answers <- got
		}()
	}
	for range posts {
		if got := take(t, "an answer", answers); got != 200 {
			t.Errorf("got %d, want 200", got)
		}
	}
	if events, receipts := ask[int](t, d, "select count(*) from events"), ask[int](t, d, "select sum(receipts) from events"); events != 1 || receipts != posts {
		t.Errorf("got %d events with %d receipts, want 1 with %d", events, receipts, posts)
	}
	if first, more := d.metric(t, "ipn_events_total", "outcome", "new", "transaction_type", "CHARGE"),
		d.metric(t, "ipn_events_total", "outcome", "duplicate", "transaction_type", "CHARGE"); first != 1 || more != posts-1 {
		t.Errorf("counted %v new and %v duplicates, want 1 and %d", first, more, posts-1)
	}
}

func TestWhatIsOneEventAndWhatIsTwo(t *testing.T) {
	t.Parallel()
	one := charge("7")
	refund := func(number, amount string) string {
		return "transactionType=REFUND&referenceNumber=7&transactionDate=05%2F16%2F2026+01%3A02+PM&reversalRefNum=" + number + "&reversalAmount=-" + amount
	}
	for _, tt := range []struct {
		name          string
		first, second string
		outcome       string
		events        int
		variants      int
	}{
		{"the same bytes", one, one, "duplicate", 1, 0},
		{"the fields in another order", one, reversed(one), "duplicate", 1, 0},
		{"another encoding", one, strings.ReplaceAll(one, "CHARGE", "%43HARGE"), "duplicate", 1, 0},
		{"another delivery id", one + "&ipnId=a", one + "&ipnId=b", "duplicate", 1, 0},
		{"a changed amount", one, strings.Replace(one, "21.00", "22.00", 1), "variant", 1, 1},
		{"a field more", one, one + "&couponCode=MAY", "variant", 1, 1},
		{"another reference", one, charge("8"), "new", 2, 0},
		{"the refund of a charge", one, refund("1", "9.00"), "new", 2, 0},
		{"two partial refunds", refund("1", "9.00"), refund("2", "9.00"), "new", 2, 0},
		{"a refund told again", refund("1", "9.00"), reversed(refund("1", "9.00")), "duplicate", 1, 0},
		{"a charge and its pending charge", strings.Replace(one, "=CHARGE", "=CHARGE_PENDING", 1), one, "new", 2, 0},
		{"bodies of no type", "a=1", "a=2", "new", 2, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t)
			if got, _ := d.watch(t, post(tt.first)); got.Outcome != "new" {
				t.Errorf("the first: got %+v", got)
			}
			if got, _ := d.watch(t, post(tt.second)); got.Status != 200 || got.Outcome != tt.outcome {
				t.Errorf("the second: got %+v, want %s", got, tt.outcome)
			}
			if got := ask[int](t, d, "select count(*) from events"); got != tt.events {
				t.Errorf("got %d events, want %d", got, tt.events)
			}
			if got := ask[int](t, d, "select count(*) from variants"); got != tt.variants || d.metric(t, "ipn_variants_total") != float64(tt.variants) {
				t.Errorf("got %d variants, %v counted, want %d", got, d.metric(t, "ipn_variants_total"), tt.variants)
			}
			if got := ask[string](t, d, "select convert_from(raw, 'UTF8') from payloads order by event_id limit 1"); got != tt.first {
				t.Errorf("the first body was changed to %q", got)
			}
		})
	}
}

func reversed(body string) string {
	pairs := strings.Split(body, "&")
	for i, j := 0, len(pairs)-1; i < j; i, j = i+1, j-1 {
		pairs[i], pairs[j] = pairs[j], pairs[i]
	}
	return strings.Join(pairs, "&")
}
