package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// none is what is typed to switch off what has a default.
const none = "none"

// signingKey is the key that IPNs are signed with, read from its file each time it is asked for: a key that appears, or is
// changed, while the program runs is used from the next IPN on.
type signingKey struct {
	path string               // "": nothing is signed
	note func(string, ...any) // takes what there is to tell about the file

	mu   sync.Mutex
	told string // what was told last, so that it is told once
}

// openSigningKey returns the key of a --signing-key-file. A file that was named must be there; where none was, it is the
// one that a receiver in development leaves on this machine, now or later.
func (p *program) openSigningKey(file string) (*signingKey, error) {
	switch file {
	case none:
		return &signingKey{note: p.note}, nil
	case "":
		return &signingKey{path: p.developmentSecret(), note: p.note}, nil
	}
	key := &signingKey{path: file, note: p.note}
	_, err := key.read()
	return key, err
}

// developmentSecret is where an ipn-receiver on this machine keeps the secret it has made up for development; "" where no
// place is known.
func (p *program) developmentSecret() string {
	const folder, file = "ipn-receiver", "signing-secret"
	data, base, home := p.getenv("IPN_DATA_DIR"), p.getenv("XDG_STATE_HOME"), p.getenv("HOME")
	switch {
	case data != "":
		return filepath.Join(data, file)
	case p.uid == 0:
		return filepath.Join("/var/lib", folder, file)
	case p.system != "darwin" && filepath.IsAbs(base):
		return filepath.Join(base, folder, file)
	case home == "":
		return ""
	case p.system == "darwin":
		return filepath.Join(home, "Library/Application Support", folder, file)
	}
	return filepath.Join(home, ".local/state", folder, file)
}

// current returns the key as it is now; nil when there is none, which is no error: the receiver may not have made it yet.
func (k *signingKey) current() []byte {
	if k.path == "" {
		return nil
	}
	key, err := k.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.tell("IPNs go unsigned as long as there is no " + k.path)
	case err != nil:
		k.tell("IPNs go unsigned: " + err.Error())
	default:
		k.tell("IPNs are signed with the secret in " + k.path)
	}
	return key
}

// read returns the first line of the file that holds something, as a file of several secrets has the one in use first.
func (k *signingKey) read() ([]byte, error) {
	text, err := os.ReadFile(k.path)
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			return []byte(line), nil
		}
	}
	return nil, fmt.Errorf("read the signing key: %s is empty", k.path)
}

// tell notes what has changed about the file.
func (k *signingKey) tell(text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.told != text {
		k.told = text
		k.note("%s", text)
	}
}
