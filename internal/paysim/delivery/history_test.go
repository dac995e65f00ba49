package delivery_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/delivery"
	"github.com/ipn-receiver/ipn-receiver/internal/paysim/notice"
)

func TestTheHistoryIsAskedByTypeStateReferenceAndNumber(t *testing.T) {
	w := start(t, delivery.Config{})
	for i := range 6 {
		w.send(charge(fmt.Sprint(i), "1.00"))
	}
	w.settle(t)
	w.receiver.answer(500)
	w.send(small("REFUND", notice.Field{Name: "referenceNumber", Value: "3"}))
	w.settle(t)

	for name, row := range map[string]struct {
		query delivery.Query
		want  string
	}{
		"all, newest first":     {delivery.Query{}, "[7 6 5 4 3 2 1]"},
		"the oldest first":      {delivery.Query{Oldest: true}, "[1 2 3 4 5 6 7]"},
		"the newest two":        {delivery.Query{Limit: 2}, "[7 6]"},
		"those since":           {delivery.Query{After: 4}, "[7 6 5]"},
		"the first since":       {delivery.Query{After: 4, Oldest: true, Limit: 1}, "[5]"},
		"none since the newest": {delivery.Query{After: 7}, "[]"},
		"none of the future":    {delivery.Query{After: 700}, "[]"},
		"of a type":             {delivery.Query{Type: "REFUND"}, "[7]"},
		"in a state":            {delivery.Query{State: delivery.Waiting}, "[7]"},
		"of a reference":        {delivery.Query{Reference: "3"}, "[7 4]"},
		"of all at once":        {delivery.Query{Reference: "3", Type: "CHARGE", State: delivery.Delivered, After: 3}, "[4]"},
	} {
		t.Run(name, func(t *testing.T) {
			ids := []int64{}
			for _, d := range w.Deliveries(row.query) {
				ids = append(ids, d.ID)
			}
			if got := fmt.Sprint(ids); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestOnlyTheLatestDeliveriesAreKeptAndAllAreCounted(t *testing.T) {
	w := start(t, delivery.Config{Keep: 3})
	for i := range 8 {
		w.send(charge(fmt.Sprint(i), "1.25"))
	}
	w.settle(t)
	if got := w.deliveries(); len(got) != 3 || got[0].ID != 6 || got[2].ID != 8 {
		t.Errorf("got %+v", got)
	}
	for id, want := range map[int64]bool{0: false, 5: false, 6: true, 8: true, 9: false, -1: false} {
		if d, kept := w.Delivery(id); kept != want || kept && d.ID != id {
			t.Errorf("%d: got %d, %t", id, d.ID, kept)
		}
	}
	if got := w.Totals()[0].Acknowledged; got.Count != 8 || got.Amount.String() != "10.00" {
		t.Errorf("got %+v", got)
	}
}

func TestADeliveryIsACopy(t *testing.T) {
	w := start(t, delivery.Config{})
	w.receiver.answer(500)
	w.send(charge("1", "1.00"))
	w.settle(t)
	d, _ := w.Delivery(1)
	d.Attempts[0].Status = 0
	if again, _ := w.Delivery(1); again.Attempts[0].Status != 500 {
		t.Error("what was given out changed what is kept")
	}
}

func TestADeliveryIsReadableAsJSON(t *testing.T) {
	w := start(t, delivery.Config{})
	w.send(charge("1", "1.00"))
	w.settle(t)
	d, _ := w.Delivery(1)
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"transactionType":"CHARGE"`, `"state":"delivered"`, `"body":"transactionType=CHARGE\u0026firstName=Jos%C3%A9`, `"acknowledged":true`, `"took":"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	var again delivery.Delivery
	if err := json.Unmarshal(text, &again); err != nil || string(again.Attempts[0].Body) != string(d.Attempts[0].Body) {
		t.Errorf("read again: %v, %+v", err, again)
	}
}
