//go:build linux || darwin

package embeddedpg_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
)

func TestARunningServerIsAttachedToAndAStoppedOneIsNot(t *testing.T) {
	t.Parallel()
	needServers(t)
	cfg := config(place(t))
	attach := func() string {
		t.Helper()
		url, err := embeddedpg.Attach(cfg.Dir, "ipn")
		must(t, err)
		return url
	}
	if url := attach(); url != "" {
		t.Errorf("nothing was ever started, and %s is told", url)
	}
	if embeddedpg.Exists(cfg.Dir) {
		t.Error("nothing was ever started, and data exist")
	}
	server := start(t, cfg)
	if !embeddedpg.Exists(cfg.Dir) {
		t.Error("the data of the server do not exist")
	}
	conn, err := pgx.Connect(t.Context(), attach())
	must(t, err)
	must(t, conn.Ping(t.Context()))
	must(t, conn.Close(t.Context()))
	stop(t, server)
	if url := attach(); url != "" {
		t.Errorf("the server was stopped, and %s is told", url)
	}
}
