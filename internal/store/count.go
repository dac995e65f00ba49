package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// CountEvents counts the events that match, up to upTo of them: the answer is upTo where there are more. The order, the
// position and the limit of the question do not matter. It fails with ipn.ErrUnavailable.
func (s *Store) CountEvents(ctx context.Context, q ipn.Question, upTo int64) (n int64, err error) {
	q.After = nil
	r := restrict(q)
	r.args = append(r.args, max(upTo, 1))
	query := fmt.Sprintf("select count(*) from (select from events e %s limit $%d) as counted", r.where(), len(r.args))
	if err := s.queries.QueryRow(ctx, query, append([]any{pgx.QueryExecModeCacheDescribe}, r.args...)...).Scan(&n); err != nil {
		return 0, known(err)
	}
	return n, nil
}
