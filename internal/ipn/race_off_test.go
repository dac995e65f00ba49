//go:build !race

package ipn_test

const underRace = false
