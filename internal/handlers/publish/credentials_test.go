package publish_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/publish"
)

// signer makes a key and returns it with its public half.
func signer(t *testing.T, make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
	t.Helper()
	pair, err := make()
	must(t, err)
	public, err := pair.PublicKey()
	must(t, err)
	return pair, public
}

// guarded is a broker that lets in who an account vouches for, and the account's key.
func guarded(t *testing.T) (*server.Server, nkeys.KeyPair) {
	t.Helper()
	operator, operatorKey := signer(t, nkeys.CreateOperator)
	account, accountKey := signer(t, nkeys.CreateAccount)
	known, err := jwt.NewAccountClaims(accountKey).Encode(operator)
	must(t, err)
	accounts := new(server.MemAccResolver)
	must(t, accounts.Store(accountKey, known))
	s := broker(t, func(o *server.Options) {
		o.JetStream = false // who is let in is the question
		o.TrustedOperators = []*jwt.OperatorClaims{jwt.NewOperatorClaims(operatorKey)}
		o.AccountResolver = accounts
	})
	return s, account
}

// credentials writes the file of a new user.
func credentials(t *testing.T, path string, account nkeys.KeyPair) {
	t.Helper()
	user, userKey := signer(t, nkeys.CreateUser)
	token, err := jwt.NewUserClaims(userKey).Encode(account)
	must(t, err)
	seed, err := user.Seed()
	must(t, err)
	text, err := jwt.FormatUserConfig(token, seed)
	must(t, err)
	must(t, os.WriteFile(path, text, 0o600))
}

// TestACredentialsFileThatIsMendedOpens begins with the file of a user whom the broker's account does not know: the
// receiver is let in once the file is another one, without a restart.
func TestACredentialsFileThatIsMendedOpens(t *testing.T) {
	t.Parallel()
	s, account := guarded(t)
	stranger, _ := signer(t, nkeys.CreateAccount)
	path := filepath.Join(t.TempDir(), "receiver.creds")
	credentials(t, path, stranger)
	sink := bus(t, s.ClientURL(), func(o *publish.NATSOptions) { o.CredentialsFile = path })
	eventually(t, "the stranger is refused", func() error {
		return tells(sink.Send(t.Context(), charge(1, "1")), "no connection", "iolation")
	})
	eventually(t, "the stranger tries again", func() error { // the client library gives up at the second time unless told
		seen, err := s.Varz(nil)
		if err == nil && seen.TotalConnections < 3 {
			err = errors.New("no new attempt")
		}
		return err
	})
	credentials(t, path, account)
	eventually(t, "the user is let in", func() error {
		if err := sink.Send(t.Context(), charge(1, "1")); tells(err, "no stream takes") != nil {
			return errors.Join(errors.New("not let in"), err)
		}
		return nil
	})
}
