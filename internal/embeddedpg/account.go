//go:build linux || darwin

package embeddedpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// An account is who runs the programs of PostgreSQL: the caller, or for root
// one of the accounts that may be anybody but root.
type account struct {
	name     string
	uid, gid int
	dropped  bool // root gives up its rights for it
}

// chooseAccount looks for an account root can drop to. Any other caller stays
// who it is.
func chooseAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "_postgres", "nobody"} {
		if found, err := user.Lookup(name); err == nil {
			return droppedAccount(found)
		}
	}
	return account{}, errors.New("root cannot run PostgreSQL, and there is no account postgres, _postgres or nobody to run it as")
}

func droppedAccount(found *user.User) (account, error) {
	a := account{name: found.Username, dropped: true}
	var err error
	if a.uid, err = strconv.Atoi(found.Uid); err != nil {
		return a, fmt.Errorf("read the account %s: %w", a.name, err)
	}
	if a.gid, err = strconv.Atoi(found.Gid); err != nil {
		return a, fmt.Errorf("read the account %s: %w", a.name, err)
	}
	return a, nil
}

// command prepares a program of PostgreSQL to run as the account in dir. The
// environment is made anew: the caller's PG* variables must not steer the
// server, and its secrets are none of the server's business.
func (a account) command(ctx context.Context, in installation, dir, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(in.bin, program), args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + in.bin + ":/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C"}
	if len(in.libs) > 0 {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+strings.Join(in.libs, ":"))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if a.dropped {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return cmd
}

// own makes a directory of the account that nobody else may enter.
func (a account) own(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if a.dropped {
		if err := os.Lchown(dir, a.uid, a.gid); err != nil {
			return err
		}
	}
	return os.Chmod(dir, 0o700)
}

// passable names the first directory on the way to dir, dir included, that the
// account may not pass. Without this check the server's own words are a bare
// "Permission denied". The caller passes its own directories by having got here.
func (a account) passable(dir, setting string) error {
	if !a.dropped {
		return nil
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	for i := range len(real) + 1 {
		if i != len(real) && real[i] != '/' {
			continue
		}
		info, err := os.Stat(real[:max(i, 1)])
		if err != nil {
			return err
		}
		if !a.mayPass(info) {
			return fmt.Errorf("%s (%v) cannot be passed by %q, the account that runs PostgreSQL when root starts it: choose another %s",
				real[:max(i, 1)], info.Mode(), a.name, setting)
		}
	}
	return nil
}

// mayPass reads the permission bits as the kernel does.
func (a account) mayPass(info os.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	switch {
	case int(owner.Uid) == a.uid:
		return info.Mode()&0o100 != 0
	case int(owner.Gid) == a.gid:
		return info.Mode()&0o010 != 0
	}
	return info.Mode()&0o001 != 0
}
