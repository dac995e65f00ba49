//go:build !unix

package pgtest

import "errors"

// errNoSignals is never met: embeddedpg has refused to start a server before.
var errNoSignals = errors.New("processes cannot be halted on this system")

func haltFamily(int) error   { return errNoSignals }
func resumeFamily(int) error { return errNoSignals }
func killFamily(int) error   { return errNoSignals }
