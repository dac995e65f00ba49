package notice

import (
	"sync"
	"time"

	// The dates of IPNs are told in one zone of the world, whatever machine the simulator runs on; a container has no zone files.
	_ "time/tzdata"
)

// Date writes a time as the dates of IPNs are: "05/15/2023 01:02 PM", by the clocks of the US Pacific coast, without a zone
// and without seconds.
func Date(t time.Time) string { return t.In(pacific()).Format("01/02/2006 03:04 PM") }

var pacific = sync.OnceValue(func() *time.Location {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil { // the table above holds it: a program without is built wrong
		panic("time zone of IPN dates: " + err.Error())
	}
	return zone
})
