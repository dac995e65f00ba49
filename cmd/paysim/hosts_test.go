package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestADoorOnThisMachineAnswersToNoOtherName(t *testing.T) {
	door := ownNames("https://paysim.example/", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{
		"127.0.0.1:8091": 200, "127.8.8.8": 200, "localhost:8091": 200, "LOCALHOST": 200, "[::1]:8091": 200, "paysim.example": 200, "Paysim.Example:443": 200,
		"elsewhere.example:8091": 421, "127.0.0.1.elsewhere.example": 421, "localhost.elsewhere.example": 421, "192.0.2.1:8091": 421, "": 421,
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		if door.ServeHTTP(w, r); w.Code != want {
			t.Errorf("as %q: got %d, want %d", host, w.Code, want)
		}
	}
}

// A page elsewhere whose name is made to lead to this machine is, to the browser, of one origin with the doors.
func TestNoDoorIsReachedByAnotherNameUnlessExposed(t *testing.T) {
	for flag, want := range map[string]int{"--expose=false": http.StatusMisdirectedRequest, "--expose": http.StatusOK} {
		r := start(t, nil, "--ipn-url=none", flag)
		for _, door := range []string{r.service, r.control} {
			request, err := http.NewRequest(http.MethodGet, door+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = "elsewhere.example:8091"
			if got := r.do(request); got != want {
				t.Errorf("%s with %s: got %d, want %d", door, flag, got, want)
			}
		}
	}
}
