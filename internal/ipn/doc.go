// Package ipn is the meaning of an Instant Payment Notification: what its bytes say, which event it is, whether it is
// genuine, and what of it counts as money. It does no I/O and keeps no state, so that the same bytes mean the same
// today, in a replay next year and in another replica.
//
// A body is one line of name=value pairs, about a hundred of them, a quarter to a half empty. The sender promises
// little: names change case between editions, may repeat, and merchants add fields of their own under any title. Hence
// the decision everything here follows from: decoding never fails. Whatever arrives becomes an [Event] with all of its
// fields in order, and what is odd about it becomes a [Problem] beside it. Refusing a notification for its content
// would lose money facts that the sender will not tell again.
//
// An event is told by its [Identity], a hash over what makes two events of one type different events (a reference, a
// reversal's own reference, a subscription and a date), never over the bytes: a resend may differ in field order,
// encoding and delivery id, and is still the same event. What the sender has not documented a key for is told by its
// whole content.
//
//	event := new(ipn.Decoder).Decode(body, contentType)
//	identity := ipn.Scope{Endpoint: "/ipn"}.Identify(event)
//	fmt.Println(event.Facts.TransactionType, event.Facts.Amount, event.Facts.Currency, identity)
package ipn
