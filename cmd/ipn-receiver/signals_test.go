package main

import (
	"context"
	"syscall"
	"testing"
	"time"
)

func TestTheFirstSignalEndsAndTheSecondStopsNow(t *testing.T) {
	ctx, stopNow, release := watchSignals(context.Background())
	defer release()
	for _, c := range []struct {
		name string
		done <-chan struct{}
	}{{"the context", ctx.Done()}, {"the stop", stopNow}} {
		select {
		case <-c.done:
			t.Fatalf("%s came before its signal", c.name)
		default:
		}
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case <-c.done:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s did not come with its signal", c.name)
		}
	}
}

func TestReleaseEndsTheContext(t *testing.T) {
	ctx, stopNow, release := watchSignals(context.Background())
	release()
	<-ctx.Done()
	select {
	case <-stopNow:
		t.Error("stopped at once without a signal")
	default:
	}
}
