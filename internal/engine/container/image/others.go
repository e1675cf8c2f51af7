package image

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"merlon/internal/finding"
)

// This file reads installed packages of which the library has no reader, or one that
// tells less.

// readListed reads a file that lists what is there, with the reader of its form.
func readListed(ctx context.Context, name string, b []byte) ([]imagePackage, error) {
	out, err := readLockFile(ctx, name, b)
	for i := range out {
		out[i].locked = false
	}
	return out, err
}

// isBitnamiSBOM reports whether the file is the SBOM that an image of Bitnami keeps beside
// each of its programs, which no package manager knows.
func isBitnamiSBOM(name string) bool {
	return strings.HasPrefix(name, "opt/bitnami/") && strings.HasPrefix(path.Base(name), ".spdx-") &&
		strings.HasSuffix(name, ".spdx")
}

// readBitnamiSBOM reads such an SBOM. What it names besides are packages of languages,
// which their own files name.
func readBitnamiSBOM(ctx context.Context, name string, b []byte) ([]imagePackage, error) {
	out, err := readListed(ctx, name, b)
	return slices.DeleteFunc(out, func(it imagePackage) bool { return it.Ecosystem != "Bitnami" }), err
}

// isInstalledR reports whether the file describes an installed package of R.
func isInstalledR(name string) bool {
	dir := path.Base(path.Dir(path.Dir(name)))
	return path.Base(name) == "DESCRIPTION" && (dir == "library" || dir == "site-library")
}

// readPackageOfR reads a DESCRIPTION
// (https://cran.r-project.org/doc/manuals/r-release/R-exts.html#The-DESCRIPTION-file).
// Those of the language itself, and what is not installed, are not packages.
func readPackageOfR(_ context.Context, _ string, b []byte) ([]imagePackage, error) {
	fields := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	line, at := 0, 0
	for lines.Scan() {
		line++
		name, value, ok := strings.Cut(lines.Text(), ":")
		if !ok || strings.ContainsAny(name, " \t") {
			continue // the value above goes on
		}
		fields[name] = strings.TrimSpace(value)
		if name == "Package" {
			at = line
		}
	}
	if err := lines.Err(); err != nil {
		return nil, errors.Join(errors.New("read a DESCRIPTION"), err)
	}
	if fields["Package"] == "" || fields["Version"] == "" || fields["Built"] == "" || fields["Priority"] == "base" {
		return nil, nil
	}
	return []imagePackage{{Package: finding.Package{Ecosystem: "CRAN", Name: fields["Package"],
		Version: fields["Version"],
		Line:    at}}}, nil
}
