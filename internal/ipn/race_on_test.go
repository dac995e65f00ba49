//go:build race

package ipn_test

// underRace says that the race detector is in, which allocates on its own account.
const underRace = true
