package embeddedpg

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The lines of postmaster.pid that are read, from 0.
const (
	socketLine = 4
	stateLine  = 7
)

// Exists tells whether dir holds the data of a private server, whether one runs or not.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "postgres", "data", "PG_VERSION"))
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// Attach finds the server that another process runs on dir, so that a command can speak to the database of a running
// receiver, and returns the URL of one of its databases. It returns "" and no error when no server runs there. A server
// that ended a moment ago may still be told: then nobody answers under the URL. An error says that the directory may not
// be read.
func Attach(dir, database string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "postgres", "data", "postmaster.pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for a server that runs in %s: %w", dir, err)
	}
	lines := bytes.Split(text, []byte("\n"))
	if len(lines) <= stateLine || string(bytes.TrimSpace(lines[stateLine])) != "ready" {
		return "", nil
	}
	socketDir := string(bytes.TrimSpace(lines[socketLine]))
	if _, err := os.Stat(socketDir + socketName); err != nil {
		return "", nil // the file was left behind by a server that was killed
	}
	return dsn(socketDir, database), nil
}
