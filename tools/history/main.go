// Command history makes the event history of a merchant who has been at it for years, and measures how fast finance is
// answered from it.
//
// It exists because an index that is missing does not show on a hundred events. Its one non-obvious decision is that the
// events go through the receiver's own decoder, recorder and ledger, and not by COPY into the tables: what is measured is
// then the database that the program would have made, with its physical order and its bloat.
//
//	go -C tools run ./history make --events 200000 --data-dir /var/tmp/ipn-history
//	IPN_DATA_DIR=/var/tmp/ipn-history go run ./cmd/ipn-receiver
//	go -C tools run ./history ask --url http://127.0.0.1:8081
package main

import (
	"fmt"
	"os"

	"github.com/alecthomas/kong"
)

type commandLine struct {
	Make maker `cmd:"" help:"Record a made-up history and let the ledger take it in."`
	Ask  asker `cmd:"" help:"Ask a running receiver everything that finance asks, and tell how long it took."`
}

func main() {
	line := kong.Parse(new(commandLine), kong.Name("history"), kong.UsageOnError())
	if err := line.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "history:", err)
		os.Exit(1)
	}
}
