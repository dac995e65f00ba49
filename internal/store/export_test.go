package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// TakeTurn takes the turn to configure as AloneConfiguring does, and then shows no sign of life, as a frozen process.
func (s *Store) TakeTurn(ctx context.Context) (*pgx.Conn, error) { return s.tryTurn(ctx) }

// Waiting returns how many receipts wait for the committer.
func (r *Recorder) Waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.queue)
}

// What the tests of the SQLSTATE table ask.
var (
	Refused      = refused
	Unavailable  = unavailable
	Known        = known
	ConnectError = connectError
)

// Pages returns the queries for the ids of a page and their parameters, which the tests let the server explain.
func Pages(q ipn.Question) (queries []string, args [][]any) {
	for _, page := range pages(q) {
		queries, args = append(queries, page.query), append(args, page.args)
	}
	return queries, args
}

// Limits that the tests are told rather than repeat.
const (
	MaxBatch = maxBatch
	LogLock  = logLock
)

// Hazards returns, by setting, the expression that reads it and the value that is bad.
func Hazards() map[string][2]string {
	all := map[string][2]string{}
	for _, h := range hazards {
		all[h.setting] = [2]string{h.expression, h.bad}
	}
	return all
}
