package main

import (
	"slices"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestTheSameSeedTellsTheSameStoryInOrder(t *testing.T) {
	end := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	one, other := story(5000, 24, end, 1), story(5000, 24, end, 1)
	if len(one) != 5000 || !slices.Equal(one, other) {
		t.Fatalf("got %d happenings, and the same again: %v", len(one), slices.Equal(one, other))
	}
	if !slices.IsSortedFunc(one, func(a, b happening) int { return int(a.at - b.at) }) {
		t.Error("the story is not in the order of time")
	}
}

func TestEveryHappeningIsAnEventOfItsTypeAndOnlyOne(t *testing.T) {
	end := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	seen, told := map[ipn.Identity]bool{}, map[string]int{}
	decoder := &ipn.Decoder{Zone: time.UTC}
	for _, h := range story(20000, 24, end, 1) {
		event := decoder.Decode(h.body(time.UTC), "")
		f := event.Facts
		if f.TransactionType != kinds[h.what] || f.OccurredAt.Unix() != h.at/60*60 {
			t.Fatalf("%+v reads as %s at %s", h, f.TransactionType, f.OccurredAt)
		}
		money := h.what != renewalFailed && h.what != cancellation
		if money && (f.Amount.IsZero() || f.Currency == "") {
			t.Fatalf("%s has no amount: %s", f.TransactionType, h.body(time.UTC))
		}
		identity := ipn.Scope{}.Identify(event)
		if seen[identity] {
			t.Fatalf("%s %s comes twice", f.TransactionType, f.ReferenceNumber)
		}
		seen[identity] = true
		told[f.TransactionType]++
	}
	for _, kind := range kinds {
		if told[kind] == 0 {
			t.Errorf("nothing tells of %s", kind)
		}
	}
}
