package receiver

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// copyTimeout bounds the courtesy of copying a refused post; its answer does not wait for a database that is away.
const copyTimeout = time.Second

// quarantiners is how many posts are put into quarantine at a time: one less than the record's connections for intake,
// so that a flood of forgeries leaves one to the receipts.
const quarantiners = 2

// refuse answers a post that is not believed, and leaves a bounded copy in quarantine: when the key was set wrong, the
// genuine posts among them can be judged again.
func (rc *Receiver) refuse(ctx context.Context, p *post, j judgement) result {
	ctx, cancel := context.WithTimeout(ctx, copyTimeout)
	defer cancel()
	kept, err := rc.quarantine(ctx, rc.quarantined(p, j.reason, j.detail, j.refusal.status))
	return result{answer: j.refusal, fields: append(j.fields,
		zap.String("reason", string(j.reason)), zap.Bool("copied", kept && err == nil))}
}

// own takes responsibility for a post that cannot become an event: it is kept raw, with its reason, and acknowledged,
// because the sender could only send the same again. Like an event it is held while the database is away.
func (rc *Receiver) own(ctx context.Context, p *post, reason ipn.Reason, detail string) result {
	q := rc.quarantined(p, reason, detail, owned.status)
	for pause := 25 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		_, err := rc.quarantine(ctx, q)
		if err == nil {
			return result{answer: owned, fields: []zap.Field{zap.String("reason", string(reason)), zap.String("detail", detail)}}
		}
		select {
		case <-ctx.Done():
			return result{answer: unavailable, cause: err}
		case <-time.After(pause):
		}
	}
}

// quarantine is Record.Quarantine after waiting for one of the places; it fails with ipn.ErrUnavailable when ctx ends
// before.
func (rc *Receiver) quarantine(ctx context.Context, q *ipn.Quarantined) (kept bool, err error) {
	if rc.quarantining.Acquire(ctx, 1) != nil {
		return false, ipn.ErrUnavailable
	}
	defer rc.quarantining.Release(1)
	return rc.Record.Quarantine(ctx, q)
}

func (rc *Receiver) quarantined(p *post, reason ipn.Reason, detail string, answered int) *ipn.Quarantined {
	return &ipn.Quarantined{Reason: reason, Detail: detail, Answered: answered, Digest: ipn.DigestOf(p.body), Raw: p.body, Origin: rc.origin(p)}
}
