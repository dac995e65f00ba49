package targets

import (
	"slices"
	"strings"
)

// hint names the known names that a wrong one was probably meant to be: "" or ": did you mean a, b?".
func hint(wrong string, known []string) string {
	best := near(wrong, known)
	if len(best) == 0 {
		return ": known are " + strings.Join(known, ", ")
	}
	return ": did you mean " + strings.Join(best, ", ") + "?"
}

// near returns up to three known names that are a third of their letters or less away from a wrong one, or hold it,
// nearest first. Letter case does not matter.
func near(wrong string, known []string) []string {
	type candidate struct {
		name string
		away int
	}
	wrong = strings.ToLower(wrong)
	if len(wrong) > 64 {
		return nil
	}
	var found []candidate
	for _, name := range known {
		lower := strings.ToLower(name)
		away := distance(wrong, lower)
		if away <= max(len(lower)/3, 1) || len(wrong) >= 4 && strings.Contains(lower, wrong) {
			found = append(found, candidate{name, away})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.away - b.away })
	var names []string
	for _, c := range found[:min(len(found), 3)] {
		names = append(names, c.name)
	}
	return names
}

// distance is the number of bytes to insert, delete or replace on the way from a to b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			step := diagonal
			if a[i] != b[j] {
				step++
			}
			diagonal = row[j+1]
			row[j+1] = min(step, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
