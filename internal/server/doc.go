// Package server is the edge of the process: it opens the doors, watches the
// time and the number of those who come in, and closes the doors in order when
// the process is told to stop. It knows HTTP and sockets, and nothing of IPNs.
//
// Opening and serving are two steps. Listen binds at once, so that a port that
// is taken stops the program before anything else starts and port 0 works;
// Server.Run serves later and blocks until the end.
//
// The decision that is not obvious is the order of the end. The sender re-sends
// a refused IPN hours later, so a restart must refuse none: readiness goes
// first, so that a balancer looks elsewhere; then, for DrainDelay, everything is
// still served, with answers that close their connection; then the doors close
// in the order they were given, the one that tells of readiness last; and what
// is in flight is finished within DrainTimeout. A second signal ends all at once.
package server
