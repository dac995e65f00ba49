package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
)

func TestTheSecretOfAReceiverOnThisMachineIsFound(t *testing.T) {
	for _, c := range []struct {
		name   string
		uid    int
		system string
		env    map[string]string
		want   string
	}{
		{"root", 0, "linux", map[string]string{"HOME": "/root", "XDG_STATE_HOME": "/root/x"}, "/var/lib/ipn-receiver/signing-secret"},
		{"a user", 1000, "linux", map[string]string{"HOME": "/home/a"}, "/home/a/.local/state/ipn-receiver/signing-secret"},
		{"a user with other habits", 1000, "linux", map[string]string{"HOME": "/home/a", "XDG_STATE_HOME": "/s"}, "/s/ipn-receiver/signing-secret"},
		{"a relative habit is ignored", 1000, "linux", map[string]string{"HOME": "/home/a", "XDG_STATE_HOME": "s"}, "/home/a/.local/state/ipn-receiver/signing-secret"},
		{"a Mac", 501, "darwin", map[string]string{"HOME": "/Users/a", "XDG_STATE_HOME": "/s"}, "/Users/a/Library/Application Support/ipn-receiver/signing-secret"},
		{"a receiver that keeps its data elsewhere", 0, "linux", map[string]string{"HOME": "/root", "IPN_DATA_DIR": "/d"}, "/d/signing-secret"},
		{"nobody", 1000, "linux", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProgram(c.env)
			p.uid, p.system = c.uid, c.system
			if got := p.developmentSecret(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.system != runtime.GOOS || c.env["IPN_DATA_DIR"] != "" {
				return
			}
			kept, err := embeddedpg.DefaultDir(c.uid, func(name string) string { return c.env[name] }) // the receiver's own word
			if (err == nil) != (c.want != "") || err == nil && filepath.Join(kept, "signing-secret") != c.want {
				t.Errorf("the receiver keeps it in %q, %v", kept, err)
			}
		})
	}
}

func TestTheKeyIsReadAnewEachTimeAndWhatChangesIsToldOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "signing-secret")
	var told []string
	p := newProgram(map[string]string{"IPN_DATA_DIR": dir})
	key, err := p.openSigningKey("")
	if err != nil {
		t.Fatalf("a receiver that has not been started yet: %v", err)
	}
	key.note = func(_ string, args ...any) { told = append(told, args[0].(string)) }
	for _, c := range []struct{ text, want, tells string }{
		{"", "", "unsigned"},
		{"key-of-sixteen-one\n", "key-of-sixteen-one", "are signed"},
		{"\n  key-of-sixteen-two  \nkey-of-yesterday", "key-of-sixteen-two", "are signed"},
		{"\n", "", "is empty"},
	} {
		if c.text != "" {
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if got := string(key.current()); got != c.want {
				t.Errorf("%q: got %q, want %q", c.text, got, c.want)
			}
		}
		if last := told[len(told)-1]; !strings.Contains(last, c.tells) || strings.Contains(last, "sixteen") {
			t.Errorf("%q: it told %q, want %q and no key", c.text, last, c.tells)
		}
	}
	if len(told) != 3 {
		t.Errorf("it told %q, want one line for each change", told)
	}
}

func TestNoneSignsNothing(t *testing.T) {
	key, err := newProgram(nil).openSigningKey(none)
	if err != nil || key.current() != nil {
		t.Errorf("got %q, %v, want no key", key.current(), err)
	}
}
