package dispatch

// cut decides how many events a projection gets at once. A batch that fails is cut in halves until the one event is
// found that it fails on. From there the size grows with every success, up to most: soon, since one event that fails is
// mostly alone, but not at once, since where every event fails each would cost a search.
type cut struct {
	size, most int
	rest       int // events of the last batch that failed, not yet applied: the culprit is among them
}

const growth = 8

func newCut(most int) cut { return cut{size: most, most: most} }

// failed notes that a batch of n events failed.
func (c *cut) failed(n int) {
	c.rest = n
	c.size = max(n/2, 1)
}

// passed notes that n events are done with, applied or parked. While the culprit is looked for, half of what it must be
// among is tried next: trying all of it would fail for certain.
func (c *cut) passed(n int) {
	if c.rest = max(c.rest-n, 0); c.rest > 0 {
		c.size = (c.rest + 1) / 2
		return
	}
	c.size = min(growth*c.size, c.most)
}

// parked notes that the culprit is found and set aside.
func (c *cut) parked() { c.size, c.rest = 1, 0 }
