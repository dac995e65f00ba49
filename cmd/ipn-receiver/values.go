package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// Secret is a setting that does not show itself, whatever prints the settings.
type Secret struct{ text string }

const hidden = "[hidden]"

// UnmarshalText takes any text.
func (s *Secret) UnmarshalText(text []byte) error {
	s.text = string(text)
	return nil
}

// Reveal returns the text: for those who need it, and for nothing that prints.
func (s Secret) Reveal() string { return s.text }

// IsZero tells whether the secret is not set.
func (s Secret) IsZero() bool { return s.text == "" }

// String returns "[hidden]".
func (s Secret) String() string { return hidden }

// Format writes "[hidden]" whatever the verb.
func (s Secret) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, hidden) }

// MarshalText returns "[hidden]".
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Size is a number of bytes, written as 65536, 256KiB, 1MiB or 10MB.
type Size int64

// units are the suffixes of a size, the longer before those they end in.
var units = []struct {
	suffix string
	bytes  int64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"b", 1}, {"", 1},
}

// UnmarshalText reads a whole number and a unit, in any letter case.
func (s *Size) UnmarshalText(text []byte) error {
	lower := strings.ToLower(strings.TrimSpace(string(text)))
	for _, unit := range units {
		digits, ok := strings.CutSuffix(lower, unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 63)
		if err != nil || n > uint64(math.MaxInt64/unit.bytes) {
			break
		}
		*s = Size(int64(n) * unit.bytes)
		return nil
	}
	return fmt.Errorf("%q is no size: write bytes, or a number with KiB, MiB or GiB, such as 256KiB", text)
}

// Switch is on or off.
type Switch string

// On tells whether the switch is on.
func (s Switch) On() bool { return s == "on" }

// Zone is a time zone out of the zone database that the program carries.
type Zone struct{ *time.Location }

// UnmarshalText refuses the zone of the machine: what an IPN means must not
// change with where it is read.
func (z *Zone) UnmarshalText(text []byte) error {
	name := strings.TrimSpace(string(text))
	location, err := time.LoadLocation(name)
	if err != nil || name == "" || location == time.Local {
		return fmt.Errorf("%q is no time zone: write UTC, or a name such as Europe/Berlin", text)
	}
	z.Location = location
	return nil
}

// Networks is a list of addresses and networks.
type Networks struct{ ipn.Senders }

// UnmarshalText reads entries between commas, blanks and newlines.
func (n *Networks) UnmarshalText(text []byte) error {
	entries := strings.FieldsFunc(string(text), func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
	senders, err := ipn.ParseSenders(entries)
	if err != nil {
		return err
	}
	n.Senders = senders
	return nil
}
