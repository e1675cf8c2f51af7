package image

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/sca/inventory"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file reads lock files of applications. They tell what was to be installed, not
// what is there, so they count only where the image shows no installed package of
// theirs: an application that was bundled into a few files.

// lockFileNames are the lock files of languages whose packages may be bundled.
var lockFileNames = []string{"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
	"Pipfile.lock", "poetry.lock", "pdm.lock", "uv.lock",
	"Cargo.lock", "composer.lock", "Gemfile.lock", "gems.locked", "mix.lock", "packages.lock.json", "gradle.lockfile"}

// isLockFile reports whether the file is a lock file of an application, not of a package
// that is installed.
func isLockFile(name string) bool {
	return slices.Contains(lockFileNames, path.Base(name)) && !isBelowAny(name, publishedFolders, installedFolders)
}

// isBelowAny reports whether the file is in one of the folders, or its path has one of the
// parts.
func isBelowAny(name string, folders, parts []string) bool {
	below := "/" + name
	return slices.ContainsFunc(folders, func(dir string) bool { return strings.HasPrefix(name, dir) }) ||
		slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(below, part) })
}

// readLockFile reads a lock file alone, without the manifest beside it.
func readLockFile(ctx context.Context, name string, b []byte) ([]imagePackage, error) {
	var problems []error
	packages, err := inventory.Take(inventory.Tree{Context: ctx, FS: singleFileFS{path: name, content: b},
		Files: []scan.File{{Path: name, Size: int64(len(b))}},
		Degrade: func(r scan.Reason) {
			if r.Code == "malformed" || r.Code == "too-large" {
				problems = append(problems, errors.New(r.Message))
			}
		}})
	if err != nil {
		return nil, err
	}
	var out []imagePackage
	for _, p := range packages {
		if !p.Dev && p.Version != "" {
			p.Scope, p.Via = finding.UnknownDependency, nil
			out = append(out, imagePackage{Package: p, locked: true})
		}
	}
	return out, errors.Join(problems...)
}

// withoutInstalled removes the packages of the lock files of which the image shows
// one as installed.
func withoutInstalled(packages []imagePackage) []imagePackage {
	type known struct{ ecosystem, name, version string }
	there := map[known]bool{}
	for _, it := range packages {
		if !it.locked {
			there[known{it.Ecosystem, strings.ToLower(it.Name), it.Version}] = true
		}
	}
	done := map[string]bool{} // lock files whose packages are installed
	for _, it := range packages {
		if it.locked && there[known{it.Ecosystem, strings.ToLower(it.Name), it.Version}] {
			done[it.Path] = true
		}
	}
	return slices.DeleteFunc(packages, func(it imagePackage) bool { return it.locked && done[it.Path] })
}

// singleFileFS is a file system with one file.
type singleFileFS struct {
	path    string
	content []byte
}

// Open opens the file.
func (s singleFileFS) Open(name string) (fs.File, error) {
	if name != s.path {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &singleFile{bytes.NewReader(s.content), fileInfo{name: path.Base(s.path), size: int64(len(s.content)),
		mode: 0o444}}, nil
}

// A singleFile is the open file of a singleFileFS.
type singleFile struct {
	*bytes.Reader
	info fileInfo
}

// Stat describes the file.
func (f *singleFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close does nothing.
func (f *singleFile) Close() error { return nil }
