package dispatch

import (
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// verdict is what becomes of an event after a run of the handler.
type verdict int

const (
	givenBack verdict = iota // as if it had not been read: no attempt is spent
	halted                   // given back, and the handler pauses
	done
	skipped // done, because it is not wanted
	failed  // parked, or parked again
	buried
)

// results are the labels of ipn_handler_events_total. What is given back is not counted.
var results = map[verdict]string{done: "done", skipped: "skipped", failed: "failed", buried: "buried"}

// job is one event on its way through the handler.
type job struct {
	event         *ipn.Stored
	due           bool      // it was parked, and its time has come
	spent         int       // attempts before this one
	firstFailedAt time.Time // zero for an event of the log
	verdict       verdict
	wait          time.Duration // after failed: until the next attempt
	report        report
}

func jobsOf(events []ipn.Stored) []*job {
	jobs := make([]*job, len(events))
	for i := range events {
		jobs[i] = &job{event: &events[i]}
	}
	return jobs
}

func dueJobs(due []ipn.Due) []*job {
	jobs := make([]*job, len(due))
	for i := range due {
		jobs[i] = &job{event: &due[i].Stored, due: true, spent: due[i].Attempts, firstFailedAt: due[i].FirstFailedAt}
	}
	return jobs
}

// number is that of the attempt, from 1.
func (j *job) number() int { return j.spent + 1 }

// isOpen reports whether the event has no outcome that could be settled.
func (j *job) isOpen() bool { return j.verdict == givenBack || j.verdict == halted }

// failure tells of the attempt for the settlement.
func (j *job) failure() ipn.Failure {
	return ipn.Failure{
		EventID: j.event.ID, Number: j.number(), Took: j.report.took, Error: j.report.text,
		Bury: j.verdict == buried, Wait: j.wait,
	}
}

// judge decides what becomes of the event. A run that failed while the consumer was stopping is not held against it.
func (j *job) judge(r report, retry Retry, stopping bool, random func() float64) {
	j.report = r
	switch {
	case r.err == nil:
		j.verdict = done
	case r.err == errUnwanted:
		j.verdict = skipped
	case stopping || r.lost:
		j.verdict = givenBack
	case r.wish.kind == wishHalt:
		j.verdict = halted
	case r.wish.kind == wishPermanent || retry.exhausted(j.number(), j.age()):
		j.verdict = buried
	case r.wish.kind == wishAfter:
		j.verdict, j.wait = failed, r.wish.wait
	default:
		j.verdict, j.wait = failed, retry.Delay(j.number(), random())
	}
}

// age counts from the first failure. The clocks are the database's and ours; the limit is in days, so a difference
// does not matter.
func (j *job) age() time.Duration {
	if j.firstFailedAt.IsZero() {
		return 0
	}
	return time.Since(j.firstFailedAt)
}

// settlement gathers what a step came to. The cursor passes the events of the log up to the first that was given back;
// what happened to later ones is forgotten, so a sink sees them again.
func settlement(jobs []*job) (s ipn.Settlement, settled []*job) {
	stopped := false
	for _, j := range jobs {
		if j.isOpen() {
			stopped = stopped || !j.due
			continue
		}
		if !j.due && stopped {
			continue
		}
		settled = append(settled, j)
		switch {
		case j.verdict == failed || j.verdict == buried:
			s.Failed = append(s.Failed, j.failure())
		case j.due:
			s.Done = append(s.Done, ipn.Success{EventID: j.event.ID, Number: j.number(), Took: j.report.took})
		}
		if !j.due {
			s.Position = j.event.ID
		}
	}
	return s, settled
}
