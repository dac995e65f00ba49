// Package house holds the laws of this code base as tests: which room may
// import which, who may read the environment, how long a function may grow, how
// money is never held. It has no code of its own to run.
//
// A rule that is only written down is broken in silence within a year; a rule
// that fails `go test` is either kept or argued about in review. Each law
// therefore says why it stands, and the decision behind the package is that
// every law must also be seen to fail: the table of laws carries, for each, a
// snippet that breaks it, and a law that lets its own breach pass fails too. The
// laws read the source with go/parser alone, so they need no build, take well
// under a second and see files of every platform.
//
// Imports are judged as written, not followed: fmt and net/url reach os
// themselves, so only direct imports say anything about a room's intentions.
package house
