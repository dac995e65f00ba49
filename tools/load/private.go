package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/embeddedpg"
)

// private is a durable PostgreSQL for one measurement.
type private struct {
	Dir     string `type:"path" help:"Where the private PostgreSQL lives; not set: a temporary directory, removed at the end."`
	Profile string `type:"path" help:"File that gets a CPU profile of this process, door and client together, for go tool pprof."`
}

// measured starts the server, lets do measure, and stops the server.
func (p *private) measured(do func(context.Context, *embeddedpg.Server) error) error {
	ctx := context.Background()
	dir, remove, err := p.dataDir()
	if err != nil {
		return err
	}
	defer remove()
	postgres, err := embeddedpg.Start(ctx, embeddedpg.Config{Dir: dir, Durable: true})
	if err != nil {
		return err
	}
	defer func() { _ = postgres.Stop(ctx) }()
	finish, err := p.startProfile()
	if err != nil {
		return err
	}
	defer finish()
	return do(ctx, postgres)
}

// machine says on what and when was measured.
func machine(postgres *embeddedpg.Server) string {
	return fmt.Sprintf("%s; PostgreSQL %s, durable; %s, %d processors",
		time.Now().UTC().Format(time.DateTime), postgres.Version(), runtime.Version(), runtime.NumCPU())
}

// dataDir is where PostgreSQL lives, and how to remove it again. Its parent is passable, because as root the server runs
// under another account.
func (p *private) dataDir() (dir string, remove func(), err error) {
	if p.Dir != "" {
		return p.Dir, func() {}, nil
	}
	made, err := os.MkdirTemp("", "ipn-load-")
	if err != nil {
		return "", nil, err
	}
	if err := os.Chmod(made, 0o755); err != nil {
		return "", nil, err
	}
	return filepath.Join(made, "data"), func() { _ = os.RemoveAll(made) }, nil
}

func (p *private) startProfile() (finish func(), err error) {
	if p.Profile == "" {
		return func() {}, nil
	}
	file, err := os.Create(p.Profile)
	if err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); _ = file.Close() }, nil
}
