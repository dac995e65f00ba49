package house_test

import (
	"path"
	"sort"
	"strconv"
	"strings"
)

// rooms says which rooms each room may import: the arrows of the house. A room
// is known by the longest entry its folder begins with. Every room may import
// internal/ipn unless it is in strangers. Tests may import what they like; the
// simulator has a law of its own.
var rooms = map[string][]string{
	"internal/ipn":                   {},
	"migrations":                     {},
	"internal/store":                 {"migrations"},
	"internal/server":                {},
	"internal/receiver":              {"internal/server"},
	"internal/finance":               {"internal/server"},
	"internal/dispatch":              {},
	"internal/dispatch/dispatchtest": {"internal/dispatch", "internal/store", "internal/pgtest"},
	"internal/handlers":              {"internal/dispatch"},
	"internal/embeddedpg":            {},
	"internal/pgtest":                {"internal/embeddedpg", "internal/store", "migrations"},
	"internal/payments":              {},
	"internal/paysim":                {},
	"internal/house":                 {},
	"cmd/ipn-receiver":               {"internal", "migrations"},
	"cmd/paysim":                     {"internal/paysim"},
	"tools":                          {"internal", "migrations"},
}

// strangers know nothing of ours, not even the vocabulary: two of them stand for
// the other side of the wire, and must be able to disagree with us.
var strangers = []string{"internal/ipn", "migrations", "internal/payments", "internal/paysim", "cmd/paysim"}

var roomLaw = law{
	name: "a room imports only the rooms its arrows lead to",
	why:  "The arrows keep each room readable alone, and keep the front door from growing into the store. A new room is entered in the table of rooms.",
	find: func(all tree) []string {
		return eachImport(all, func(s source, target string) string {
			if s.isTest() || !strings.HasPrefix(target, module+"/") {
				return ""
			}
			return roomBreach(s, strings.TrimPrefix(target, module+"/"))
		})
	},
	breach: snippet{"internal/receiver/x.go", `package receiver; import _ "` + module + `/internal/store"`},
	near:   snippet{"internal/receiver/x.go", `package receiver; import _ "` + module + `/internal/ipn"`},
}

// roomBreach says what is wrong with an import of ours, or nothing.
func roomBreach(s source, target string) string {
	room, known := roomOf(s.dir())
	if !known {
		return "stands in no known room"
	}
	if within(target, room) {
		return ""
	}
	if target == "internal/ipn" && !(source{path: s.path}).in(strangers...) {
		return ""
	}
	for _, allowed := range rooms[room] {
		if within(target, allowed) {
			return ""
		}
	}
	return room + " must not import " + target
}

func roomOf(dir string) (string, bool) {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, known := rooms[dir]; known {
			return dir, true
		}
	}
	return "", false
}

func within(target, room string) bool {
	return target == room || strings.HasPrefix(target, room+"/")
}

var ioLaw = law{
	name: "the meaning does no I/O",
	why:  "internal/ipn is pure: what an IPN means must be the same in the program, in a test and in a replay ten years later.",
	find: func(all tree) []string {
		return eachImport(all, func(s source, target string) string {
			if s.isTest() || !s.in("internal/ipn") || pureImport(target) {
				return ""
			}
			return "internal/ipn must not import " + target
		})
	},
	breach: snippet{"internal/ipn/x.go", `package ipn; import _ "net/http"`},
	near:   snippet{"internal/ipn/x.go", `package ipn; import _ "net/netip"`},
}

// pureImport reports whether the meaning may import target: any standard package
// without I/O, the decimal type, and the text tables.
func pureImport(target string) bool {
	switch {
	case target == "net/netip" || target == "net/url":
		return true
	case within(target, "github.com/shopspring/decimal") || within(target, "golang.org/x/text"):
		return true
	case strings.Contains(strings.SplitN(target, "/", 2)[0], "."):
		return false
	}
	for _, banned := range []string{"os", "net", "syscall", "database", "log", "io/fs", "io/ioutil", "plugin"} {
		if within(target, banned) {
			return false
		}
	}
	return true
}

var driverLaw = law{
	name: "only the store speaks to Postgres",
	why:  "SQL in one place can be reviewed in one place. Test support and the embedded server connect too; nobody else does.",
	find: func(all tree) []string {
		return eachImport(all, func(s source, target string) string {
			if s.isTest() || s.isTool() || s.in("internal/store", "internal/handlers/ledger", "internal/embeddedpg", "internal/pgtest", "internal/dispatch/dispatchtest") {
				return ""
			}
			for _, driver := range []string{"github.com/jackc/pgx", "github.com/pressly/goose", "database/sql"} {
				if within(target, driver) {
					return "must not import " + target
				}
			}
			return ""
		})
	},
	breach: snippet{"cmd/ipn-receiver/x.go", `package main; import _ "github.com/jackc/pgx/v5/pgxpool"`},
	near:   snippet{"internal/store/x.go", `package store; import _ "github.com/jackc/pgx/v5/pgxpool"`},
}

var simulatorLaw = law{
	name: "the simulator is never in the product",
	why:  "internal/paysim pretends to be the payment service. Only its own program and tests may reach it.",
	find: func(all tree) []string {
		return eachImport(all, func(s source, target string) string {
			if within(target, module+"/internal/paysim") && !s.isTest() && !s.in("cmd/paysim", "internal/paysim") {
				return "must not import the simulator"
			}
			return ""
		})
	},
	breach: snippet{"cmd/ipn-receiver/x.go", `package main; import _ "` + module + `/internal/paysim"`},
	near:   snippet{"internal/payments/x_test.go", `package payments_test; import _ "` + module + `/internal/paysim"`},
}

var plainSimulatorLaw = law{
	name: "the simulator stands on the standard library alone",
	why:  "It speaks for the other side of the wire. A library that both sides share would make its mistakes on both, and no test would see them.",
	find: func(all tree) []string {
		return eachImport(all, func(s source, target string) string {
			if s.isTest() || !s.in("cmd/paysim", "internal/paysim") || standardOrOurs(target) {
				return ""
			}
			return "must not import " + target
		})
	},
	breach: snippet{"internal/paysim/money/x.go", `package money; import _ "github.com/shopspring/decimal"`},
	near:   snippet{"cmd/paysim/x.go", `package main; import (_ "net/http"; _ "` + module + `/internal/paysim")`},
}

// standardOrOurs reports whether target is of no foreign module; which of ours may be imported is for roomLaw to say.
func standardOrOurs(target string) bool {
	first, _, _ := strings.Cut(target, "/")
	return !strings.Contains(first, ".") || within(target, module)
}

// eachImport asks judge about every import of every Go file and collects what it
// says, in the order of the tree.
func eachImport(all tree, judge func(s source, target string) string) []string {
	var found []string
	for _, s := range all {
		if !s.isGo() {
			continue
		}
		for _, spec := range s.file.Imports {
			target, _ := strconv.Unquote(spec.Path.Value)
			if text := judge(s, target); text != "" {
				found = append(found, s.at(spec.Pos(), text))
			}
		}
	}
	sort.Strings(found)
	return found
}
