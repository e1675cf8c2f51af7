package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"merlon/internal/engine/sast/rule"
	"merlon/internal/errs"
)

// maxRuleFile bounds a rule file, in bytes.
const maxRuleFile = 4 << 20

// Load reads the rules of a file, or of every .yaml and .yml file below a folder.
// Files whose names say that they are test data are passed over. Faults of rules are
// one error (errs.Invalid) that names each with its file and line.
func Load(path string) ([]*rule.Rule, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, errs.E(errs.Invalid, "rules: %v", err)
	}
	files := []string{path}
	if info.IsDir() {
		if files, err = below(path); err != nil {
			return nil, err
		}
	}
	var out []*rule.Rule
	var faults []error
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, errs.E(errs.Invalid, "rules: %v", err)
		}
		if len(text) > maxRuleFile {
			faults = append(faults, fmt.Errorf("%s has %d bytes; a rule file has at most %d", name, len(text), maxRuleFile))
			continue
		}
		found, err := rule.Parse(name, text)
		out = append(out, found...)
		if err != nil {
			faults = append(faults, err)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, errs.E(errs.Invalid, "%v", err)
	}
	if len(out) == 0 {
		return nil, errs.E(errs.Invalid, "rules: there is no rule in %s", path)
	}
	return out, nil
}

// below lists the rule files below a folder, sorted.
func below(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && strings.HasPrefix(name, ".") && path != root {
			return fs.SkipDir
		}
		ext := filepath.Ext(name)
		if d.Type().IsRegular() && (ext == ".yaml" || ext == ".yml") && !strings.Contains(name, ".test.") && !strings.Contains(name, ".fixed.") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return nil, errs.E(errs.Invalid, "rules: %v", err)
	}
	return files, nil
}
