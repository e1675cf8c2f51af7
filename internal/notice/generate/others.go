package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// reviewedTexts has texts that no recognizer knows and a person has read, by digest: "" for
// one that is no licence, such as a list of authors. A changed text has another digest, so
// somebody reads it again.
// To add one: the digest that the error names, the SPDX id, and what the text is in a comment.
var reviewedTexts = map[string]string{
	"8336240078dd": "ICU",        // tree-sitter: Unicode data, with the notices of ICU
	"de2e7c240a45": "MIT",        // modernc.org/libc: musl, go-netdb and nixpkgs, beside Go's own licence
	"14088888f59c": "blessing",   // SQLite itself: public domain, with a blessing
	"77b00d378fa8": "MIT",        // modernc.org/sqlite: the same notices, and SQLite in the public domain
	"17829ca48b04": "Apache-2.0", // spdx/tools-golang: Apache-2.0 or GPL-2.0-or-later, as we choose
	"2b8675b377e4": "CC-BY-4.0",  // the notice of our sample advisories
}

// readOthers returns what the binary contains beside Go modules.
func readOthers(root string) ([]component, error) {
	goVersion, err := findVersion(filepath.Join(root, "go.mod"), `(?m)^go (\S+)$`)
	if err != nil {
		return nil, err
	}
	goRoot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("ask for the folder of Go: %w", err)
	}
	const kics = "internal/engine/iac/kics"
	kicsVersion, err := findVersion(filepath.Join(root, kics, "source/go.mod"), `github\.com/Checkmarx/kics/v2 (\S+)`)
	if err != nil {
		return nil, err
	}
	zxcvbn, err := findModule(root, "github.com/trustelem/zxcvbn")
	if err != nil {
		return nil, err
	}
	library := filepath.Join(root, kics, "library")
	out := []component{
		{name: "Go standard library and runtime", version: goVersion},
		{name: "KICS infrastructure queries (github.com/Checkmarx/kics)", version: kicsVersion},
		{name: "PyPA advisory database (records of the sample application)", version: "extract"},
		{name: "zxcvbn list of passwords (github.com/trustelem/zxcvbn)"},
	}
	out[3].version = zxcvbn.Version
	// The files of each component, in the order of out.
	for i, from := range [][]string{
		{filepath.Join(strings.TrimSpace(string(goRoot)), "LICENSE")},
		{filepath.Join(library, "LICENSE.txt"), filepath.Join(library, "NOTICE")},
		{filepath.Join(root, "examples", "NOTICE")},
		{filepath.Join(zxcvbn.Dir, "LICENSE.txt")},
	} {
		for _, path := range from {
			if err := out[i].addFile(filepath.Base(path), path); err != nil {
				return nil, err
			}
		}
		if err := out[i].recognize(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// findModule returns a module of which data are built in, and no package is linked.
func findModule(root, path string) (m module, err error) {
	// It is in go.mod for the tools that generate the data.
	command := exec.Command("go", "list", "-m", "-json", path)
	command.Dir = root
	output, err := command.Output()
	if err != nil {
		return m, fmt.Errorf("find the module %s: %w", path, err)
	}
	return m, json.Unmarshal(output, &m)
}

// findVersion returns what the pattern captures in a go.mod file.
func findVersion(path, pattern string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(pattern).FindSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("%s has no line that matches %s", path, pattern)
	}
	return string(m[1]), nil
}
