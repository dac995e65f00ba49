//go:build linux || darwin

package embeddedpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Lock is a held flock on a file. The system releases it when the process
// ends, however it ends, so it cannot go stale as a file with a number in it can.
type Lock struct{ file *os.File }

// TryLock makes the file when missing, takes its lock and notes the process in
// it. It fails with a *LockedError while another process, or this one, holds it.
func TryLock(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &LockedError{Holder: holder(file)}
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	err = file.Truncate(0)
	if err == nil {
		_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("note the process in %s: %w", path, err)
	}
	return &Lock{file}, nil
}

// WaitLock is TryLock that waits until the lock is free or ctx ends.
func WaitLock(ctx context.Context, path string) (*Lock, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		lock, err := TryLock(path)
		var held *LockedError
		if !errors.As(err, &held) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the lock %s: %w", path, err)
		case <-tick.C:
		}
	}
}

// Unlock releases the lock. The file stays: removing it would let two processes
// lock two files of one name.
func (l *Lock) Unlock() { l.file.Close() }

// holder reads who noted itself in a lock file; "unknown" while it is at it.
func holder(file *os.File) string {
	text := make([]byte, 20)
	n, _ := file.ReadAt(text, 0)
	if pid := strings.TrimSpace(string(text[:n])); pid != "" {
		return pid
	}
	return "unknown"
}
