package control

import (
	"context"
	"net/http"
	"time"
)

// clockAnswer is the simulated time as the door tells it.
type clockAnswer struct {
	Now     time.Time `json:"now"`
	Speed   float64   `json:"speed"`
	Pending int       `json:"pending"` // entries of the agenda still to come
}

func (d door) clock(*http.Request) (any, error) {
	return clockAnswer{Now: d.Agenda.Now(), Speed: d.Agenda.Speed(), Pending: d.Agenda.Pending()}, nil
}

const (
	mostAdvance = 10 * 366 * 24 * time.Hour // some 90,000 steps
	step        = time.Hour                 // divides the hours between attempts, and the days between renewals
)

// setClock answers when all that became due on the way has been done, and its IPNs posted.
func (d door) setClock(r *http.Request) (any, error) {
	var asked struct {
		Advance string  `json:"advance"`
		Speed   float64 `json:"speed"`
	}
	if err := read(r, &asked); err != nil {
		return nil, err
	}
	if asked.Speed < 0 {
		return nil, invalid("speed is more than 0")
	}
	var advance time.Duration
	if asked.Advance != "" {
		var err error
		if advance, err = time.ParseDuration(asked.Advance); err != nil || advance < 0 || advance > mostAdvance {
			return nil, invalid("advance is a duration such as 720h, of ten years at most")
		}
	}
	d.Agenda.SetSpeed(asked.Speed) // ignores 0
	if err := d.advance(r.Context(), advance); err != nil {
		return nil, &problem{http.StatusServiceUnavailable, "interrupted on the way"}
	}
	return d.clock(r)
}

// advance moves the clock ahead step by step, so that the IPNs of one hour are posted before those of the next become due.
func (d door) advance(ctx context.Context, by time.Duration) error {
	for by > 0 {
		next := min(by, step)
		d.Agenda.Advance(next)
		if err := d.Sender.Idle(ctx); err != nil {
			return err
		}
		by -= next
	}
	return nil
}
