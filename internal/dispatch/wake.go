package dispatch

import (
	"context"
	"time"

	"go.uber.org/zap"
)

// hear listens for news of the log and wakes every consumer, until ctx ends. While listening fails, the polls of the
// consumers find what is new.
func (d *Dispatcher) hear(ctx context.Context) {
	pause := newPause()
	deaf := false
	for ctx.Err() == nil {
		began := time.Now()
		err := d.listen(ctx, d.wakeAll)
		if time.Since(began) > longestPause { // it was well meanwhile
			deaf = false
			pause.Reset()
		}
		if err != nil && ctx.Err() == nil && !deaf {
			deaf = true
			d.log.Warn("nobody tells of new events; handlers look for them by themselves", zap.Error(err))
		}
		sleep(ctx, pause.NextBackOff())
	}
}

// wakeAll leaves a token for each consumer. Tokens do not add up: a consumer reads all there is.
func (d *Dispatcher) wakeAll() {
	for _, c := range d.consumers {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}
