//go:build unix

package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// haltFamily halts a process and its children: the parent first, so that it
// makes no more of them.
func haltFamily(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	return signalChildren(pid, syscall.SIGSTOP)
}

func resumeFamily(pid int) error {
	return errors.Join(signalChildren(pid, syscall.SIGCONT), syscall.Kill(pid, syscall.SIGCONT))
}

func killFamily(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	return errors.Join(signalChildren(pid, syscall.SIGKILL), syscall.Kill(pid, syscall.SIGKILL))
}

// signalChildren is content with a child that has ended meanwhile.
func signalChildren(parent int, signal syscall.Signal) error {
	children, err := childrenOf(parent)
	for _, child := range children {
		if failed := syscall.Kill(child, signal); failed != nil && !errors.Is(failed, syscall.ESRCH) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// childrenOf asks /proc, or ps where there is none.
func childrenOf(parent int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return childrenByPS(parent)
	}
	var children []int
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// "42 (name of any kind) S 17 ...": the name may hold spaces and brackets.
		var pid, ppid int
		var state string
		end := bytes.LastIndexByte(text, ')')
		if end < 0 {
			continue
		}
		fmt.Sscan(string(text), &pid)
		fmt.Sscan(string(text[end+1:]), &state, &ppid)
		if ppid == parent {
			children = append(children, pid)
		}
	}
	return children, nil
}

func childrenByPS(parent int) ([]int, error) {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var children []int
	for line := range strings.Lines(string(out)) {
		var pid, ppid int
		if n, _ := fmt.Sscan(line, &pid, &ppid); n == 2 && ppid == parent {
			children = append(children, pid)
		}
	}
	return children, nil
}
