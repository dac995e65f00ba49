// Command load measures the receiver: how many posts a second it acknowledges durably, and how long each one waits.
//
// It exists beside `go test -bench` because the figure that matters is made by a real socket, a real commit and a disk.
// Its one non-obvious decision is to time arrivals, not requests: in the open loop a post that should have been sent
// while the receiver was busy is late from the moment it was due, so that a stall is counted for everyone it delayed.
//
//	go run ./load attack --url http://127.0.0.1:8080/ipn --rate 200 --duration 10s
//	go run ./load compare
//	go run ./load dispatch
package main

import (
	"fmt"
	"os"

	"github.com/alecthomas/kong"
)

type commandLine struct {
	Attack   attack     `cmd:"" help:"Post made-up IPNs to a running receiver, and tell what became of them. Exit code 1 unless every answer was 200."`
	Compare  compare    `cmd:"" help:"Measure group commit against one transaction per request, side by side, on a private durable PostgreSQL."`
	Dispatch dispatched `cmd:"" help:"Measure handlers on a private durable PostgreSQL: delay after the acknowledgement, work on a backlog, and what they cost the front door."`
}

func main() {
	line := kong.Parse(new(commandLine), kong.Name("load"), kong.UsageOnError())
	if err := line.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}
