// Command generate writes library/kics.zip: the queries of the KICS project, which its
// Go module holds, with their libraries and descriptions, and with what each needs
// of a document. "make library" runs it, by way of "go generate
// ./internal/engine/iac/kics". The module is the one that source/go.mod pins; the go
// command downloads it if the module cache has none. The result is not committed.
package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"merlon/internal/engine/iac/kics/module"
)

// output is the archive, relative to the folder of package kics.
const output = "library/kics.zip"

// main writes the archive of queries, or tells why not.
func main() {
	log.SetFlags(0)
	log.SetPrefix("generate the library of queries: ")
	if err := generateArchive(output); err != nil {
		log.Fatal(err)
	}
}

// generateArchive writes the archive, unless the one that is there has the same stamp.
func generateArchive(path string) error {
	pinned, err := findModule("source")
	if err != nil {
		return err
	}
	stamp, err := stampOf(pinned.Version, "generate", "module")
	if err != nil {
		return err
	}
	if isCurrent(path, stamp) {
		now := time.Now() // for make, which compares times
		return os.Chtimes(path, now, now)
	}
	var b bytes.Buffer
	if err := writeArchive(&b, filepath.Join(pinned.Dir, "assets"), stamp); err != nil {
		return err
	}
	return replaceFile(path, b.Bytes())
}

// replaceFile writes the file in one step, so that a build at the same time never
// takes in half of it.
func replaceFile(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".kics-*.zip")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // there is none when all went well
	_, err = temporary.Write(content)
	if err := cmp.Or(err, temporary.Chmod(0o644), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

// writeArchive makes the archive. For each platform it has three entries: index.json says
// which rules need which words, modules.bin has the compiled rules one after the other,
// and about.json describes the queries. The stamp is the archive's comment.
func writeArchive(w io.Writer, assets, stamp string) error {
	z := zip.NewWriter(w)
	if err := z.SetComment(stamp); err != nil {
		return err
	}
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	if err := addFile(z, "common.json", filepath.Join(assets, "libraries", "common.json")); err != nil {
		return err
	}
	folders, err := os.ReadDir(filepath.Join(assets, "queries"))
	if err != nil {
		return err
	}
	for _, f := range folders {
		p, err := readPlatform(assets, f.Name())
		if err != nil {
			return err
		}
		if len(p.Queries) == 0 {
			continue
		}
		if err := p.compileModules(); err != nil {
			return fmt.Errorf("compile the queries of %s: %w", f.Name(), err)
		}
		if err := p.addTo(z, f.Name()); err != nil {
			return err
		}
	}
	return z.Close()
}

// A platform is one folder of queries.
type platform struct {
	Words     []string  `json:"words"`
	Shared    []string  `json:"shared"` // names of rules of the libraries
	Libraries []library `json:"libraries"`
	Queries   []query   `json:"queries"`

	sources []source // of the libraries, then of the queries
	modules bytes.Buffer
	about   []json.RawMessage
	ids     map[string]int
	uses    uses
}

// A source is a module as it is written, with the name that it has in errors.
type source struct {
	name   string
	module *ast.Module
}

// A library is a module that queries share. The rules of all libraries stand at the
// beginning of modules.bin, after the tables.
type library struct {
	Name    string       `json:"name"`
	Package []string     `json:"package"`
	Rules   []sharedRule `json:"rules"`
}

// sharedRule is a rule of a library.
type sharedRule struct {
	Name int `json:"name"` // position in the platform's list
	Size int `json:"size"` // bytes in modules.bin
}

// A query is one module in modules.bin.
type query struct {
	Name  string `json:"name"` // the folder below the platform's
	At    int    `json:"at"`
	Sizes []int  `json:"sizes"` // of its rules, in bytes

	// Rules holds, for each rule of the module that yields results, its position
	// among the rules and what it needs: of each list one word.
	Rules []rule `json:"rules"`

	// Uses are the rules of the libraries that the query may call, by position in
	// the platform's list.
	Uses []int `json:"uses"`
}

// A rule is where a query's module begins, and the words that a document must have for it.
type rule struct {
	At    int     `json:"at"`
	Needs [][]int `json:"needs"`
}

// readPlatform reads the libraries and queries of a platform's folder.
func readPlatform(assets, name string) (*platform, error) {
	p := &platform{ids: map[string]int{}}
	root := filepath.Join(assets, "queries", name)
	libraries := filepath.Join(assets, "libraries")
	if _, err := os.Stat(filepath.Join(libraries, strings.ToLower(name)+".rego")); err != nil {
		return p, nil // a folder of something else
	}
	for _, l := range []struct{ name, file string }{{"common", "common"}, {"platform", strings.ToLower(name)}} {
		m, err := parseModule(l.name, filepath.Join(libraries, l.file+".rego"))
		if err != nil {
			return nil, err
		}
		p.sources = append(p.sources, source{l.name, m})
	}
	p.uses, p.Shared = usesOf(p.sources[0].module, p.sources[1].module)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "test" || strings.HasSuffix(d.Name(), "_bom")):
			return filepath.SkipDir
		case d.Name() != "query.rego":
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		return p.readQuery(name, filepath.Dir(path), filepath.ToSlash(rel))
	})
	return p, err
}

// readQuery adds the query of a folder, unless it is an experiment or an inventory.
func (p *platform) readQuery(platform, dir, name string) error {
	raw, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	if err != nil {
		return err
	}
	var about struct{ Experimental, Severity string }
	if err := json.Unmarshal(raw, &about); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if about.Experimental == "true" || about.Severity == "TRACE" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "query.rego"))
	if err != nil {
		return err
	}
	corrected, err := correctQuery(platform+"/"+name, strings.ReplaceAll(string(text), "\r\n", "\n"))
	if err != nil {
		return err
	}
	module, err := module.Parse(name, corrected)
	if err != nil {
		return err
	}
	q := query{Name: name}
	for i, r := range module.Rules {
		if r.Head.Name == "CxPolicy" {
			q.Rules = append(q.Rules, rule{At: i, Needs: p.numberWords(needsOf(module, r))})
		}
	}
	q.Uses = p.uses.reachableRules(module)
	p.sources = append(p.sources, source{name, module})
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return err
	}
	p.Queries, p.about = append(p.Queries, q), append(p.about, compact.Bytes())
	return nil
}

// numberWords replaces words by their numbers.
func (p *platform) numberWords(needs []need) [][]int {
	out := [][]int{}
	for _, n := range needs {
		ids := []int{}
		for _, word := range n {
			id, ok := p.ids[word]
			if !ok {
				id = len(p.Words)
				p.ids[word], p.Words = id, append(p.Words, word)
			}
			ids = append(ids, id)
		}
		slices.Sort(ids)
		out = append(out, ids)
	}
	return out
}

// parseModule reads a module from a file.
func parseModule(name, path string) (*ast.Module, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return module.Parse(name, string(text))
}

// compileModules compiles all modules together and writes down what comes of them. Every
// query calls its package "Cx": each gets a package of its own.
func (p *platform) compileModules() error {
	modules := map[string]*ast.Module{}
	names := make([]string, len(p.sources))
	for i, s := range p.sources {
		if query := i - (len(p.sources) - len(p.Queries)); query >= 0 {
			s.module.Package.Path = module.QueryPackage(query)
		}
		names[i] = fmt.Sprintf("%04d %s", i, s.name)
		modules[names[i]] = s.module
	}
	compiled, err := module.Compile(modules)
	if err != nil {
		return err
	}
	var rules []*ast.Rule
	for _, name := range names {
		rules = append(rules, compiled[name].Rules...)
	}
	w := module.NewWriter(rules)
	var written bytes.Buffer
	for i, s := range p.sources {
		m := compiled[names[i]]
		if len(m.Rules) != len(s.module.Rules) {
			return fmt.Errorf("%s: %d rules are compiled to %d", s.name, len(s.module.Rules), len(m.Rules))
		}
		at := written.Len()
		var sizes []int
		for _, r := range m.Rules {
			b, err := w.Rule(r)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			sizes = append(sizes, len(b))
			written.Write(b)
		}
		if query := i - (len(p.sources) - len(p.Queries)); query >= 0 {
			p.Queries[query].At, p.Queries[query].Sizes = at, sizes
			continue
		}
		l := library{Name: s.name, Rules: []sharedRule{}}
		for _, step := range m.Package.Path[1:] {
			l.Package = append(l.Package, string(step.Value.(ast.String)))
		}
		for j, r := range m.Rules {
			l.Rules = append(l.Rules, sharedRule{Name: slices.Index(p.Shared, string(r.Head.Name)), Size: sizes[j]})
		}
		p.Libraries = append(p.Libraries, l)
	}
	p.modules.Write(w.Tables())
	p.modules.Write(written.Bytes())
	return nil
}

// addTo writes the entries of the platform.
func (p *platform) addTo(z *zip.Writer, name string) error {
	index, err := json.Marshal(p)
	if err != nil {
		return err
	}
	about, err := json.Marshal(p.about)
	if err != nil {
		return err
	}
	if err := addEntry(z, name+"/index.json", index); err != nil {
		return err
	}
	if err := addEntry(z, name+"/about.json", about); err != nil {
		return err
	}
	return addEntry(z, name+"/modules.bin", p.modules.Bytes())
}

// addFile adds a file to the archive as it is.
func addFile(z *zip.Writer, name, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return addEntry(z, name, content)
}

// addEntry writes one entry, without a time, so that the archive is the same each time.
func addEntry(z *zip.Writer, name string, content []byte) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}
