package rule

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"merlon/internal/document"
	"merlon/internal/errs"
)

// maxFiles bounds the rule files of one folder.
const maxFiles = 100_000

// Files returns the rule files at a path, in the order of their names: the file itself, or every
// YAML file in a folder and below whose rules have ids. Files for tests (x.test.yaml,
// x.fixed.yaml) and hidden folders are left out. Only the look at the text tells a rule file from
// other YAML.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.E(errs.Invalid, "there is no rule file or folder %s", path)
	}
	if err != nil {
		return nil, fmt.Errorf("look for rules: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var out []string
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && file != path {
			return fs.SkipDir
		}
		if ok, err := isRuleFile(file, d); !ok || err != nil {
			return err
		}
		if len(out) == maxFiles {
			return fmt.Errorf("%s has more than %d rule files", path, maxFiles)
		}
		out = append(out, file)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for rules: %w", err)
	}
	return out, nil
}

// isRuleFile reports whether a file of a folder has rules, by its name and then by its
// text.
func isRuleFile(file string, d fs.DirEntry) (bool, error) {
	if !d.Type().IsRegular() || !isRuleName(d.Name()) {
		return false, nil
	}
	text, err := readFile(file)
	return err == nil && hasRules(text), err
}

// isRuleName reports whether a file may have rules, by its name.
func isRuleName(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".yaml" || ext == ".yml") && !strings.Contains(name, ".test.") && !strings.Contains(name, ".fixed.")
}

// readFile reads a file that may be as large as a rule file may be, and one byte more. So a file
// that is too large is reported as such.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// hasRules says whether a text is YAML with a list of rules that have ids. Other YAML, such as the
// roles of a cluster, has a list of that name too. The look is cheap: most YAML of a repository
// does not even have the word.
func hasRules(text []byte) bool {
	if !strings.Contains(string(text), "rules") || len(text) > maxFile {
		return false
	}
	doc, err := document.NewReader(text).Next()
	if err != nil {
		return false
	}
	rules := mappingValue(doc, "rules")
	if rules == nil || rules.Kind != yaml.SequenceNode {
		return false
	}
	for _, n := range rules.Content {
		if mappingValue(n, "id") != nil {
			return true
		}
	}
	return false
}

// mappingValue returns the value of a key of a mapping, nil if there is none. Anchors of YAML are
// followed.
func mappingValue(n *yaml.Node, key string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// Load reads the rules of the files and folders. It returns the rules without fault, and all
// faults, joined. Rules without fault are usable although others have one; the caller decides.
func (p Parser) Load(paths ...string) ([]*Rule, error) {
	var out []*Rule
	var faults []error
	for _, path := range paths {
		files, err := Files(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := readFile(file)
			if err != nil {
				return nil, fmt.Errorf("read rules: %w", err)
			}
			rules, err := p.Parse(filepath.ToSlash(file), text)
			out = append(out, rules...)
			if err != nil {
				faults = append(faults, err)
			}
		}
	}
	return out, errors.Join(faults...)
}
