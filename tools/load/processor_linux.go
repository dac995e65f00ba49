package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of processor time in /proc, the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// processorTime returns what this process has used so far, and PostgreSQL with its backends, those that ended included.
func processorTime(postmaster int) (own, postgres time.Duration) {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // fails only for a bad first argument
	own = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil { // it ended meanwhile
			continue
		}
		// The name in parentheses may hold blanks; the fields are counted behind it (proc(5): 1 state, 2 ppid, 12 to 15 times).
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		switch {
		case pid == postmaster:
			postgres += ticks(fields[11]) + ticks(fields[12]) + ticks(fields[13]) + ticks(fields[14])
		case fields[1] == strconv.Itoa(postmaster):
			postgres += ticks(fields[11]) + ticks(fields[12])
		}
	}
	return own, postgres
}

func ticks(text string) time.Duration {
	n, _ := strconv.Atoi(text)
	return time.Duration(n) * tick
}
