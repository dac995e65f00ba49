package pgtest

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// packTar writes the directories and plain files below dir, with their owners,
// to a new archive.
func packTar(dir, path string) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	archive := tar.NewWriter(file)
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir || !(entry.IsDir() || entry.Type().IsRegular()) {
			return err
		}
		return packFile(archive, dir, path, entry)
	})
	return errors.Join(err, archive.Close())
}

func packFile(archive *tar.Writer, dir, path string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	header, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return err
	}
	if header.Name, err = filepath.Rel(dir, path); err != nil {
		return err
	}
	if err := archive.WriteHeader(header); err != nil || entry.IsDir() {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(archive, file)
	return err
}

// unpackTar is the way back. Only root can and must restore the owners.
func unpackTar(path, dir string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	archive := tar.NewReader(file)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(header.Name) {
			return fmt.Errorf("%q leads out of the archive", header.Name)
		}
		if err := unpackFile(archive, header, filepath.Join(dir, header.Name)); err != nil {
			return err
		}
	}
}

func unpackFile(archive *tar.Reader, header *tar.Header, path string) error {
	if header.Typeflag == tar.TypeDir {
		if err := os.Mkdir(path, 0o700); err != nil {
			return err
		}
	} else if err := writeFile(path, archive); err != nil {
		return err
	}
	if os.Getuid() != 0 {
		return nil
	}
	return os.Lchown(path, header.Uid, header.Gid)
}

func writeFile(path string, content io.Reader) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = io.Copy(file, content)
	return err
}
