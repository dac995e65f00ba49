package ipn

import "time"

// Session is a person who signed in at the page. The record knows neither the cookie nor the token: who reads it can use
// neither.
type Session struct {
	Digest    [32]byte // SHA-256 of what the cookie holds
	Token     string   // name of the token it was opened with: when that is taken away, the session ends
	Proof     [32]byte // of that very token, made with what the cookie holds: another token of the same name does not go on with it
	OpenedAt  time.Time
	ExpiresAt time.Time
}
