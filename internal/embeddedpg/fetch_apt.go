//go:build linux || darwin

package embeddedpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// fetchApt takes the packages of Debian and Ubuntu apart without installing
// them: no root, no change to the system, no server on port 5432. apt checks
// the signatures as ever.
func fetchApt(ctx context.Context, dir string, want int) (string, error) {
	for _, program := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", errors.New("not a system with apt")
		}
	}
	work := filepath.Join(dir, "apt")
	defer os.RemoveAll(work)
	for _, part := range []string{"cache/archives/partial", "lists/partial", "packages"} {
		if err := makeDir(filepath.Join(work, part)); err != nil {
			return "", err
		}
	}
	apt := []string{"apt-get", "-q", "-y", "-o", "Debug::NoLocking=1", "-o", "APT::Sandbox::User=", "-o", "Dir::Cache=" + work + "/cache",
		"-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10", "-o", "Acquire::https::Timeout=10"}
	name, err := unpackPackages(ctx, apt, dir, want)
	if err == nil {
		return name, nil
	}
	// The system's package lists are missing, as in most images, or too old:
	// the packages they name are gone from the mirror. Fetch lists of our own.
	apt = append(apt, "-o", "Dir::State::lists="+work+"/lists")
	if _, err := tool(ctx, time.Minute, work, append(apt, "update")...); err != nil {
		return "", err
	}
	return unpackPackages(ctx, apt, dir, want)
}

// unpackPackages downloads what an installation would bring and unpacks what a
// server needs of it. It returns the name of the server's package.
func unpackPackages(ctx context.Context, apt []string, dir string, want int) (string, error) {
	wanted := "postgresql"
	if want != 0 {
		wanted = fmt.Sprintf("postgresql-%d", want)
	}
	out, err := tool(ctx, 20*time.Second, dir, append(slices.Clone(apt), "-s", "--no-install-recommends", "install", wanted)...)
	if err != nil {
		return "", err
	}
	names, server := neededPackages(string(out))
	if server == "" {
		return "", fmt.Errorf("apt-get would install no server for %q", wanted)
	}
	packages := filepath.Join(dir, "apt", "packages")
	if _, err := tool(ctx, 3*time.Minute, packages, append(append(slices.Clone(apt), "download"), names...)...); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(packages, "*.deb"))
	if err != nil || len(files) < len(names) {
		return "", fmt.Errorf("apt-get downloaded %d of %d packages", len(files), len(names))
	}
	for _, file := range files {
		if _, err := tool(ctx, time.Minute, dir, "dpkg-deb", "-x", file, dir); err != nil {
			return "", err
		}
	}
	return server, nil
}

var (
	installLine   = regexp.MustCompile(`(?m)^Inst ([^ ]+) `)
	serverPackage = regexp.MustCompile(`^postgresql-[0-9]+$`)
	clientPackage = regexp.MustCompile(`^postgresql-client-[0-9]+$`)

	// needless are libraries of what we do not unpack: Perl's wrapper scripts,
	// and LLVM, a hundred megabytes for the jit that stays off.
	needless = regexp.MustCompile(`^lib(perl|llvm|gdbm|.*-perl$)`)
)

// neededPackages reads a simulated installation: the server, its client, and
// libraries the system lacks.
func neededPackages(simulation string) (names []string, server string) {
	for _, match := range installLine.FindAllStringSubmatch(simulation, -1) {
		name := match[1]
		switch {
		case serverPackage.MatchString(name):
			server = name
			names = append(names, name)
		case clientPackage.MatchString(name), strings.HasPrefix(name, "lib") && !needless.MatchString(name):
			names = append(names, name)
		}
	}
	return names, server
}
