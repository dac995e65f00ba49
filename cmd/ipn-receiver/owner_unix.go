//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file that is to take the place of another its mode and, as far as this account may, its owner: the
// receiver that reads it may be of another account than who adds to it. Where there is no other nothing is done.
func keepOwner(fresh *os.File, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if was, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := fresh.Chown(int(was.Uid), int(was.Gid)); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return fresh.Chmod(info.Mode().Perm())
}
