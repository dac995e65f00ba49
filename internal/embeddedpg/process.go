//go:build linux || darwin

package embeddedpg

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A process is a child that cannot outlive us.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the child has been waited for
	err  error         // how it ended; read it after done
}

// run starts cmd, which gets the signal when this process ends in any way.
//
// On Linux that signal follows the thread that forked, not the process: the
// goroutine that starts the child keeps its thread until it has waited for it.
func run(cmd *exec.Cmd, gone syscall.Signal) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		untie, err := startTied(cmd, gone)
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		untie()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// endSignal is what ends a server: SIGINT lets it write a checkpoint first,
// SIGQUIT does not.
func endSignal(durable bool) syscall.Signal {
	if durable {
		return syscall.SIGINT
	}
	return syscall.SIGQUIT
}

// stop asks the server to end, waits, and kills it when ctx ends first. A server
// that a test has halted is woken, or it could not hear.
func (p *process) stop(ctx context.Context, durable bool) error {
	p.signal(endSignal(durable))
	p.signal(syscall.SIGCONT)
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	// SIGQUIT first: the server takes its own children down, SIGKILL orphans them.
	p.signal(syscall.SIGQUIT)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		p.kill()
	}
	return fmt.Errorf("stop PostgreSQL: it had to be killed: %w", ctx.Err())
}

// kill ends the child at once and waits for it.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// signal is silent about a child that has ended.
func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }
