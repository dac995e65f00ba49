package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// maxSecretFile is more than any file of secrets has; past it the path is wrong.
const maxSecretFile = 64 << 10

// readSecret fills secret from the file of that name, if one is given. One
// newline at the end, as editors leave it, is not a part of the secret.
func readSecret(flag, file string, secret *Secret) error {
	if file == "" {
		return nil
	}
	if !secret.IsZero() {
		return fmt.Errorf("%s and %s are both set: keep one of them", name(flag), name(flag+"-file"))
	}
	text, err := readSmallFile(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name(flag+"-file"), err)
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if text == "" {
		return fmt.Errorf("%s: the file is empty: write the secret into it, or leave the setting out", name(flag+"-file"))
	}
	secret.text = text
	return nil
}

func readSmallFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSecretFile+1))
	if err != nil {
		return "", err
	}
	if len(text) > maxSecretFile {
		return "", fmt.Errorf("%s has more than %d bytes: is it another file by mistake?", path, maxSecretFile)
	}
	return string(text), nil
}

// load reads the signing secrets: of a file one per line, of the setting also
// between commas.
func (k *SigningKeys) load() error {
	separators := ",\n"
	if k.SigningSecretsFile != "" {
		separators = "\n"
	}
	if err := readSecret("signing-secrets", k.SigningSecretsFile, &k.SigningSecrets); err != nil {
		return err
	}
	k.Keys, k.texts = nil, split(k.SigningSecrets.Reveal(), separators)
	seen := make(map[string]bool)
	var problems []error
	for _, text := range k.texts {
		key, err := ipn.NewSecret("", []byte(text))
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", name("signing-secrets"), err))
		case seen[text]:
			problems = append(problems, fmt.Errorf("%s: one secret stands there twice: remove it once", name("signing-secrets")))
		default:
			k.Keys = append(k.Keys, key)
		}
		seen[text] = true
	}
	return errors.Join(problems...)
}

// split cuts text at any of the separators and leaves blank parts out.
func split(text, separators string) []string {
	var parts []string
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

func (p *Proof) load() error {
	if err := readSecret("data-protection-key", p.DataProtectionKeyFile, &p.DataProtectionKey); err != nil {
		return err
	}
	if p.DataProtectionKey.IsZero() {
		return nil
	}
	key, err := ipn.NewSecret("", []byte(p.DataProtectionKey.Reveal()))
	if err != nil {
		return fmt.Errorf("%s: %w", name("data-protection-key"), err)
	}
	p.AuthKey = key
	return nil
}

func (p *PeopleSearch) load() error {
	if err := readSecret("search-key", p.SearchKeyFile, &p.SearchKey); err != nil {
		return err
	}
	if p.SearchKey.IsZero() {
		return nil
	}
	key, err := ipn.NewSecret("", []byte(p.SearchKey.Reveal()))
	if err != nil {
		return fmt.Errorf("%s: %w", name("search-key"), err)
	}
	p.PersonKey = ipn.NewPersonKey(key)
	return nil
}

func (d *DatabaseSetting) load() error {
	return readSecret("database-url", d.DatabaseURLFile, &d.DatabaseURL)
}

func (a *PrivateAccess) load() error {
	if err := readSecret("api-token", a.APITokenFile, &a.APIToken); err != nil {
		return err
	}
	return a.loadTokens()
}
