// Package publish tells the events to a message bus: a NATS JetStream stream or a Kafka topic, from which as many
// consumers read as like to, each at its own pace. Events travel as CloudEvents in binary mode: the attributes are
// headers, so that a consumer can route without reading the body.
//
// An event counts as sent when the broker says that it is stored, never when it left this process. Nothing waits in a
// buffer here for a broker that is away: the log of the record is the buffer, and the dispatcher, which owns the cursor,
// tries again. An answer that is lost makes an event come twice, under the same id: JetStream drops the second one
// within its duplicate window, and consumers of either bus drop the rest by id.
//
// Streams and topics are made by who runs the broker, with the number of copies and the retention that they answer for.
// What is missing is told in the error, with the command that makes it; it is never made in passing.
//
// Errors name subjects, topics, addresses and the broker's own reasons. They hold no value of an event and no secret.
package publish
