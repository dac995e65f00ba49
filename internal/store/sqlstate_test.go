package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/store"
)

func TestOnlyErrorsThatJudgeTheRowAreForGood(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, sqlState string
		want           bool
	}{
		{"invalid byte sequence", "22021", true},
		{"untranslatable character in jsonb", "22P05", true},
		{"numeric out of range", "22003", true},
		{"check violation", "23514", true},
		{"not null violation", "23502", true},
		{"program limit", "54000", true},
		{"connection failure", "08006", false},
		{"read-only transaction", "25006", false},
		{"serialization failure", "40001", false},
		{"deadlock", "40P01", false},
		{"undefined table, until somebody migrates", "42P01", false},
		{"disk full", "53100", false},
		{"too many connections", "53300", false},
		{"lock not available", "55P03", false},
		{"statement timeout", "57014", false},
		{"shutting down", "57P01", false},
		{"starting up", "57P03", false},
		{"I/O error", "58030", false},
		{"data corrupted", "XX001", false},
		{"no SQLSTATE", "", false},
		{"half a SQLSTATE", "22", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := fmt.Errorf("insert: %w", &pgconn.PgError{Code: tc.sqlState, Message: "Jane Doe", Detail: "Jane Doe"})
			if got := store.Refused(err); (got != nil) != tc.want || tc.want && got.SQLState != tc.sqlState {
				t.Errorf("got %v", got)
			}
			if known := store.Known(err); errors.Is(known, ipn.ErrUnavailable) == tc.want || strings.Contains(known.Error(), "Jane") {
				t.Errorf("known: got %v", known)
			}
		})
	}
}

func TestTroubleIsToldWithoutData(t *testing.T) {
	t.Parallel()
	unsafe := &store.UnsafeError{Setting: "fsync", Value: "off", Mend: "mend it"}
	tests := []struct {
		name   string
		err    error
		reason string
	}{
		{"a SQLSTATE", &pgconn.PgError{Code: "53100", Message: "Jane Doe"}, "SQLSTATE 53100"},
		{"an unsafe server", fmt.Errorf("connect: %w", unsafe), unsafe.Error()},
		{"nobody listens", &net.OpError{Op: "dial", Net: "unix", Err: syscall.ECONNREFUSED}, "dial: connection refused"},
		{"a deadline", fmt.Errorf("acquire: %w", context.DeadlineExceeded), "no answer in time"},
		{"a cancelled caller", context.Canceled, "no answer in time"},
		{"a cut connection", fmt.Errorf("read Jane Doe: %w", io.ErrUnexpectedEOF), "the connection was lost"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			wantUnavailable(t, store.Unavailable(tc.err), tc.reason)
		})
	}
	if err := store.Known(fmt.Errorf("query: %w", pgx.ErrNoRows)); err != ipn.ErrNotFound {
		t.Errorf("no rows: got %v, want ipn.ErrNotFound", err)
	}
}
