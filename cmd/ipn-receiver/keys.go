package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// keysInterval is how soon a rotated secrets file is noticed.
const keysInterval = 5 * time.Second

// keys are the signing secrets in force. They follow their file while the program runs, so that a rotation needs no
// restart; a file that cannot be used leaves the old ones in force.
type keys struct {
	file   string // "" when they were set by value, or made up for development
	made   bool   // made up for development
	secret atomic.Pointer[[]ipn.Secret]
	seen   time.Time // modification time of the file when last read
}

// current returns the secrets in force.
func (k *keys) current() []ipn.Secret { return *k.secret.Load() }

// openKeys takes the secrets that are set. In development beside a private database, where none is set, it makes one up
// and keeps it in the data directory, so that signed posts can be tried without any setting; they are only observed.
func openKeys(s *Settings) (*keys, error) {
	k := &keys{file: s.SigningSecretsFile}
	if info, err := os.Stat(k.file); err == nil {
		k.seen = info.ModTime()
	}
	secrets := s.Keys
	if len(secrets) == 0 && s.AuthKey.IsZero() && s.UsesEmbedded() && !s.Production() {
		made, err := developmentSecret(s.DataDir, "signing-secret")
		if err != nil {
			return nil, err
		}
		secrets, k.made = []ipn.Secret{made}, true
	}
	k.secret.Store(&secrets)
	return k, nil
}

// personKey returns the key that is set. In development beside a private database, where none is set, it is one that was
// made up and is kept in the data directory; elsewhere it is the zero key, and people cannot be searched for.
func personKey(p *PeopleSearch, d *DatabaseSetting, production bool) (ipn.PersonKey, error) {
	if !p.PersonKey.IsZero() || production || !d.UsesEmbedded() {
		return p.PersonKey, nil
	}
	made, err := developmentSecret(d.DataDir, "search-key")
	return ipn.NewPersonKey(made), err
}

// developmentSecret reads the secret that an earlier run made up in that file, or makes one.
func developmentSecret(dir, file string) (ipn.Secret, error) {
	path := filepath.Join(dir, file)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		text = []byte(rand.Text() + "\n")
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return ipn.Secret{}, fmt.Errorf("keep a %s for development: %w", file, err)
	}
	secret, err := ipn.NewSecret("development", text)
	if err != nil {
		return ipn.Secret{}, fmt.Errorf("%s: %w; remove the file, and another is made", path, err)
	}
	return secret, nil
}

// watch re-reads the file whenever it changes, until ctx ends.
func (k *keys) watch(ctx context.Context, log *zap.Logger) {
	for k.file != "" && sleep(ctx, keysInterval) {
		info, err := os.Stat(k.file)
		if err == nil && info.ModTime().Equal(k.seen) {
			continue
		}
		if err == nil {
			k.seen = info.ModTime()
			err = k.reload()
		}
		if err != nil {
			log.Error("the signing secrets cannot be read again; those read before stay in force", zap.Error(err))
			continue
		}
		ids := make([]string, len(k.current()))
		for i, secret := range k.current() {
			ids[i] = secret.ID()
		}
		log.Info("signing secrets were read again", zap.Strings("keyIds", ids))
	}
}

func (k *keys) reload() error {
	fresh := SigningKeys{SigningSecretsFile: k.file}
	if err := fresh.load(); err != nil {
		return err
	}
	if len(fresh.Keys) == 0 {
		return fmt.Errorf("%s holds no secret", name("signing-secrets-file"))
	}
	k.secret.Store(&fresh.Keys)
	return nil
}
