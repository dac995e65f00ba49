package publish

import "github.com/ipn-receiver/ipn-receiver/internal/handlers/secret"

// NewPassword hides a broker's password or token.
func NewPassword(text string) secret.Text { return secret.New(text) }
