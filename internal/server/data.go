package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"merlon/internal/config"
	"merlon/internal/errs"
)

// This file keeps the data folder from other users of the machine.

// makeData makes the data folder, for its owner only. An empty one that is there is closed
// to others: nobody has put anything into it.
func makeData(c config.Store) error {
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return errs.Wrap(errs.Invalid, err, "data folder")
	}
	info, err := os.Stat(c.Data)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	if entries, err := os.ReadDir(c.Data); err != nil || len(entries) > 0 {
		return err
	}
	if err := os.Chmod(c.Data, 0o700); err != nil {
		return errs.Wrap(errs.Invalid, err, "the data folder %s is open to other users of this machine and cannot be "+
			"closed: name a folder below it", c.Data)
	}
	return nil
}

// ownFiles has all files that the process makes from now on, by libraries as well, be for
// its owner only.
func ownFiles() { syscall.Umask(0o077) }

// scratchFolder is where scans work, in the data folder.
const scratchFolder = "work"

// checkData returns an Invalid error when others than its owner may enter the data folder
// or read a file in it. What a scan has unpacked is left out: that folder is closed as a
// whole, and files of scans belong to the group that scans run as.
func checkData(c config.Store) error {
	open := func(path string, info fs.FileInfo) error {
		what := "file"
		if info.IsDir() {
			what = "folder"
		}
		return errs.E(errs.Invalid, "the %s %s has mode %04o, so that other users of this machine may use it: run "+
			"chmod -R u=rwX,go= %s",
			what, path, info.Mode().Perm(), strconv.Quote(c.Data))
	}
	return filepath.WalkDir(c.Data, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // not made yet, or removed meanwhile
		}
		if errors.Is(err, fs.ErrPermission) {
			return fs.SkipDir // of somebody else, such as lost+found
		}
		if err != nil {
			return errs.Wrap(errs.Invalid, err, "data folder")
		}
		info, err := os.Stat(path) // of a link: what it leads to
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return errs.Wrap(errs.Invalid, err, "data folder")
		}
		if !isPrivateFile(info) {
			return open(path, info)
		}
		if d.IsDir() && path == c.Path(scratchFolder) {
			return fs.SkipDir
		}
		return nil
	})
}

// nobody is the group that scans run as when the service is root.
const nobody = 65534

// isPrivateFile reports whether nobody but the owner may use the file. The group of scans may
// read what the worker gives them.
func isPrivateFile(info fs.FileInfo) bool {
	perm := info.Mode().Perm()
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Gid == nobody && os.Geteuid() == 0 {
		perm &^= 0o070
	}
	return perm&0o077 == 0
}
