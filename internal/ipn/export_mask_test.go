package ipn

import "maps"

// Veil returns what is shown of a value that was sent under a name.
func Veil(name, value string) string { return classOf(name).veil(value) }

// PersonalByDefault tells whether a name has the class of those that nobody thought about.
func PersonalByDefault(name string) bool { return classOf(name) == classPersonal }

// SentenceTable returns the types that have a sentence, each with its template.
func SentenceTable() map[string]string { return maps.Clone(sentenceTable) }
