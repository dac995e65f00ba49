package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// figures gathers what became of each post: its status (0: no answer at all) and how long it waited.
type figures struct {
	mu     sync.Mutex
	status map[int]int
	waits  []time.Duration
}

func newFigures() *figures { return &figures{status: map[int]int{}} }

func (f *figures) add(status int, wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status[status]++
	f.waits = append(f.waits, wait)
}

// count tells how many posts are done, and how many of them were not acknowledged.
func (f *figures) count() (posts, bad int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.waits), len(f.waits) - f.status[200]
}

// summary is what is told of a run. Percentiles are exact: the wait that this share of the posts did not exceed.
type summary struct {
	posts, good              int
	perSecond                float64
	p50, p90, p99, p999, max time.Duration
	status                   string
}

func (f *figures) sum(took time.Duration) summary {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.Sort(f.waits)
	s := summary{
		posts: len(f.waits), good: f.status[200], perSecond: float64(f.status[200]) / took.Seconds(),
		p50: percentile(f.waits, .5), p90: percentile(f.waits, .9), p99: percentile(f.waits, .99), p999: percentile(f.waits, .999), max: percentile(f.waits, 1),
	}
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(f.status)) {
		parts = append(parts, fmt.Sprintf("%d × %d", f.status[status], status))
	}
	s.status = strings.Join(parts, ", ")
	return s
}

// percentile returns the smallest of the sorted waits that at least the share q does not exceed; 0 of none.
func percentile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(q*float64(len(sorted))+.999999) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}

func (s summary) String() string {
	return fmt.Sprintf("%d posts, %.0f acknowledged a second; p50 %s, p90 %s, p99 %s, p99.9 %s, max %s; answers: %s (0: none)",
		s.posts, s.perSecond, ms(s.p50), ms(s.p90), ms(s.p99), ms(s.p999), ms(s.max), s.status)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }

// median returns the middle of some values (of an even number, the mean of the two), with the least and the greatest.
func median(values []float64) (middle, least, greatest float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[0], sorted[n-1]
}
