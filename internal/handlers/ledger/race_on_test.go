//go:build race

package ledger_test

// underRace says that the race detector is in, which takes ten times as long.
const underRace = true
