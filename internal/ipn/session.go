package ipn

import "time"

// Session is a person who signed in to the page. The record knows it by the hash of what the cookie holds.
type Session struct {
	Token     string // id of the token it was opened with: when that is taken away, the session ends
	OpenedAt  time.Time
	ExpiresAt time.Time
}
