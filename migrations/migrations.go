// Package migrations holds the schema of the receiver as goose files, embedded so that one binary carries the schema it
// needs. It is a package of its own, and not part of internal/store, so that the SQL can be read, reviewed and applied
// by people who never open a Go file.
package migrations

import "embed"

// FS holds the goose migrations, named NNNNN_subject.sql.
//
//go:embed *.sql
var FS embed.FS
