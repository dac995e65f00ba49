package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// OpenSession keeps a session together with its entry in the audit. It ends the one whose digest is given, if any, and
// removes those that were over when this one was opened. It fails with ipn.ErrUnavailable.
func (s *Store) OpenSession(ctx context.Context, session ipn.Session, instead [32]byte, act ipn.Act) error {
	return s.witnessed(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "delete from sessions where digest = $1 or expires_at <= $2", instead[:], session.OpenedAt); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "insert into sessions (digest, token, proof, opened_at, expires_at) values ($1, $2, $3, $4, $5)",
			session.Digest[:], session.Token, session.Proof[:], session.OpenedAt, session.ExpiresAt)
		if err != nil {
			return err
		}
		return Witness(ctx, tx, "sign-in", "", act, struct{}{})
	})
}

// Session returns the session whose cookie has the digest, or ipn.ErrNotFound. Whether it is over is for the caller to say.
// It fails with ipn.ErrUnavailable.
func (s *Store) Session(ctx context.Context, digest [32]byte) (ipn.Session, error) {
	session := ipn.Session{Digest: digest}
	var proof []byte
	err := s.queries.QueryRow(ctx, "select token, proof, opened_at, expires_at from sessions where digest = $1", digest[:]).
		Scan(&session.Token, &proof, &session.OpenedAt, &session.ExpiresAt)
	if err != nil {
		return ipn.Session{}, known(err)
	}
	copy(session.Proof[:], proof)
	return session, nil
}

// CloseSession ends a session together with its entry in the audit; ipn.ErrNotFound when there is none. It fails with
// ipn.ErrUnavailable.
func (s *Store) CloseSession(ctx context.Context, digest [32]byte, act ipn.Act) error {
	return s.witnessed(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "delete from sessions where digest = $1", digest[:])
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return ipn.ErrNotFound
		}
		return Witness(ctx, tx, "sign-out", "", act, struct{}{})
	})
}
