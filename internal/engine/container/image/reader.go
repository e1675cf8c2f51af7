package image

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	cpb "github.com/google/osv-scalibr/binary/proto/config_go_proto"
	"github.com/google/osv-scalibr/extractor"
	"github.com/google/osv-scalibr/extractor/filesystem"
	"github.com/google/osv-scalibr/extractor/filesystem/language/golang/gobinary"
	"github.com/google/osv-scalibr/extractor/filesystem/language/java/archive"
	"github.com/google/osv-scalibr/extractor/filesystem/language/javascript/packagejson"
	"github.com/google/osv-scalibr/extractor/filesystem/language/python/wheelegg"
	"github.com/google/osv-scalibr/extractor/filesystem/language/ruby/gemspec"
	"github.com/google/osv-scalibr/extractor/filesystem/language/rust/cargoauditable"
	"github.com/google/osv-scalibr/extractor/filesystem/os/apk"
	apkmeta "github.com/google/osv-scalibr/extractor/filesystem/os/apk/metadata"
	"github.com/google/osv-scalibr/extractor/filesystem/os/dpkg"
	dpkgmeta "github.com/google/osv-scalibr/extractor/filesystem/os/dpkg/metadata"
	scalibrlog "github.com/google/osv-scalibr/log"
	"github.com/google/osv-scalibr/purl"

	"merlon/internal/engine/container/rpmdb"
	"merlon/internal/finding"
	oci "merlon/internal/image"
)

// This file reads installed packages. The readers of osv-scalibr are used one by
// one, each on the content of one file; none of them gets a file system.

// A reader reads one form of installed packages.
type reader struct {
	match     func(name string) bool
	ecosystem string // as OSV spells it; empty for those of an operating system
	system    string // kind of an operating system's packages: deb, apk or rpm
	large     bool   // its files may be large
	keepText  bool   // the file itself is wanted at the end
	make      func(*cpb.PluginConfig) (filesystem.Extractor, error)
	extractor filesystem.Extractor
	parse     func(ctx context.Context, path string, b []byte) ([]item, error) // of ours, in place of an extractor
	database  func(ctx context.Context, c readable, size int64) ([]item, error)
}

// readers are tried in order; the first that matches the name reads the file.
// Programs are found by what they hold, not here.
var readers = []reader{
	{match: release, keepText: true},
	{match: debian, system: "deb", large: true, make: dpkg.New},
	{match: named("lib/apk/db/installed", "var/lib/apk/db/installed", "usr/lib/apk/db/installed"), system: "apk",
		large: true, make: apk.New},
	{match: rpmDatabase, system: "rpm", large: true, database: installedRPMs},
	{match: base("package.json"), ecosystem: "npm", make: packagejson.New},
	{match: pythonMetadata, ecosystem: "PyPI", make: wheelegg.New},
	{match: archive.IsArchive, ecosystem: "Maven", large: true, make: archive.New},
	{match: installedGem, ecosystem: "RubyGems", make: gemspec.New},
	{match: base("installed.json"), ecosystem: "Packagist", parse: composerInstalled},
	{match: ending(".deps.json"), parse: listedPackages},
	{match: ending(".egg"), ecosystem: "PyPI", large: true, make: wheelegg.New},
	{match: bitnamiBill, parse: bitnamiPackages},
	{match: installedR, parse: packageOfR},
	{match: lockFile, parse: lockedPackages},
}

// Readers of programs.
var (
	goProgram   = reader{ecosystem: "Go", make: gobinary.New}
	rustProgram = reader{ecosystem: "crates.io", make: cargoauditable.New}
)

// makeReaders makes the readers once per process.
var makeReaders = sync.OnceValues(func() ([]reader, error) {
	scalibrlog.SetLogger(quiet{})
	out := slices.Clone(readers)
	for _, r := range []*reader{&goProgram, &rustProgram} {
		if err := r.prepare(); err != nil {
			return nil, err
		}
	}
	for i := range out {
		if err := out[i].prepare(); err != nil {
			return nil, err
		}
	}
	return out, nil
})

func (r *reader) prepare() error {
	if r.make == nil {
		return nil
	}
	// The digest of a jar serves a service on the network only.
	no := false
	config := &cpb.PluginConfig{PluginSpecific: []*cpb.PluginSpecificConfig{{Config: &cpb.PluginSpecificConfig_JavaArchive{
		JavaArchive: &cpb.JavaArchiveConfig{HashJars: &no, MaxOpenedBytes: largest, MaxZipDepth: 8}}}}}
	x, err := r.make(config)
	if err != nil {
		return fmt.Errorf("prepare to read packages: %w", err)
	}
	r.extractor = x
	return nil
}

// named returns the reader for the file with the name, or nil.
func (e *examination) named(name string) *reader {
	for i := range e.readers {
		if e.readers[i].match(name) {
			return &e.readers[i]
		}
	}
	return nil
}

func named(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

func base(file string) func(string) bool {
	return func(name string) bool { return strings.HasSuffix(name, file) && path.Base(name) == file }
}

func ending(end string) func(string) bool {
	return func(name string) bool { return strings.HasSuffix(name, end) }
}

// debian reports whether the file lists packages of dpkg; distroless images have a
// file for each in place of the one.
func debian(name string) bool {
	return name == "var/lib/dpkg/status" || strings.HasPrefix(name, "var/lib/dpkg/status.d/") &&
		!strings.HasSuffix(name, ".md5sums")
}

func rpmDatabase(name string) bool {
	dir, file := path.Split(name)
	return (file == "rpmdb.sqlite" || file == "Packages.db" || file == "Packages") &&
		(dir == "var/lib/rpm/" || dir == "usr/lib/sysimage/rpm/" || dir == "usr/share/rpm/")
}

// pythonMetadata reports whether the file describes an installed distribution.
func pythonMetadata(name string) bool {
	return strings.HasSuffix(name, ".dist-info/METADATA") || strings.HasSuffix(name, ".egg-info/PKG-INFO") ||
		strings.HasSuffix(name, "/EGG-INFO/PKG-INFO") || strings.HasSuffix(name, ".egg-info")
}

// installedGem reports whether the file is the specification that installing a gem
// writes; those in source trees are programs with any content.
func installedGem(name string) bool {
	return strings.HasSuffix(name, ".gemspec") && strings.Contains(name, "/specifications/")
}

// An item is a package of an image.
type item struct {
	finding.Package
	system string // deb, apk or rpm; empty for a package of a language
	arch   string
	locked bool // a lock file names it
}

// key tells the packages of one file apart.
func (i item) key() string { return i.Name + "\x00" + i.Version + "\x00" + i.arch }

// read returns the packages of the content, sorted by their keys, or its text.
func (r *reader) read(ctx context.Context, e oci.Entry, c readable) ([]item, string, error) {
	var items []item
	var err error
	switch {
	case r.keepText:
		b, err := io.ReadAll(io.LimitReader(c, maxRelease))
		return nil, string(b), err
	case r.parse != nil:
		var b []byte
		if b, err = io.ReadAll(c); err == nil {
			items, err = r.parse(ctx, e.Path, b)
		}
	case r.database != nil:
		items, err = r.database(ctx, c, e.Size)
	default:
		items, err = r.extract(ctx, e, c)
	}
	for i := range items {
		items[i].Path, items[i].system = e.Path, r.system
		if r.ecosystem != "" {
			items[i].Ecosystem = r.ecosystem
		}
	}
	slices.SortFunc(items, func(a, b item) int { return strings.Compare(a.key(), b.key()) })
	return slices.CompactFunc(items, func(a, b item) bool { return a.key() == b.key() }), "", err
}

// extract runs an extractor of the library, which may crash on what it does not
// expect: that is an error of the file.
func (r *reader) extract(ctx context.Context, e oci.Entry, c readable) (items []item, err error) {
	defer func() {
		if v := recover(); v != nil {
			items, err = nil, fmt.Errorf("the reader of %s crashed (%T)", r.extractor.Name(), v)
		}
	}()
	found, err := r.extractor.Extract(ctx, &filesystem.ScanInput{
		FS: empty{}, Path: e.Path, Reader: c, Info: fileInfo{name: path.Base(e.Path), size: e.Size, mode: e.Mode}})
	for _, x := range found.Packages {
		if it, ok := r.item(x); ok {
			items = append(items, it)
		}
	}
	return items, err
}

// item makes a package of ours of one of the library.
func (r *reader) item(x *extractor.Package) (item, bool) {
	it := item{Package: finding.Package{Name: x.Name, Version: x.Version, Licenses: x.Licenses}}
	if at := x.Location.Descriptor; at != nil && at.File != nil {
		it.Line = at.File.LineNumber
	}
	switch m := x.Metadata.(type) {
	case *dpkgmeta.Metadata:
		it.arch, it.Source, it.SourceVersion = m.Architecture, m.SourceName, m.SourceVersion
	case *apkmeta.Metadata:
		it.arch = m.Architecture
		if m.OriginName != m.PackageName {
			it.Source = m.OriginName
		}
	}
	if r.ecosystem == "Go" {
		if it.Name == "go" {
			it.Name = "stdlib"
		}
		if it.Version == "(devel)" {
			it.Version = ""
		}
	}
	it.Licenses = slices.DeleteFunc(slices.Clone(it.Licenses), func(s string) bool { return s == "" })
	if len(it.Licenses) == 0 {
		it.Licenses = nil
	}
	return it, it.Name != "" && it.Name != "unknown" && it.Version != "unknown" && (it.Name != "unknown:unknown") &&
		(r.ecosystem != "Maven" || strings.Count(it.Name, ":") == 1)
}

// packageURL returns the purl of a package of a language, and of an operating
// system with the namespace and the release of its distribution.
func (i item) packageURL(d distribution) string {
	u := purl.PackageURL{Name: i.Name, Version: i.Version}
	q := map[string]string{}
	switch {
	case i.system != "":
		u.Type, u.Namespace = i.system, d.id
		if i.arch != "" {
			q["arch"] = i.arch
		}
		if d.id != "" && d.version != "" {
			q["distro"] = d.id + "-" + d.version
		}
		if epoch, rest, ok := strings.Cut(i.Version, ":"); ok && i.system == "rpm" {
			u.Version, q["epoch"] = rest, epoch
		}
	case i.Ecosystem == "Maven":
		u.Type = purl.TypeMaven
		if group, artifact, ok := strings.Cut(i.Name, ":"); ok {
			u.Namespace, u.Name = group, artifact
		}
	default:
		u.Type = purlTypes[i.Ecosystem]
		if dir, name := path.Split(i.Name); dir != "" {
			u.Namespace, u.Name = strings.TrimSuffix(dir, "/"), name
		}
	}
	u.Qualifiers = purl.QualifiersFromMap(q)
	return u.String()
}

var purlTypes = map[string]string{
	"npm": purl.TypeNPM, "PyPI": purl.TypePyPi, "Go": purl.TypeGolang, "crates.io": purl.TypeCargo,
	"RubyGems": purl.TypeGem, "Packagist": purl.TypeComposer, "NuGet": purl.TypeNuget,
	"Bitnami": "bitnami", "CRAN": purl.TypeCran,
}

// composerInstalled reads vendor/composer/installed.json, of which there are two
// forms: a list, and since version 2 an object with the list.
func composerInstalled(_ context.Context, _ string, b []byte) ([]item, error) {
	type entry struct {
		Name    string   `json:"name"`
		Version string   `json:"version"`
		License []string `json:"license"`
	}
	var list []entry
	var object struct {
		Packages []entry `json:"packages"`
	}
	if err := json.Unmarshal(b, &object); err == nil {
		list = object.Packages
	} else if json.Unmarshal(b, &list) != nil {
		return nil, err
	}
	var out []item
	for _, p := range list {
		if vendor, name, ok := strings.Cut(p.Name, "/"); ok && vendor != "" && name != "" && p.Version != "" {
			out = append(out, item{Package: finding.Package{Name: p.Name, Version: p.Version, Licenses: p.License}})
		}
	}
	return out, nil
}

// installedRPMs reads a database of rpm.
func installedRPMs(ctx context.Context, c readable, size int64) ([]item, error) {
	packages, err := rpmdb.Read(ctx, c, size)
	var out []item
	for _, p := range packages {
		it := item{Package: finding.Package{Name: p.Name, Version: p.Version + "-" + p.Release}, arch: p.Arch}
		if p.Epoch > 0 {
			it.Version = fmt.Sprintf("%d:%s", p.Epoch, it.Version)
		}
		if p.License != "" {
			it.Licenses = []string{p.License}
		}
		out = append(out, it)
	}
	return out, err
}

// empty is a file system without files: a reader gets the one file only.
type empty struct{}

func (empty) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadDir finds nothing.
func (e empty) ReadDir(name string) ([]fs.DirEntry, error) {
	return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
}

// Stat finds nothing.
func (e empty) Stat(name string) (fs.FileInfo, error) {
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

// fileInfo is what readers ask of a file.
type fileInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i fileInfo) Name() string      { return i.name }
func (i fileInfo) Size() int64       { return i.size }
func (i fileInfo) Mode() fs.FileMode { return i.mode }
func (fileInfo) ModTime() time.Time  { return time.Time{} }
func (fileInfo) IsDir() bool         { return false }
func (fileInfo) Sys() any            { return nil }

// quiet drops what the library logs: what matters comes back as an error.
type quiet struct{}

func (quiet) Errorf(string, ...any) {}
func (quiet) Error(...any)          {}
func (quiet) Warnf(string, ...any)  {}
func (quiet) Warn(...any)           {}
func (quiet) Infof(string, ...any)  {}
func (quiet) Info(...any)           {}
func (quiet) Debugf(string, ...any) {}
func (quiet) Debug(...any)          {}

// smallest is the size below which nothing is a program.
const smallest = 64

// program reports whether a file begins like a program: ELF, Windows, macOS.
func program(head []byte) bool {
	for _, magic := range []string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\xfe\xed\xfa\xcf", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}

// Marks that programs with a list of their packages hold: Go's build information
// (debug/buildinfo), and the section that cargo auditable adds
// (https://github.com/rust-secure-code/cargo-auditable).
var (
	goMark   = []byte("\xff Go buildinf:")
	rustMark = []byte(".dep-v0")
)

// program looks for a list of packages in a program.
func (e *examination) program(entry *oci.Entry, head []byte) error {
	if entry.Size > largest {
		_, err := keep(entry, largest)
		return e.missed(entry, err)
	}
	entry.Content = io.MultiReader(bytes.NewReader(head), entry.Content)
	marks := &markFinder{marks: [][]byte{goMark, rustMark}, found: make([]bool, 2)}
	var c readable
	if entry.Size <= inMemory {
		b := e.scratch(entry.Size)
		if _, err := io.ReadFull(entry.Content, b); err != nil {
			return broken(err)
		}
		marks.search(b)
		c = bytes.NewReader(b)
	} else {
		s, err := spool(io.TeeReader(entry.Content, marks), entry.Size)
		if err != nil {
			return err
		}
		defer func() { _ = s.Close() }() // a temporary file
		c = s
	}
	for i, r := range []*reader{&goProgram, &rustProgram} {
		if marks.found[i] {
			e.look(*entry, c, want{reader: r, number: e.number})
			return nil
		}
	}
	return nil
}

// scratch returns room for the content of one file, until the next call.
func (e *examination) scratch(size int64) []byte {
	if int64(cap(e.room)) < size {
		e.room = make([]byte, max(size, inMemory))
	}
	return e.room[:size]
}

// markFinder is a writer that looks for marks in what passes by.
type markFinder struct {
	marks [][]byte
	found []bool
	tail  []byte // of what came before: a mark may lie across two writes
}

const maxMark = 16

func (m *markFinder) Write(p []byte) (int, error) {
	if len(m.tail) > 0 {
		m.search(append(m.tail, p[:min(len(p), maxMark)]...))
	}
	m.search(p)
	m.tail = append(m.tail[:0], p[max(len(p)-maxMark, 0):]...)
	return len(p), nil
}

func (m *markFinder) search(b []byte) {
	for i, mark := range m.marks {
		m.found[i] = m.found[i] || bytes.Contains(b, mark)
	}
}

// text reports whether a file begins like a text: without a zero byte, unless it
// says that it is UTF-16.
func text(head []byte) bool {
	return len(head) > 0 && (bytes.IndexByte(head, 0) < 0 || bytes.HasPrefix(head, []byte{0xFF, 0xFE}) ||
		bytes.HasPrefix(head, []byte{0xFE, 0xFF}))
}
