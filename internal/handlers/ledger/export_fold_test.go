package ledger

import (
	"maps"
	"slices"
)

// RowNames returns the types that have a row.
func RowNames() []string { return slices.Sorted(maps.Keys(rows)) }
