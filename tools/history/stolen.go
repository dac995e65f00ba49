package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// processors is what the machine's processors did since it started, in ticks: all of it, and what the host of a virtual
// machine gave to others meanwhile.
type processors struct{ all, stolen float64 }

// readProcessors reads the line cpu of /proc/stat, whose eighth number is "steal" (proc_stat(5)). Where there is none, nothing
// is ever stolen.
func readProcessors() (p processors) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return p
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	const steal, guest = 8, 9 // guest times are in those of users already
	for i, field := range strings.Fields(string(line)) {
		ticks, err := strconv.ParseFloat(field, 64)
		if i == 0 || i >= guest || err != nil {
			continue
		}
		p.all += ticks
		if i == steal {
			p.stolen = ticks
		}
	}
	return p
}

// stolenSince is the share of the processors' time, in percent, that others had since before.
func (p processors) stolenSince(before processors) float64 {
	if p.all <= before.all {
		return 0
	}
	return 100 * (p.stolen - before.stolen) / (p.all - before.all)
}
