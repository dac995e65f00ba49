package ipn

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// nameID is a row of nameTable; 0 is no standard name.
type nameID uint8

// mustName returns the id of a plain standard name. It panics for any other, so that a misspelling in this package
// cannot survive its first start.
func mustName(name string) nameID {
	id := plainNames.find(name)
	if id == 0 {
		panic("ipn: no standard field name: " + name)
	}
	return id
}

// lookupName finds a standard name, plain or indexed, without letter case; 0 for any other name. It does not allocate.
func lookupName(name string) nameID {
	if id := plainNames.find(name); id != 0 {
		return id
	}
	if name == "" || !endsIndexed(name[len(name)-1]) {
		return 0
	}
	base, index := cutIndex(name)
	if index == "" {
		return 0
	}
	return indexedNames.find(base)
}

func endsIndexed(last byte) bool { return '0' <= last && last <= '9' || last == ']' || last == '}' }

// cutIndex cuts an indexed name into its base and the digits of its index: name0, name[0] and name{0}. The index is
// empty when there is none.
func cutIndex(name string) (base, index string) {
	end := len(name)
	open := byte(0)
	switch {
	case strings.HasSuffix(name, "]"):
		end, open = end-1, '['
	case strings.HasSuffix(name, "}"):
		end, open = end-1, '{'
	}
	start := end
	for start > 0 && '0' <= name[start-1] && name[start-1] <= '9' {
		start--
	}
	base, index = name[:start], name[start:end]
	if open == 0 {
		return base, index
	}
	if start == 0 || name[start-1] != open {
		return name, ""
	}
	return name[:start-1], index
}

// nameSet is a hash table from names to their rows. A map would need the name in one letter case, hence a copy of each
// of the hundred names of a body; this one folds while it hashes eight bytes at a time.
type nameSet [1 << nameSetBits]nameID

const nameSetBits = 10 // four times the rows: most names are found at the first slot

var (
	plainNames   = newNameSet(false)
	indexedNames = newNameSet(true)
)

func newNameSet(indexed bool) *nameSet {
	set := new(nameSet)
	for id := 1; id < len(nameTable); id++ {
		if nameTable[id].indexed != indexed {
			continue
		}
		slot := hashName(nameTable[id].name)
		for set[slot] != 0 {
			slot = (slot + 1) % uint32(len(set))
		}
		set[slot] = nameID(id)
	}
	return set
}

func (s *nameSet) find(name string) nameID {
	for slot := hashName(name); s[slot] != 0; slot = (slot + 1) % uint32(len(s)) {
		if known := nameTable[s[slot]].name; known == name || sameName(known, name) {
			return s[slot]
		}
	}
	return 0
}

// hashName mixes length, first and last eight bytes, without letter case, into a slot of a nameSet. Who sends many
// names of one slot on purpose gains little: only standard names are ever compared.
func hashName(name string) uint32 {
	const (
		lower = 0x2020202020202020
		mixA  = 0x9e3779b97f4a7c15
		mixB  = 0xd6e8feb86659fd93
	)
	var head, tail uint64
	if len(name) >= 8 {
		head = binary.LittleEndian.Uint64([]byte(name[:8]))
		tail = binary.LittleEndian.Uint64([]byte(name[len(name)-8:]))
	} else {
		for i := range len(name) {
			head = head<<8 | uint64(name[i])
		}
	}
	mixed := ((head|lower)*mixA ^ bits.RotateLeft64(tail|lower, 31) ^ uint64(len(name))) * mixB
	return uint32(mixed >> (64 - nameSetBits))
}

// nameIndex tells where in the fields each plain standard name first stands with a value. The zero index is empty.
type nameIndex struct {
	first        [len(nameTable)]uint16 // position + 1
	contradicted [(len(nameTable) + 63) / 64]uint64
}

// maxIndexed is the last position an index can name.
const maxIndexed = 1<<16 - 2

// at returns the position of the first value, or -1 when there is none or it is contradicted.
func (x *nameIndex) at(id nameID) int {
	if x.contradicted[id/64]>>(id%64)&1 == 1 {
		return -1
	}
	return int(x.first[id]) - 1
}

func (x *nameIndex) contradict(id nameID) { x.contradicted[id/64] |= 1 << (id % 64) }
