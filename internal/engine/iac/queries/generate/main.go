// Command generate writes library.zip: the queries of the KICS project, which its
// Go module holds, with their libraries and descriptions, and with what each needs
// of a document. It is run by "go generate ./internal/engine/iac/queries" in an
// environment where the module can be had; the result is committed.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

const moduleVersion = "github.com/Checkmarx/kics/v2@v2.2.0"

func main() {
	dir, err := moduleDir()
	if err != nil {
		log.Fatal(err)
	}
	var b bytes.Buffer
	if err := write(&b, filepath.Join(dir, "assets")); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("library.zip", b.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// moduleDir brings the module into the module cache and returns its folder.
func moduleDir() (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", moduleVersion)
	cmd.Dir = os.TempDir()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("download %s: %w", moduleVersion, err)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return "", err
	}
	return m.Dir, nil
}

// write makes the archive. For each platform it has three entries: index.json says
// which rules need which words, source.rego holds the modules one after the other,
// and about.json describes the queries.
func write(w io.Writer, assets string) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, name := range []string{"common.rego", "common.json"} {
		if err := addFile(z, name, filepath.Join(assets, "libraries", name)); err != nil {
			return err
		}
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
		if err := addFile(z, f.Name()+"/library.rego", filepath.Join(assets, "libraries", strings.ToLower(f.Name())+".rego")); err != nil {
			return err
		}
		if err := p.add(z, f.Name()); err != nil {
			return err
		}
	}
	return z.Close()
}

// A platform is one folder of queries.
type platform struct {
	Words   []string `json:"words"`
	Shared  []string `json:"shared"` // names of rules of the libraries
	Queries []query  `json:"queries"`

	source bytes.Buffer
	about  []json.RawMessage
	ids    map[string]int
	uses   uses
}

// A query is one module in source.rego.
type query struct {
	Name string `json:"name"` // the folder below the platform's
	At   int    `json:"at"`
	Size int    `json:"size"`

	// Rules holds, for each rule of the module that yields results, its position
	// among the rules and what it needs: of each list one word.
	Rules []rule `json:"rules"`

	// Uses are the rules of the libraries that the query may call, by position in
	// the platform's list.
	Uses []int `json:"uses"`
}

type rule struct {
	At    int     `json:"at"`
	Needs [][]int `json:"needs"`
}

func readPlatform(assets, name string) (*platform, error) {
	p := &platform{ids: map[string]int{}}
	root := filepath.Join(assets, "queries", name)
	libraries := filepath.Join(assets, "libraries")
	if _, err := os.Stat(filepath.Join(libraries, strings.ToLower(name)+".rego")); err != nil {
		return p, nil // a folder of something else
	}
	var err error
	if p.uses, p.Shared, err = usesOf(filepath.Join(libraries, "common.rego"), filepath.Join(libraries, strings.ToLower(name)+".rego")); err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
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
		return p.read(filepath.Dir(path), filepath.ToSlash(rel))
	})
	return p, err
}

// read adds the query of a folder, unless it is an experiment or an inventory.
func (p *platform) read(dir, name string) error {
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
	module, err := ast.ParseModuleWithOpts(name, string(text), ast.ParserOptions{RegoVersion: ast.RegoV0})
	if err != nil {
		return err
	}
	q := query{Name: name, At: p.source.Len()}
	for i, r := range module.Rules {
		if r.Head.Name == "CxPolicy" {
			q.Rules = append(q.Rules, rule{At: i, Needs: p.number(needsOf(module, r))})
		}
	}
	q.Uses = p.uses.of(module)
	p.source.Write(withoutComments(text))
	q.Size = p.source.Len() - q.At
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return err
	}
	p.Queries, p.about = append(p.Queries, q), append(p.about, compact.Bytes())
	return nil
}

// number replaces words by their numbers.
func (p *platform) number(needs []need) [][]int {
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

// withoutComments leaves out the lines that hold a comment alone; inside of a raw
// string there may be no comment, so modules with one keep every line.
func withoutComments(text []byte) []byte {
	if bytes.Contains(text, []byte("`")) {
		return append(text, '\n')
	}
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' {
			b.Write(line)
		}
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func (p *platform) add(z *zip.Writer, name string) error {
	index, err := json.Marshal(p)
	if err != nil {
		return err
	}
	about, err := json.Marshal(p.about)
	if err != nil {
		return err
	}
	if err := add(z, name+"/index.json", index); err != nil {
		return err
	}
	if err := add(z, name+"/about.json", about); err != nil {
		return err
	}
	return add(z, name+"/source.rego", p.source.Bytes())
}

func addFile(z *zip.Writer, name, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return add(z, name, content)
}

// add writes one entry, without a time, so that the archive is the same each time.
func add(z *zip.Writer, name string, content []byte) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}
