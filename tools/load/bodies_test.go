package main

import (
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestBodiesAreLikeTheSenders(t *testing.T) {
	for _, size := range []int{smallestBody, usualBody, 20_000} {
		body, reference := newBodies(7, size).take()
		if off := len(body) - size; off < -100 || off > 100 {
			t.Errorf("asked for %d bytes, got %d", size, len(body))
		}
		e := new(ipn.Decoder).Decode([]byte(body), "application/x-www-form-urlencoded")
		if e.Type.Name != "CHARGE" || len(e.Fields) != fieldsOfBody || e.Facts.ReferenceNumber != reference || len(e.Problems) > 0 {
			t.Errorf("got %q, %d fields, reference %q, problems %v", e.Type.Name, len(e.Fields), e.Facts.ReferenceNumber, e.Problems)
		}
	}
}

func TestOneBodyInAHundredRepeatsAnother(t *testing.T) {
	b, seen, repeats := newBodies(7, usualBody), map[string]bool{}, 0
	for range 1000 {
		body, _ := b.take()
		if seen[body] {
			repeats++
		}
		seen[body] = true
	}
	if repeats != 10 {
		t.Errorf("got %d repeats, want 10", repeats)
	}
}

func TestASeedMakesTheSameBodies(t *testing.T) {
	one, again, other := newBodies(7, usualBody), newBodies(7, usualBody), newBodies(8, usualBody)
	for range 200 {
		a, _ := one.take()
		b, _ := again.take()
		c, reference := other.take()
		if a != b {
			t.Fatal("the same seed made two bodies")
		}
		if a == c || strings.Contains(a, reference) {
			t.Fatal("two seeds made one body, or share a reference")
		}
	}
}
