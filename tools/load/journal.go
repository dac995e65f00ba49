package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
)

// journal is the client's own durable list of what was acknowledged, one reference a line. A nil file keeps none.
type journal struct {
	file *os.File

	mu      sync.Mutex
	written int   // lines
	failed  error // the first trouble

	flushing sync.Mutex
	flushed  int // lines that are on disk; guarded by flushing
}

// openJournal appends to the file at path; "" keeps no journal.
func openJournal(path string) (*journal, error) {
	if path == "" {
		return &journal{}, nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("--journal: %w", err)
	}
	return &journal{file: file}, nil
}

// note returns when the reference of an acknowledged post is on disk. Those who come together share one flush.
func (j *journal) note(status int, reference string) {
	if j.file == nil || status != http.StatusOK {
		return
	}
	line := j.write(reference)
	j.flushing.Lock()
	defer j.flushing.Unlock()
	if j.flushed >= line {
		return
	}
	upTo := j.lines()
	if err := j.file.Sync(); err != nil {
		j.fail(err)
	}
	j.flushed = upTo
}

func (j *journal) write(reference string) (line int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := fmt.Fprintln(j.file, reference); err != nil && j.failed == nil {
		j.failed = err
	}
	j.written++
	return j.written
}

func (j *journal) lines() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.written
}

func (j *journal) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed == nil {
		j.failed = err
	}
}

// close returns the first trouble there was: a journal with holes proves nothing.
func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	if err := j.file.Close(); err != nil {
		j.fail(err)
	}
	return j.failed
}
