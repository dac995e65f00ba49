// Package export writes the history and the movements as files for other programs: CSV (RFC 4180) and JSON lines.
//
// Its one non-obvious decision is that an export is no snapshot but a walk along the log. It reads rows in chunks by
// ascending event id, up to the id that was the newest when it began: no transaction stays open, memory stays flat, and
// whoever holds the first half of a file can have the second without the first.
package export
