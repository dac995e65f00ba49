// Package payments speaks to the payment service: every operation of specification section 4 and those beside it, as typed
// requests and answers, and [Converge], which brings the notification configuration to what is desired.
//
// Its one non-obvious decision is that a call is repeated only where repeating it cannot charge or refund twice. What reads,
// deletes or replaces is repeated freely; what creates carries an idempotency-key that stays the same over all attempts; a
// capture, a reversal and an update, which can carry none, are repeated only when the service said that it was too busy, or
// when it was never reached.
//
// What the specification rules out is refused before it is sent, with a [FieldError] that names the field. No error of this
// package holds credentials, card data, or any part of a body but the documented code and name of an error.
package payments
