// Package embeddedpg runs a private PostgreSQL server for a box that has none
// to offer, so that one command starts the whole receiver and the tests need
// nothing prepared. It brings no server of its own: Start takes the programs
// that are installed, or an earlier fetch, or (when allowed) fetches them into
// a cache without changing the system, and keeps one cluster in one directory.
//
// The decision that is not obvious is that `postgres` is started directly, as a
// child that cannot outlive this process, and not by pg_ctl as a daemon: kill
// -9, a panic or the time limit of a test leave nothing behind. It listens on a
// unix socket alone, in a directory only its account and root may enter, which
// is what makes trust authentication right and a clash of ports impossible.
//
// Started by root, the child runs as postgres, _postgres or nobody, since the
// server refuses to be root. The directory of a running server:
//
//	<Dir>/postgres/lock      held by the process that owns the server
//	<Dir>/postgres/data      the cluster
//	<Dir>/postgres/s         the socket (in the temporary directory where the path would be too long)
//	<Dir>/postgres/log       what the server says; never a value of a statement
package embeddedpg
