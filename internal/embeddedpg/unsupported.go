//go:build !linux && !darwin

package embeddedpg

import (
	"context"
	"errors"
	"runtime"
)

// errUnsupported is what everything answers where there is no flock and no way
// to tie a child to its parent.
var errUnsupported = errors.New("a private PostgreSQL cannot be started on " + runtime.GOOS + ": set IPN_DATABASE_URL")

type (
	process struct{}
	// A Lock is a held lock on a file.
	Lock struct{}
)

func start(context.Context, Config) (*Server, error) { return nil, errUnsupported }

func (p *process) pid() int                         { return 0 }
func (p *process) stop(context.Context, bool) error { return errUnsupported }

// FindVersion fails: there is nothing to find here.
func FindVersion(context.Context, Config) (string, error) { return "", errUnsupported }

// TryLock fails: there is no flock here.
func TryLock(string) (*Lock, error) { return nil, errUnsupported }

// WaitLock fails: there is no flock here.
func WaitLock(context.Context, string) (*Lock, error) { return nil, errUnsupported }

// Unlock has nothing to release.
func (l *Lock) Unlock() {}
