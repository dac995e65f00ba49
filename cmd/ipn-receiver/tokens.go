package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
)

// tokens are those in force at the private door. They follow their file while the program runs, so that one is made or taken
// away without a restart; a file that cannot be read leaves the old ones in force.
type tokens struct {
	access *PrivateAccess
	inUse  atomic.Pointer[access.Tokens]
	seen   string // the file's text when last read, or why it could not be
}

// openTokens takes those that check has read.
func openTokens(a *PrivateAccess) *tokens {
	t := &tokens{access: a, seen: a.tokensText}
	t.inUse.Store(&a.Tokens)
	return t
}

// current returns the tokens in force.
func (t *tokens) current() access.Tokens { return *t.inUse.Load() }

// watch re-reads the file whenever it changes, until ctx ends. It compares the text: a file is small, and its time may be
// the same after a second change.
func (t *tokens) watch(ctx context.Context, log *zap.Logger) {
	for t.access.TokensFile != "" && sleep(ctx, keysInterval) {
		fresh := PrivateAccess{TokensFile: t.access.TokensFile, APIToken: t.access.APIToken}
		err := fresh.loadTokens()
		if err != nil {
			fresh.tokensText = err.Error()
		}
		if fresh.tokensText == t.seen {
			continue
		}
		t.seen = fresh.tokensText
		if err != nil {
			log.Error("the tokens cannot be read again; those read before stay in force", zap.Error(err))
			continue
		}
		t.inUse.Store(&fresh.Tokens)
		log.Info("tokens were read again", zap.Int("tokens", len(fresh.Tokens.All())))
	}
}

// loadTokens reads the tokens file and adds the API token to what stands there. Errors name lines and show none of them.
func (a *PrivateAccess) loadTokens() (err error) {
	a.Tokens, a.tokensText = access.Tokens{}, ""
	if a.TokensFile != "" {
		if a.tokensText, err = readSmallFile(a.TokensFile); err != nil {
			return fmt.Errorf("%s: %w", name("tokens-file"), err)
		}
		if a.Tokens, err = access.ParseTokens(a.tokensText); err != nil {
			return fmt.Errorf("%s: %w", name("tokens-file"), err)
		}
	}
	if a.APIToken.IsZero() {
		return nil
	}
	text := a.APIToken.Reveal()
	a.Tokens, err = a.Tokens.With(access.Token{Name: access.APITokenName, Role: access.Admin, Hash: access.HashOf(text)})
	if err != nil {
		return fmt.Errorf("%s beside %s: %w", name("api-token"), name("tokens-file"), err)
	}
	return nil
}
