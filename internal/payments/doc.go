// Package payments speaks to the payment service: every operation of specification section 4 and those beside it, as typed
// requests and answers, and [Converge], which brings the notification configuration to what is desired.
//
// Its one non-obvious decision is that a call is repeated only where repeating it cannot charge or refund twice. What reads
// or deletes is repeated freely; what creates or replaces carries an idempotency-key that stays the same over all attempts; a
// capture, a reversal and an update, which can carry none, are repeated only when the service said that it was too busy, or
// when it was never reached. An account whose service does not honour the key sets [Config].Attempts to 1. A key that the
// client has made is gone when the call has failed: who means to repeat a charge or a refund himself gives one of his own.
//
// What the specification rules out is refused before it is sent, with a [FieldError] that names the field. The text of no
// error holds credentials, card data, or any part of a body but what a documented error consists of: its code, its name, and
// the name of the field that is to blame.
package payments
