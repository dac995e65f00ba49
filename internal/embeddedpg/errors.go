package embeddedpg

import "strings"

// A LockedError says who holds a lock, or the data directory behind it.
type LockedError struct {
	Holder string // number of the process, "unknown" for the moment it writes it
}

func (e *LockedError) Error() string { return "locked by process " + e.Holder }

// A NotFoundError says that no PostgreSQL was found or fetched. Its text lists
// what was tried and what a person can do about it.
type NotFoundError struct {
	Tried []string // one line per place or fetch, with the reason it did not do
}

// advice is kept for people who never heard of PostgreSQL: one line per system.
const advice = `Help it by one of:
  apt-get install postgresql       Debian, Ubuntu (also starts a server of its own on port 5432)
  dnf install postgresql-server    Fedora, RHEL
  apk add postgresql               Alpine
  brew install postgresql@18       macOS
  IPN_POSTGRES_BIN=<directory>     where initdb and postgres stand
  IPN_DATABASE_URL=<url>           a server that runs already: postgres://user@host/database`

// Error has several lines.
func (e *NotFoundError) Error() string {
	var text strings.Builder
	text.WriteString("no PostgreSQL of a version that will do was found. Tried:\n")
	if len(e.Tried) == 0 {
		text.WriteString("  PATH and the usual directories: nothing there\n")
	}
	for _, line := range e.Tried {
		text.WriteString("  " + line + "\n")
	}
	text.WriteString(advice)
	return text.String()
}
