package ipn

import (
	"hash/maphash"
	"math/bits"
	"strings"
)

// A Field is one pair of the body, as sent and decoded once. Both texts are
// valid UTF-8; they may hold a NUL.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Fields are the pairs of a body in order of arrival, repeats and empty ones
// kept. A map would lose both: the sender repeats names, and which of two
// values counts is a question for whoever reads the field.
type Fields []Field

// Get returns the first value under a name, "" when there is none. The sender
// changes the case of its names from edition to edition, so case is ignored.
func (f Fields) Get(name string) string {
	for i := range f {
		if sameName(f[i].Name, name) {
			return f[i].Value
		}
	}
	return ""
}

// All returns every value under a name in order of arrival, nil when there is
// none. Case is ignored, as in Get.
func (f Fields) All(name string) []string {
	var values []string
	for i := range f {
		if sameName(f[i].Name, name) {
			values = append(values, f[i].Value)
		}
	}
	return values
}

// sameName compares without case. Equal lengths come first: they are quick,
// and they keep a Kelvin sign from passing for a k.
func sameName(a, b string) bool {
	return len(a) == len(b) && strings.EqualFold(a, b)
}

// AppendJSON appends the fields that are not empty as one JSON object: names
// as sent, in order of first appearance, a repeated name's values as an array.
// Postgres jsonb accepts every object made here: a NUL, which jsonb cannot
// hold, and bytes that are not UTF-8 become U+FFFD.
func (f Fields) AppendJSON(dst []byte) []byte { return f.appendObject(dst, false) }

// AppendFullJSON is AppendJSON with the empty fields too.
func (f Fields) AppendFullJSON(dst []byte) []byte { return f.appendObject(dst, true) }

func (f Fields) appendObject(dst []byte, empties bool) []byte {
	var roles [256]uint8
	var slots [512]uint32
	f = withStorableNames(f)
	plan := f.plan(empties, roles[:], slots[:])
	dst = append(dst, '{')
	comma := false
	for i := range f {
		role := plan[i]
		if role == skipped {
			continue
		}
		if comma {
			dst = append(dst, ',')
		}
		comma = true
		dst = append(appendString(dst, f[i].Name), ':')
		if role == repeated {
			dst = f[i:].appendArray(dst, empties)
			continue
		}
		dst = appendString(dst, f[i].Value)
	}
	return append(dst, '}')
}

// appendArray appends the values under exactly the name of the first field.
func (f Fields) appendArray(dst []byte, empties bool) []byte {
	dst = append(dst, '[')
	for i := range f {
		if f[i].Name != f[0].Name || f[i].Value == "" && !empties {
			continue
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, f[i].Value)
	}
	return append(dst, ']')
}

// What a field becomes in the object.
const (
	single   = iota // a key with one value
	repeated        // the first of several under one name: a key with an array
	skipped         // empty, or told by the first of its name
)

var planSeed = maphash.MakeSeed()

// plan gives each field its role. It finds the repeated names with a hash table,
// since comparing each name with each would cost more than the writing. The two
// slices are room on the caller's stack, enough for bodies of ordinary size;
// slots is all zero.
func (f Fields) plan(empties bool, roles []uint8, slots []uint32) []uint8 {
	if len(f) > len(roles) {
		roles, slots = make([]uint8, len(f)), make([]uint32, tableSize(len(f)))
	}
	mask := uint64(len(slots) - 1)
	for i := range f {
		if f[i].Value == "" && !empties {
			roles[i] = skipped
			continue
		}
		slot := maphash.String(planSeed, f[i].Name) & mask
		for slots[slot] != 0 && f[slots[slot]-1].Name != f[i].Name {
			slot = (slot + 1) & mask
		}
		if first := slots[slot]; first != 0 {
			roles[first-1], roles[i] = repeated, skipped
			continue
		}
		slots[slot] = uint32(i + 1)
	}
	return roles
}

// tableSize is the power of two that leaves a table of n entries half empty.
func tableSize(n int) int { return 2 << bits.Len(uint(n)) }
