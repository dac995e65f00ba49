package store

// Waiting returns how many receipts wait for the committer.
func (r *Recorder) Waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.queue)
}

// What the tests of the SQLSTATE table ask.
var (
	Refused     = refused
	Unavailable = unavailable
	Known       = known
)

// Limits that the tests are told rather than repeat.
const (
	MaxBatch = maxBatch
	LogLock  = logLock
)
