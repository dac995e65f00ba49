// Package pgtest gives each test a PostgreSQL database of its own, migrated and
// empty, in some 40 ms and with nothing to prepare.
//
//	func TestARecordIsKept(t *testing.T) {
//		dsn := pgtest.New(t)
//		...
//	}
//
// The server is that of TEST_DATABASE_URL, a URL of a role that may create
// databases, or else a private one of internal/embeddedpg, one per test process,
// so that packages tested at the same time cannot disturb each other. It is
// unpacked from an archive of a cluster that was migrated once and kept in the
// cache; it forgets everything on purpose, and dies with the test process.
//
// The decision that is not obvious is a database per test, cloned from a
// template, where a schema would be cheaper: search_path, LISTEN channels and
// advisory locks stay those of production.
//
// Without any server a test fails with advice. It is never skipped in silence;
// `go test -short` skips aloud.
package pgtest
