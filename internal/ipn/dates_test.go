package ipn_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func zone(tb testing.TB, name string) *time.Location {
	tb.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		tb.Fatal(err)
	}
	return z
}

func TestDatesAreInstantsByPacificClocks(t *testing.T) {
	for _, tt := range []struct{ text, want, problem string }{
		{"", "", ""},
		{" ", "", ""},
		{"01/15/2023 01:02 PM", "2023-01-15T21:02:00Z", ""},
		{"05/15/2023 01:02 PM", "2023-05-15T20:02:00Z", ""},
		{" 05/15/2023 01:02 PM ", "2023-05-15T20:02:00Z", ""},
		{"05/15/2023 01:02 pm", "2023-05-15T20:02:00Z", ""},
		{"05/15/2023 12:00 AM", "2023-05-15T07:00:00Z", ""},
		{"05/15/2023 12:30 PM", "2023-05-15T19:30:00Z", ""},
		{"05/15/2023 11:59 PM", "2023-05-16T06:59:00Z", ""},
		{"05/15/2023 01:02:57 PM", "2023-05-15T20:02:57Z", ""},
		{"05/15/2023", "2023-05-15T07:00:00Z", ""},
		{"02/29/2024 01:00 AM", "2024-02-29T09:00:00Z", ""},
		{"01/01/1990 12:00 AM", "1990-01-01T08:00:00Z", ""},
		{"12/31/2200 11:59 PM", "2201-01-01T07:59:00Z", ""},

		{"03/12/2023 01:59 AM", "2023-03-12T09:59:00Z", ""},
		{"03/12/2023 02:00 AM", "", ipn.DateNonexistent},
		{"03/12/2023 02:59 AM", "", ipn.DateNonexistent},
		{"03/12/2023 03:00 AM", "2023-03-12T10:00:00Z", ""},
		{"11/05/2023 12:59 AM", "2023-11-05T07:59:00Z", ""},
		{"11/05/2023 01:00 AM", "2023-11-05T08:00:00Z", ipn.DateAmbiguous},
		{"11/05/2023 01:59 AM", "2023-11-05T08:59:00Z", ipn.DateAmbiguous},
		{"11/05/2023 02:00 AM", "2023-11-05T10:00:00Z", ""},

		{"12/31/1989 11:59 PM", "", ipn.DateOutOfRange},
		{"01/01/2201 12:00 AM", "", ipn.DateOutOfRange},
		{"01/01/0001 12:00 AM", "", ipn.DateOutOfRange},
		{"01/01/9999", "", ipn.DateOutOfRange},
		{"02/29/2023 01:00 AM", "", ipn.DateMalformed},
		{"02/30/2026 01:00 AM", "", ipn.DateMalformed},
		{"00/10/2023 01:00 AM", "", ipn.DateMalformed},
		{"13/10/2023 01:00 AM", "", ipn.DateMalformed},
		{"10/00/2023 01:00 AM", "", ipn.DateMalformed},
		{"05/15/2023 13:60 PM", "", ipn.DateMalformed},
		{"05/15/2023 13:00 PM", "", ipn.DateMalformed},
		{"05/15/2023 00:00 AM", "", ipn.DateMalformed},
		{"05/15/2023 01:60 AM", "", ipn.DateMalformed},
		{"05/15/2023 01:02:60 AM", "", ipn.DateMalformed},
		{"05/15/2023 01:02", "", ipn.DateMalformed},
		{"05/15/2023 01:02 XM", "", ipn.DateMalformed},
		{"05/15/2023 01:02 AX", "", ipn.DateMalformed},
		{"05/15/2023 01:02 P-", "", ipn.DateMalformed},
		{"05/15/2023 01:02.PM", "", ipn.DateMalformed},
		{"05/15/2023 01:02PM", "", ipn.DateMalformed},
		{"05/15/2023 01.02 PM", "", ipn.DateMalformed},
		{"05/15/2023 01:02 57 PM", "", ipn.DateMalformed},
		{"05/15/2023T01:02 PM", "", ipn.DateMalformed},
		{"05/15/2023 01:02 PM PST", "", ipn.DateMalformed},
		{"5/15/2023 01:02 PM", "", ipn.DateMalformed},
		{"2023-05-15 13:02:57", "", ipn.DateMalformed},
		{"15.05.2023", "", ipn.DateMalformed},
		{"+5/15/2023", "", ipn.DateMalformed},
		{"05/15/-203", "", ipn.DateMalformed},
		{"05/15/2023 -1:02 PM", "", ipn.DateMalformed},
		{"never", "", ipn.DateMalformed},
		{strings.Repeat("0", 1<<20), "", ipn.DateMalformed},
	} {
		name := tt.text
		if len(name) > 50 {
			name = "a very long one"
		}
		t.Run(name, func(t *testing.T) {
			got, problem := ipn.ParseDate(tt.text, nil)
			var text string
			if !got.IsZero() {
				text = got.Format(time.RFC3339)
			}
			if text != tt.want || problem != tt.problem {
				t.Errorf("got %q, %q, want %q, %q", text, problem, tt.want, tt.problem)
			}
		})
	}
}

func TestDatesFollowTheGivenZone(t *testing.T) {
	for _, tt := range []struct{ zone, text, want, problem string }{
		{"UTC", "03/12/2023 02:30 AM", "2023-03-12T02:30:00Z", ""},
		{"Europe/Berlin", "07/01/2023 12:00 PM", "2023-07-01T10:00:00Z", ""},
		{"Europe/Berlin", "03/26/2023 02:30 AM", "0001-01-01T00:00:00Z", ipn.DateNonexistent},
		{"Europe/Berlin", "10/29/2023 02:30 AM", "2023-10-29T00:30:00Z", ipn.DateAmbiguous},
		{"Australia/Lord_Howe", "04/02/2023 01:45 AM", "2023-04-01T14:45:00Z", ipn.DateAmbiguous},
		{"Pacific/Apia", "12/30/2011 12:00 PM", "0001-01-01T00:00:00Z", ipn.DateNonexistent},
	} {
		got, problem := ipn.ParseDate(tt.text, zone(t, tt.zone))
		if text := got.Format(time.RFC3339); text != tt.want || problem != tt.problem {
			t.Errorf("%s %s: got %s, %q, want %s, %q", tt.zone, tt.text, text, problem, tt.want, tt.problem)
		}
	}
}

func TestADateCostsNoAllocation(t *testing.T) {
	if underRace {
		t.Skip("the race detector allocates on its own account")
	}
	for _, text := range []string{"05/15/2023 01:02 PM", "11/05/2023 01:30 AM", "never"} {
		if got := testing.AllocsPerRun(100, func() { ipn.ParseDate(text, nil) }); got > 0 {
			t.Errorf("%q: got %v allocations, want none", text, got)
		}
	}
}

// Every minute of the days around a change of clocks, told by clocks, is that
// minute again, an ambiguous one at most an hour (half an hour on Lord Howe)
// before it. The reference is the standard library's way from instant to text.
func TestEveryMinuteAroundAChangeOfClocksReadsBack(t *testing.T) {
	for _, name := range []string{"America/Los_Angeles", "Europe/Berlin", "Australia/Lord_Howe"} {
		z := zone(t, name)
		for _, month := range []time.Month{time.March, time.April, time.October, time.November} {
			for at := time.Date(2023, month, 1, 0, 0, 0, 0, time.UTC); at.Month() == month; at = at.Add(15 * time.Minute) {
				text := at.In(z).Format("01/02/2006 03:04 PM")
				got, problem := ipn.ParseDate(text, z)
				back := at.Sub(got)
				if problem == "" && back != 0 || problem == ipn.DateAmbiguous && (back < 0 || back > time.Hour) ||
					problem != "" && problem != ipn.DateAmbiguous {
					t.Fatalf("%s, %s: got %v, %q, want %v", name, text, got, problem, at)
				}
			}
		}
	}
}

func FuzzDate(f *testing.F) {
	zones := []*time.Location{nil, time.UTC, zone(f, "Europe/Berlin"), zone(f, "Australia/Lord_Howe"), zone(f, "Pacific/Apia")}
	for i, text := range []string{"05/15/2023 01:02 PM", "05/15/2023", "05/15/2023 01:02:57 am", "11/05/2023 01:30 AM", "03/12/2023 02:30 AM", "02/30/2026 13:60 PM"} {
		f.Add(text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, pick uint8) {
		z := zones[int(pick)%len(zones)]
		got, problem := ipn.ParseDate(text, z)
		if z == nil {
			z = zone(t, "America/Los_Angeles")
		}
		if problem != "" && ipn.ProblemSentence(problem) == "" {
			t.Fatalf("%q: unknown code %q", text, problem)
		}
		checkClocks(t, text, got, problem, z)
	})
}

// checkClocks compares the instant with what the standard library reads, as far
// as that is strict, and with what clocks in the zone show at it.
func checkClocks(t *testing.T, text string, got time.Time, problem string, z *time.Location) {
	t.Helper()
	if got.IsZero() {
		if problem == "" && strings.TrimSpace(text) != "" {
			t.Fatalf("%q: neither an instant nor a problem", text)
		}
		return
	}
	trimmed := strings.ToUpper(strings.TrimSpace(text))
	var shown []string
	for _, layout := range []string{"01/02/2006 03:04 PM", "01/02/2006 03:04:05 PM", "01/02/2006"} {
		shown = append(shown, got.In(z).Format(layout))
		if shown[len(shown)-1] == trimmed {
			return
		}
	}
	t.Fatalf("%q: clocks show %s at %v", text, fmt.Sprint(shown), got)
}
