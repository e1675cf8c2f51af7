// Package kics runs the queries of the KICS project on documents: about 1,700
// modules in the Rego language, each of which knows one mistake in infrastructure
// code of one platform. They are run by the Open Policy Agent's evaluator in this
// process, without its built-in functions that reach the network or the host.
//
// What a scan pays for is what its files can trigger: for each rule of a query it
// is known which words a document must hold for the rule to have a result, so most
// are never read. All are compiled when the library is generated (package module).
//
// The library is made at build time from the module that source/go.mod pins ("make
// library"). A program that was built without it says so: ErrNoLibrary.
package kics

import (
	"archive/zip"
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics/module"
	"merlon/internal/scan"
)

//go:generate go run ./generate

// files is the folder into which generate writes the archive, with the licence of the
// queries. The folder is embedded, and not the archive, because it is always there:
// a plain "go build" of a clean checkout works.
//
//go:embed library
var files embed.FS

// archiveName is where generate writes the library.
const archiveName = "library/kics.zip"

// ErrNoLibrary says that the program was built without the library of queries, or with
// one of another version.
var ErrNoLibrary = fmt.Errorf("%w: the library of KICS queries; run \"make library\" and build again, or \"make build\"",
	scan.ErrMissingPart)

// A library is the opened archive with what was made of it so far. It is shared by
// all scans of the process.
type library struct {
	files map[string]*zip.File
	data  storage.Store // constants of the queries

	mu        sync.Mutex
	platforms map[document.Platform]*platform
}

// sharedLibrary is the archive of the program, opened once per process.
var sharedLibrary = sync.OnceValues(func() (*library, error) { return openLibrary(files) })

// openLibrary reads the archive of a file system. It reads it in place: the archive of
// the program is part of the binary, and a copy would stay for the life of the process.
func openLibrary(files fs.FS) (*library, error) {
	file, err := files.Open(archiveName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoLibrary
	} else if err != nil {
		return nil, fmt.Errorf("open the library of queries: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("open the library of queries: %w", err)
	}
	at, ok := file.(io.ReaderAt)
	if !ok {
		return nil, errors.New("the file system of the library has no random access")
	}
	z, err := zip.NewReader(at, info.Size())
	if err != nil {
		return nil, fmt.Errorf("read the library of queries: %w", err)
	}
	if !strings.HasPrefix(z.Comment, module.Format) {
		return nil, fmt.Errorf("%w (the one of this build is of another version)", ErrNoLibrary)
	}
	l := &library{files: map[string]*zip.File{}, platforms: map[document.Platform]*platform{}}
	for _, f := range z.File {
		l.files[f.Name] = f
	}
	var data map[string]any
	if err := l.decodeFile("common.json", &data); err != nil {
		return nil, err
	}
	l.data = inmem.NewFromObjectWithOpts(data, inmem.OptRoundTripOnWrite(false), inmem.OptReturnASTValuesOnRead(true))
	return l, nil
}

// readFile returns an entry of the archive.
func (l *library) readFile(name string) ([]byte, error) {
	f, ok := l.files[name]
	if !ok {
		return nil, fmt.Errorf("the library of queries has no %s", name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	defer func() { _ = r.Close() }() // it was only read from
	b := bytes.NewBuffer(make([]byte, 0, f.UncompressedSize64+bytes.MinRead))
	if _, err := io.Copy(b, r); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// decodeFile decodes an entry of JSON.
func (l *library) decodeFile(name string, into any) error {
	b, err := l.readFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("decode %s: %w", name, err)
	}
	return nil
}

// A platform is the queries of one kind of document.
type platform struct {
	name    document.Platform
	library *library
	words   map[string]int
	index   index

	about func() ([]queryInfo, error) // describes the queries, by position

	modules func() (*modules, error) // what they are compiled to

	mu       sync.Mutex
	prepared map[int]*preparedQuery // by position of the query
}

// An index says what there is in the archive for a platform.
type index struct {
	Words     []string `json:"words"`
	Libraries []struct {
		Name    string   `json:"name"`
		Package []string `json:"package"`
		Rules   []struct {
			Name int `json:"name"` // position in the list of shared rules
			Size int `json:"size"`
		} `json:"rules"`
	} `json:"libraries"`
	Queries []query `json:"queries"`
}

// A query is one module of the archive.
type query struct {
	Name  string `json:"name"`
	At    int    `json:"at"`
	Sizes []int  `json:"sizes"` // of its rules
	Rules []struct {
		At    int     `json:"at"`
		Needs [][]int `json:"needs"`
	} `json:"rules"`
	Uses []int `json:"uses"` // positions in the list of shared rules
}

// modules are the compiled rules of a platform's libraries and queries.
type modules struct {
	tables *module.Tables
	rules  []byte
}

// loadPlatform returns the queries of one platform; nil when there are none.
func (l *library) loadPlatform(name document.Platform) (*platform, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p, ok := l.platforms[name]; ok {
		return p, nil
	}
	dir := string(name) + "/"
	if l.files[dir+"index.json"] == nil {
		return nil, nil
	}
	p := &platform{name: name, library: l, prepared: map[int]*preparedQuery{}}
	if err := l.decodeFile(dir+"index.json", &p.index); err != nil {
		return nil, err
	}
	p.words = make(map[string]int, len(p.index.Words))
	for i, word := range p.index.Words {
		p.words[word] = i
	}
	p.about = sync.OnceValues(func() ([]queryInfo, error) {
		var all []queryInfo
		if err := l.decodeFile(dir+"about.json", &all); err != nil {
			return nil, err
		}
		if len(all) != len(p.index.Queries) {
			return nil, fmt.Errorf("%s: %d descriptions for %d queries", name, len(all), len(p.index.Queries))
		}
		return all, nil
	})
	p.modules = sync.OnceValues(func() (*modules, error) {
		b, err := l.readFile(dir + "modules.bin")
		if err != nil {
			return nil, err
		}
		tables, rules, err := module.ReadTables(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return &modules{tables, rules}, nil
	})
	l.platforms[name] = p
	return p, nil
}
