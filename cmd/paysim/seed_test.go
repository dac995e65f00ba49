package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"
)

// bought pastes the printed charge and returns the number of the transaction.
func (r *running) bought() string {
	r.tb.Helper()
	response, err := http.DefaultClient.Do(r.pasted("/services/2/transactions"))
	if err != nil {
		r.tb.Fatal(err)
	}
	defer response.Body.Close()
	var paid struct{ TransactionID string }
	if err := json.NewDecoder(response.Body).Decode(&paid); err != nil || paid.TransactionID == "" {
		r.tb.Fatalf("got no transaction: %d, %v", response.StatusCode, err)
	}
	return paid.TransactionID
}

// A receiver keeps what it was told, and the simulator forgets it: with the numbers of the run before, what is bought now
// would be taken for other words about what was bought then.
func TestARunWithoutASeedHasNumbersOfItsOwn(t *testing.T) {
	first, second := start(t, nil, "--ipn-url=none"), start(t, nil, "--ipn-url=none")
	if a, b := first.bought(), second.bought(); a == b {
		t.Errorf("two runs gave out the number %s", a)
	}
	seed := regexp.MustCompile(`--seed (\d+)`).FindStringSubmatch(first.said())
	if seed == nil {
		t.Fatal("the program does not say which seed tells this story again")
	}
	again, once := start(t, nil, "--ipn-url=none", "--seed="+seed[1]), start(t, nil, "--ipn-url=none", "--seed="+seed[1])
	if a, b := again.bought(), once.bought(); a != b {
		t.Errorf("two runs with one seed gave out %s and %s", a, b)
	}
}
