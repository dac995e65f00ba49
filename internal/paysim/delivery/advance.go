package delivery

import (
	"context"
	"time"
)

// step divides the hours between attempts, and the days between renewals.
const step = time.Hour

// Advance moves the clock ahead hour by hour, and lets the IPNs of one hour be posted before those of the next become due.
// Done in one go, a year of renewals would reach the receiver at once, sixteen at a time, and the first resend of each would
// be due before its first attempt was answered. A receiver that hangs holds each hour up by the sender's timeout. The error
// is that of ctx; the clock then stands somewhere on the way.
func (s *Sender) Advance(ctx context.Context, by time.Duration) error {
	for by > 0 {
		next := min(by, step)
		s.config.Agenda.Advance(next)
		if err := s.Idle(ctx); err != nil {
			return err
		}
		by -= next
	}
	return nil
}
