package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"merlon/internal/engine/iac/kics/module"
)

// This file finds the module and decides whether an archive was made of it by this
// generator.

// kicsModule is the module of the KICS project.
const kicsModule = "github.com/Checkmarx/kics/v2"

// compiler is the module whose version decides how compiled rules look.
const compiler = "github.com/open-policy-agent/opa"

// A pinnedModule is a module in the module cache, as "go mod download -json" describes it.
type pinnedModule struct {
	Version, Dir, Error string
}

// findModule returns the module that the go.mod in the folder pins. The go command
// downloads it if need be and compares it with go.sum.
func findModule(folder string) (pinnedModule, error) {
	cmd := exec.Command("go", "mod", "download", "-json", kicsModule)
	cmd.Dir = folder
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	out, err := cmd.Output() // with an error, too: it is in the field Error
	var m pinnedModule
	if decoding := json.Unmarshal(out, &m); decoding == nil && m.Error != "" {
		return m, fmt.Errorf("download %s: %s", kicsModule, m.Error)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return m, fmt.Errorf("download %s: %w: %s", kicsModule, err, strings.TrimSpace(string(exit.Stderr)))
	} else if err != nil {
		return m, fmt.Errorf("download %s: %w", kicsModule, err)
	}
	if m.Dir == "" || m.Version == "" {
		return m, fmt.Errorf("download %s: the go command names no folder and version", kicsModule)
	}
	return m, nil
}

// stampOf returns what the archive depends on: the version of the module, that of
// the compiler, and the sources of the generator in the folders.
func stampOf(version string, folders ...string) (string, error) {
	hash := sha256.New()
	for _, folder := range folders {
		names, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return "", err
		}
		names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
		if len(names) == 0 {
			return "", fmt.Errorf("%s has no Go files: run it in the folder of package kics", folder)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			_, _ = fmt.Fprintf(hash, "%s %d\n%s", name, len(text), text)
		}
	}
	return fmt.Sprintf("%s queries %s, compiler %s, generator %s", module.Format, version, compilerVersion(),
		hex.EncodeToString(hash.Sum(nil)[:8])), nil
}

// compilerVersion returns the version of the Open Policy Agent that this program is
// built with.
func compilerVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == compiler {
				return dependency.Version
			}
		}
	}
	return "unknown"
}

// isCurrent reports whether the archive has the stamp. One that cannot be read has none.
func isCurrent(path, stamp string) bool {
	z, err := zip.OpenReader(path)
	if err != nil {
		return false
	}
	defer func() { _ = z.Close() }() // it was only read from
	return z.Comment == stamp
}
