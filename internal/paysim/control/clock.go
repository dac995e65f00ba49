package control

import (
	"net/http"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/paysim/agenda"
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

const mostAdvance = 10 * 366 * 24 * time.Hour // some 90,000 hours, one by one

// setClock answers when all that became due on the way has been done, and its IPNs posted. Either of the two may be left
// out. A new speed counts before the clock is moved: who asks for both wants the world to go on at it.
func (d door) setClock(r *http.Request) (any, error) {
	var asked struct {
		Advance string  `json:"advance"`
		Speed   float64 `json:"speed"`
	}
	if err := read(r, &asked); err != nil {
		return nil, err
	}
	if asked.Speed < 0 || asked.Speed > agenda.Fastest {
		return nil, invalid("speed is more than 0, at most %.0f", agenda.Fastest)
	}
	var advance time.Duration
	if asked.Advance != "" {
		var err error
		if advance, err = time.ParseDuration(asked.Advance); err != nil || advance < 0 || advance > mostAdvance {
			return nil, invalid("advance is a duration such as 720h, of ten years at most")
		}
	}
	d.Agenda.SetSpeed(asked.Speed) // ignores 0: it was not asked for
	if err := d.Sender.Advance(r.Context(), advance); err != nil {
		return nil, &problem{http.StatusServiceUnavailable, "interrupted on the way"}
	}
	return d.clock(r)
}
