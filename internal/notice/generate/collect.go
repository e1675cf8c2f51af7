package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/sca/license"
	categories "merlon/internal/license"
)

// A component is a work of others, with the files that every copy comes with.
// license is an SPDX expression of ids joined by AND; it is empty until recognize was called.
type component struct {
	name, version, license string
	files                  []file
}

// A file is a licence or a notice.
// path is relative to the component, text is normalized.
type file struct{ path, text string }

// A module is a Go module as the go command describes it, and what is linked of it.
// The exported fields are those of "go list -json". Replace is nil unless go.mod replaces the
// module.
type module struct {
	Path    string
	Version string
	Dir     string
	Replace *module

	folders []string // of linked packages, relative
	hasC    bool     // C code: its sources are in folders that are no packages
}

// platforms are the systems that the binary is built for. A few modules are linked only on one.
// Cross-compiled releases share one list, so it names the modules of all of them.
var platforms = []string{"linux", "darwin", "windows"}

// collectComponents returns what the binary contains. The root is that of our module.
func collectComponents(root string) ([]component, error) {
	modules, err := listModules(root)
	if err != nil {
		return nil, err
	}
	var out []component
	var errs []error
	for _, m := range modules {
		c, err := readModule(m)
		if err != nil {
			// All modules with a problem are reported at once.
			errs = append(errs, err)
			continue
		}
		out = append(out, c)
	}
	others, err := readOthers(root)
	return append(out, others...), errors.Join(append(errs, err)...)
}

// listModules returns the modules of which a package is linked on some platform.
func listModules(root string) ([]*module, error) {
	found := map[string]*module{}
	for _, platform := range platforms {
		command := exec.Command("go", "list", "-deps", "-json=Dir,Module,CgoFiles", "./cmd/merlon")
		command.Dir = root
		// cgo is on, since packages with C code are hidden otherwise; GOWORK is off, so that a
		// workspace of a developer has no effect.
		command.Env = append(command.Environ(), "GOOS="+platform, "GOARCH=amd64", "CGO_ENABLED=1", "GOWORK=off")
		var stderr bytes.Buffer
		command.Stderr = &stderr
		output, err := command.Output()
		if err != nil {
			return nil, fmt.Errorf("list the packages for %s: %w: %s", platform, err, stderr.Bytes())
		}
		if err := addPackages(found, output); err != nil {
			return nil, err
		}
	}
	var out []*module
	for _, m := range found {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *module) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// addPackages adds the packages that go list describes to their modules.
func addPackages(found map[string]*module, output []byte) error {
	for d := json.NewDecoder(bytes.NewReader(output)); ; {
		var p struct {
			Dir      string
			CgoFiles []string
			Module   *module
		}
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read what go list says: %w", err)
		}
		// The standard library has no module, and the main module no version.
		if p.Module == nil || p.Module.Version == "" && p.Module.Replace == nil { // of Go, or ours
			continue
		}
		m := found[p.Module.Path]
		if m == nil {
			m = p.Module
			if m.Replace != nil {
				// What is linked is the replacement.
				m.Version, m.Dir = m.Replace.Version, m.Replace.Dir
			}
			found[m.Path] = m
		}
		folder, err := filepath.Rel(m.Dir, p.Dir)
		if err != nil {
			return err
		}
		m.hasC = m.hasC || len(p.CgoFiles) > 0
		if folder = filepath.ToSlash(folder); !slices.Contains(m.folders, folder) {
			m.folders = append(m.folders, folder)
		}
	}
}

// classes are the categories of licences, as they are built in.
var classes = categories.NewClasses(nil)

// noticeName matches the names of files that come with every copy.
// It matches LICENSE, UNLICENSE, COPYING.LESSER, NOTICE.txt, LICENSE-MIT and so on.
var noticeName = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)([-_.].*)?$`)

// grantsNothing matches the names of files beside a licence: notices, patents, pictures.
var grantsNothing = regexp.MustCompile(`(?i)^(notice|patents|licen[cs]e-logo)`)

// isNotice reports whether a file is a licence or a notice, and not code about licences.
func isNotice(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".go", ".c", ".h", ".py", ".js", ".ts", ".json", ".yaml", ".yml", ".tmpl":
		return false
	case ".docs": // the licence of documentation, which is not in the binary
		return false
	}
	return noticeName.MatchString(name)
}

// readModule returns the component of a module: the notices at its top, and those in
// folders from there to a linked package, because authors keep copied code in folders
// with its licence.
func readModule(m *module) (component, error) {
	folders := map[string]bool{".": true}
	for _, folder := range m.folders {
		// A licence covers its folder and all below, so those above a linked package apply.
		for ; folder != "."; folder = path.Dir(folder) {
			folders[folder] = true
		}
	}
	c := component{name: m.Path, version: m.Version}
	err := filepath.WalkDir(m.Dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(m.Dir, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		// Licences in other folders, such as those of test data, are of code that is not linked.
		if !isNotice(path.Base(rel)) || !folders[path.Dir(rel)] && !(m.hasC && isSource(rel)) {
			return nil
		}
		return c.addFile(rel, p)
	})
	if err != nil {
		return c, fmt.Errorf("%s %s: %w", m.Path, m.Version, err)
	}
	return c, c.recognize()
}

// isSource reports whether a path can belong to compiled C code: not to tests or examples.
func isSource(rel string) bool {
	return strings.HasPrefix(rel, "src/") || strings.HasPrefix(rel, "include/")
}

// addFile adds the file at a path of this machine.
func (c *component) addFile(rel, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	c.files = append(c.files, file{path: rel, text: normalize(string(text))})
	return nil
}

// normalize removes differences that readers do not see, so that equal texts are kept once.
func normalize(text string) string {
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "\n")
	for i, line := range lines {
		// Old GNU licences have form feeds between pages.
		lines[i] = strings.TrimRight(line, " \t\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// digestOf returns the key of a text.
func digestOf(text string) string {
	// Six bytes (48 bits) keep the list readable, and some hundred texts apart.
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// recognize sets the licence of the component from its texts.
func (c *component) recognize() error {
	var ids []string
	for _, f := range c.files {
		expression, err := recognizeText(f)
		if err != nil {
			return fmt.Errorf("%s %s: %w", c.name, c.version, err)
		}
		// Every text of a component has to be obeyed, hence AND.
		for _, id := range strings.Split(expression, " AND ") {
			if id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return fmt.Errorf("%s %s has no file with a licence: do not link it, or ask its authors", c.name, c.version)
	}
	slices.Sort(ids)
	c.license = strings.Join(ids, " AND ")
	return nil
}

// recognizeText returns the licence of a text; "" of a notice that comes beside a licence.
func recognizeText(f file) (string, error) {
	// A person's decision comes before the recognizer's.
	if reviewed, ok := reviewedTexts[digestOf(f.text)]; ok {
		return reviewed, nil
	}
	if grantsNothing.MatchString(path.Base(f.path)) {
		return "", nil
	}
	expression, err := license.OfText([]byte(f.text))
	if err != nil {
		return "", fmt.Errorf("%s: %w", f.path, err)
	}
	if expression == "" {
		return "", fmt.Errorf("the licence in %s is not recognized: read it and, if it may be shipped, add its "+
			"digest %s to reviewedTexts in internal/notice/generate", f.path, digestOf(f.text))
	}
	for id := range strings.SplitSeq(expression, " AND ") {
		switch classes.Of(id).Category {
		// Strong copyleft would extend to the whole binary; a commercial or unknown licence may
		// forbid shipping.
		case categories.Permissive, categories.WeakCopyleft:
		default:
			return "", fmt.Errorf("%s has the licence %s, which is neither permissive nor weak copyleft: do not "+
				"link it", f.path, id)
		}
	}
	return expression, nil
}
