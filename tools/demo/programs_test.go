package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The storm kills the receiver; if the demonstration then fails before the receiver is up again, it has to end all the same.
func TestAProgramThatWasKilledNeedsNoStopping(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := program{path: path, log: path + ".log", ready: func(context.Context) (bool, error) { return true, nil }}
	if err := p.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.kill()
	stopped := make(chan error, 1)
	go func() { stopped <- p.stop() }()
	select {
	case err := <-stopped:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it is still being stopped")
	}
}
