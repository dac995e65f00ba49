package server_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/server"
)

func TestADoorWithoutATokenAnswersToThisMachineOnly(t *testing.T) {
	door := server.LoopbackNames(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:8081": 200, "127.0.0.1": 200, "127.0.0.1:8081": 200, "127.1.2.3": 200, "[::1]:8081": 200, "[::ffff:127.0.0.1]": 200,
		"rebound.example": 421, "rebound.example:8081": 421, "127.0.0.1.example": 421, "localhost.example": 421, "192.0.2.1": 421, "": 421,
	} {
		t.Run(host, func(t *testing.T) {
			request, answer := httptest.NewRequest(http.MethodGet, "/api/v1/events", nil), httptest.NewRecorder()
			request.Host = host
			door.ServeHTTP(answer, request)
			if answer.Code != want {
				t.Errorf("got %d, want %d", answer.Code, want)
			}
		})
	}
}
