package dependencies

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	cpb "github.com/google/osv-scalibr/binary/proto/config_go_proto"
	"github.com/google/osv-scalibr/extractor"
	"github.com/google/osv-scalibr/extractor/filesystem"
	scalibr "github.com/google/osv-scalibr/inventory"
	"github.com/google/osv-scalibr/plugin"
	"github.com/google/osv-scalibr/purl"
)

// This file reads package-lock.json and npm-shrinkwrap.json
// (https://docs.npmjs.com/cli/configuring-npm/package-lock-json). The library's
// reader looks every line number up from the start of the file, which takes
// minutes for a large repository, and does not tell workspaces from packages.

// maxNpmDepth bounds how deep dependencies stand in each other in version 1.
const maxNpmDepth = 200

// npmLock is the reader.
type npmLock struct{}

func newNpmLock(*cpb.PluginConfig) (filesystem.Extractor, error) { return npmLock{}, nil }

// Name implements filesystem.Extractor.
func (npmLock) Name() string { return "merlon/npmlock" }

// Version implements filesystem.Extractor.
func (npmLock) Version() int { return 1 }

// Requirements implements filesystem.Extractor: it needs nothing.
func (npmLock) Requirements() *plugin.Capabilities { return &plugin.Capabilities{} }

// FileRequired implements filesystem.Extractor.
func (npmLock) FileRequired(api filesystem.FileAPI) bool {
	base := path.Base(api.Path())
	return base == "package-lock.json" || base == "npm-shrinkwrap.json"
}

// Extract implements filesystem.Extractor. Of two lock files in one folder npm
// uses npm-shrinkwrap.json, so the other one is not read.
func (npmLock) Extract(_ context.Context, in *filesystem.ScanInput) (scalibr.Inventory, error) {
	if path.Base(in.Path) == "package-lock.json" {
		if _, err := in.FS.Stat(path.Join(path.Dir(in.Path), "npm-shrinkwrap.json")); err == nil {
			return scalibr.Inventory{}, nil
		}
	}
	content, err := io.ReadAll(in.Reader)
	if err != nil {
		return scalibr.Inventory{}, err
	}
	f := npmFile{content: content, at: map[string]*extractor.Package{}, file: in.Path}
	if err := f.read(); err != nil {
		return scalibr.Inventory{}, err
	}
	return scalibr.Inventory{Packages: f.packages}, nil
}

// npmEntry is an entry of the file, of any version.
type npmEntry struct {
	Name            string            `json:"name"`
	Version         string            `json:"version"`
	Resolved        string            `json:"resolved"`
	Link            bool              `json:"link"`
	Dev             bool              `json:"dev"`
	Dependencies    json.RawMessage   `json:"dependencies"` // of version 1: entries; later: ranges by name
	DevDependencies map[string]string `json:"devDependencies"`
	Optional        map[string]string `json:"optionalDependencies"`
	Peer            map[string]string `json:"peerDependencies"`
}

// npmRole is what the lock file says of a package beyond its name.
type npmRole struct {
	direct, known bool
	dev           bool
}

// IsProtoable lets the role travel with the package.
func (*npmRole) IsProtoable() {}

// npmFile is one file being read.
type npmFile struct {
	file     string
	content  []byte
	lines    lineCounter
	packages []*extractor.Package
	at       map[string]*extractor.Package // by name@version
}

// read reads the members "packages" (version 2 and later), else "dependencies".
func (f *npmFile) read() error {
	f.lines.content = f.content
	var old json.RawMessage
	oldAt, newer := 0, false
	err := eachMember(f.content, 0, func(key string, _ int, value json.RawMessage, at int) error {
		switch key {
		case "packages":
			newer = true
			return f.places(value, at)
		case "dependencies":
			old, oldAt = value, at
		}
		return nil
	})
	if err != nil || newer || old == nil {
		return err
	}
	return f.nested(old, oldAt, 1)
}

// places reads the entries by place: "" is the project, "node_modules/a" a
// package, any other path a workspace.
func (f *npmFile) places(value json.RawMessage, at int) error {
	direct := map[string]bool{} // places of what the project and its workspaces ask for
	type seen struct {
		npmEntry
		place  string
		offset int
	}
	var all []seen
	err := eachMember(value, at, func(place string, offset int, value json.RawMessage, _ int) error {
		var e npmEntry
		if err := json.Unmarshal(value, &e); err != nil {
			return fmt.Errorf("packages: %q: %w", place, err)
		}
		if strings.Contains(place, "node_modules/") {
			all = append(all, seen{e, place, offset})
			return nil
		}
		var asked map[string]string
		if len(e.Dependencies) > 0 {
			if err := json.Unmarshal(e.Dependencies, &asked); err != nil {
				return fmt.Errorf("packages: %q: %w", place, err)
			}
		}
		for _, list := range []map[string]string{asked, e.DevDependencies, e.Optional, e.Peer} {
			for name := range list {
				direct[path.Join(place, "node_modules", name)] = true
				direct["node_modules/"+name] = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Link {
			continue
		}
		name := s.Name
		if name == "" {
			name = s.place[strings.LastIndex(s.place, "node_modules/")+len("node_modules/"):]
		}
		f.add(name, s.npmEntry, s.offset, npmRole{known: true, direct: direct[s.place], dev: s.Dev})
	}
	return nil
}

// nested reads the entries of version 1, which stand in each other.
func (f *npmFile) nested(value json.RawMessage, at, depth int) error {
	if depth > maxNpmDepth {
		return errors.New("dependencies stand too deep in each other")
	}
	return eachMember(value, at, func(name string, offset int, value json.RawMessage, at int) error {
		var e npmEntry
		if err := json.Unmarshal(value, &e); err != nil {
			return fmt.Errorf("dependencies: %q: %w", name, err)
		}
		if alias, ok := strings.CutPrefix(e.Version, "npm:"); ok { // "npm:string-width@4.2.0"
			name, e.Version = cutLast(alias, "@")
			if e.Version == "" {
				return fmt.Errorf("dependencies: %q has no version", alias)
			}
		}
		f.add(name, e, offset, npmRole{dev: e.Dev})
		if len(e.Dependencies) == 0 {
			return nil
		}
		i := bytes.Index(value, []byte(`"dependencies"`))
		inner := bytes.Index(value[max(i, 0):], e.Dependencies)
		return f.nested(e.Dependencies, at+max(i, 0)+max(inner, 0), depth+1)
	})
}

// add adds a package, or what a further place of it says.
func (f *npmFile) add(name string, e npmEntry, offset int, role npmRole) {
	kind := purl.TypeNPM
	if from := e.Resolved + " " + e.Version; strings.Contains(from, "git+") || strings.Contains(from, "git:") || strings.Contains(from, "github:") {
		kind = purl.TypeGit
	}
	if strings.Contains(e.Version, ":") && kind == purl.TypeGit {
		e.Version = "" // a commit; the version is in its package.json
	}
	id := name + "@" + e.Version
	if known := f.at[id]; known != nil {
		r := known.Metadata.(*npmRole)
		r.direct, r.dev = r.direct || role.direct, r.dev && role.dev
		return
	}
	f.at[id] = &extractor.Package{
		Name: name, Version: e.Version, PURLType: kind, Metadata: &role,
		Location: extractor.LocationFromPathAndLine(f.file, f.lines.at(offset)),
	}
	f.packages = append(f.packages, f.at[id])
}

// eachMember calls do for each member of a JSON object that begins at the offset
// of the file: with its key, where the key ends, its value and where that begins.
func eachMember(object []byte, offset int, do func(key string, keyAt int, value json.RawMessage, at int) error) error {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errors.New("an object was expected"), err)
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return errors.New("a name was expected")
		}
		keyAt := offset + int(dec.InputOffset())
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return fmt.Errorf("%q: %w", key, err)
		}
		if err := do(key, keyAt, value, offset+int(dec.InputOffset())-len(value)); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// A lineCounter turns offsets into lines, fast when they rise.
type lineCounter struct {
	content []byte
	offset  int
	line    int // lines before offset
}

func (l *lineCounter) at(offset int) int {
	if offset > len(l.content) {
		return 0
	}
	if offset < l.offset {
		l.offset, l.line = 0, 0
	}
	l.line += bytes.Count(l.content[l.offset:offset], []byte("\n"))
	l.offset = offset
	return l.line + 1
}
