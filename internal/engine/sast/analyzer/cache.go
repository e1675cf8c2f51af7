package analyzer

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"merlon/internal/engine/sast/cache"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/errs"
	"merlon/internal/scan"
)

// This file opens the cache of a scan. Its version stands for all that the entries
// hang on besides the files: the program, with the rules and models in it, and the
// rules of the user.

// openCache opens the cache that the scan is told to use; nil for none. Rules that compare with
// the date of today give other results tomorrow, so nothing is kept with them.
func openCache(c scan.Code) (*cache.Cache, error) {
	if c.Cache == "" {
		return nil, nil
	}
	parts := [][]byte{buildID(), fmt.Append(nil, c.OnlyRules)}
	for _, path := range c.Rules {
		text, err := ruleTexts(path)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte("today")) {
			return nil, nil // what such a rule says may change without a change
		}
		parts = append(parts, []byte(path), text)
	}
	name := fmt.Sprintf("%s\x00%v\x00%s", c.CacheName, c.OnlyRules, strings.Join(c.Rules, "\x00"))
	return cache.Open(c.Cache, name, cache.NewKey(parts...)), nil
}

// buildID identifies the build: what it says of itself, and when and how large its file was made,
// which tells builds of a changed working tree apart. Without the file nothing is known, so
// nothing fits but the same process. A cache of another build must not be used: its rules differ.
func buildID() []byte {
	var id []byte
	if info, ok := debug.ReadBuildInfo(); ok {
		id = fmt.Append(id, info.String())
	}
	path, err := os.Executable()
	if err != nil {
		return fmt.Append(id, os.Getpid())
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Append(id, os.Getpid())
	}
	return fmt.Append(id, info.Size(), info.ModTime().UnixNano())
}

// ruleTexts returns the names and contents of the rule files at the path. Their names count too,
// since findings name them.
func ruleTexts(path string) ([]byte, error) {
	files, err := rule.Files(path)
	if err != nil {
		return nil, errs.E(errs.Invalid, "rules: %v", err)
	}
	var out []byte
	for _, name := range files {
		text, err := os.ReadFile(name) // it was a rule file before, so it is not large
		if err != nil {
			return nil, errs.E(errs.Invalid, "rules: %v", err)
		}
		out = fmt.Appendf(out, "%s %d\n%s", name, len(text), text)
	}
	return out, nil
}
