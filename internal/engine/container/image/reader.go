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

	"merlon/internal/engine/container/jar"
	"merlon/internal/engine/container/rpmdb"
	"merlon/internal/finding"
	oci "merlon/internal/image"
)

// This file reads installed packages. The readers of osv-scalibr are used one by
// one, each on the content of one file; none of them gets a file system.

// packageReader reads one form of installed packages.
type packageReader struct {
	match     func(name string) bool
	ecosystem string // as OSV spells it; empty for those of an operating system
	system    string // kind of an operating system's packages: deb, apk or rpm
	large     bool   // its files may be large
	keepText  bool   // the file itself is wanted at the end
	make      func(*cpb.PluginConfig) (filesystem.Extractor, error)
	extractor filesystem.Extractor
	// of ours, in place of an extractor
	parse    func(ctx context.Context, path string, b []byte) ([]imagePackage, error)
	database func(ctx context.Context, e oci.Entry, c contentReader) ([]imagePackage, error)
}

// packageReaders are tried in order; the first that matches the name reads the file.
// Programs are found by their content, not here.
var packageReaders = []packageReader{
	// To add a reader, put it before any whose match includes its names.
	{match: isReleaseFile, keepText: true},
	{match: isDpkgStatus, system: "deb", large: true, make: dpkg.New},
	{match: hasName("lib/apk/db/installed", "var/lib/apk/db/installed", "usr/lib/apk/db/installed"), system: "apk",
		large: true, make: apk.New},
	{match: isRPMDatabase, system: "rpm", large: true, database: installedRPMs},
	{match: hasBaseName("package.json"), ecosystem: "npm", make: packagejson.New},
	{match: isPythonMetadata, ecosystem: "PyPI", make: wheelegg.New},
	{match: jar.IsArchive, ecosystem: "Maven", large: true, database: readJavaArchive},
	{match: isInstalledGem, ecosystem: "RubyGems", make: gemspec.New},
	{match: hasBaseName("installed.json"), ecosystem: "Packagist", parse: readComposer},
	{match: hasSuffix(".deps.json"), parse: readListed},
	{match: hasSuffix(".egg"), ecosystem: "PyPI", large: true, make: wheelegg.New},
	{match: isBitnamiSBOM, parse: readBitnamiSBOM},
	{match: isInstalledR, parse: readPackageOfR},
	{match: isLockFile, parse: readLockFile},
}

// Readers of programs.
var (
	goProgram   = packageReader{ecosystem: "Go", make: gobinary.New}
	rustProgram = packageReader{ecosystem: "crates.io", make: cargoauditable.New}
)

// makeReaders makes the readers once per process.
var makeReaders = sync.OnceValues(func() ([]packageReader, error) {
	scalibrlog.SetLogger(silentLogger{})
	out := slices.Clone(packageReaders)
	for _, r := range []*packageReader{&goProgram, &rustProgram} {
		if err := r.makeExtractor(); err != nil {
			return nil, err
		}
	}
	for i := range out {
		if err := out[i].makeExtractor(); err != nil {
			return nil, err
		}
	}
	return out, nil
})

// makeExtractor makes the extractor of the library.
func (r *packageReader) makeExtractor() error {
	if r.make == nil {
		return nil
	}
	x, err := r.make(&cpb.PluginConfig{})
	if err != nil {
		return fmt.Errorf("prepare to read packages: %w", err)
	}
	r.extractor = x
	return nil
}

// readerFor returns the reader for the file with the name, or nil.
func (e *examination) readerFor(name string) *packageReader {
	for i := range e.readers {
		if e.readers[i].match(name) {
			return &e.readers[i]
		}
	}
	return nil
}

// hasName matches paths by list.
func hasName(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

// hasBaseName matches a file name in any folder.
func hasBaseName(file string) func(string) bool {
	return func(name string) bool { return strings.HasSuffix(name, file) && path.Base(name) == file }
}

// hasSuffix matches the end of a path.
func hasSuffix(end string) func(string) bool {
	return func(name string) bool { return strings.HasSuffix(name, end) }
}

// isDpkgStatus reports whether the file lists packages of dpkg; distroless images have a
// file for each in place of the one.
func isDpkgStatus(name string) bool {
	return name == "var/lib/dpkg/status" || strings.HasPrefix(name, "var/lib/dpkg/status.d/") &&
		!strings.HasSuffix(name, ".md5sums")
}

// isRPMDatabase reports whether the file is the database of rpm.
func isRPMDatabase(name string) bool {
	dir, file := path.Split(name)
	return (file == "rpmdb.sqlite" || file == "Packages.db" || file == "Packages") &&
		(dir == "var/lib/rpm/" || dir == "usr/lib/sysimage/rpm/" || dir == "usr/share/rpm/")
}

// isPythonMetadata reports whether the file describes an installed distribution.
func isPythonMetadata(name string) bool {
	return strings.HasSuffix(name, ".dist-info/METADATA") || strings.HasSuffix(name, ".egg-info/PKG-INFO") ||
		strings.HasSuffix(name, "/EGG-INFO/PKG-INFO") || strings.HasSuffix(name, ".egg-info")
}

// isInstalledGem reports whether the file is the specification that installing a gem
// writes; those in source trees are programs with any content.
func isInstalledGem(name string) bool {
	return strings.HasSuffix(name, ".gemspec") && strings.Contains(name, "/specifications/")
}

// imagePackage is a package of an image.
type imagePackage struct {
	finding.Package
	system string // deb, apk or rpm; empty for a package of a language
	arch   string
	locked bool // a lock file names it
}

// packageKey distinguishes the packages of one file.
func (i imagePackage) packageKey() string { return i.Name + "\x00" + i.Version + "\x00" + i.arch }

// readPackages returns the packages of the content, sorted by their keys, or its text.
func (r *packageReader) readPackages(ctx context.Context, e oci.Entry,
	c contentReader) ([]imagePackage, string, error) {
	var items []imagePackage
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
		items, err = r.database(ctx, e, c)
	default:
		items, err = r.runExtractor(ctx, e, c)
	}
	for i := range items {
		items[i].Path, items[i].system = e.Path, r.system
		if r.ecosystem != "" {
			items[i].Ecosystem = r.ecosystem
		}
	}
	slices.SortFunc(items, func(a, b imagePackage) int { return strings.Compare(a.packageKey(), b.packageKey()) })
	return slices.CompactFunc(items, func(a, b imagePackage) bool { return a.packageKey() == b.packageKey() }), "", err
}

// runExtractor runs an extractor of the library, which may crash on what it does not
// expect: that is an error of the file.
func (r *packageReader) runExtractor(ctx context.Context, e oci.Entry,
	c contentReader) (items []imagePackage, err error) {
	defer func() {
		if v := recover(); v != nil {
			items, err = nil, fmt.Errorf("the reader of %s crashed (%T)", r.extractor.Name(), v)
		}
	}()
	found, err := r.extractor.Extract(ctx, &filesystem.ScanInput{
		// Readers may open other files by name: an empty file system gives them none.
		FS: emptyFS{}, Path: e.Path, Reader: c, Info: fileInfo{name: path.Base(e.Path), size: e.Size, mode: e.Mode}})
	for _, x := range found.Packages {
		if it, ok := r.toPackage(x); ok {
			items = append(items, it)
		}
	}
	return items, err
}

// toPackage makes a package of ours of one of the library.
func (r *packageReader) toPackage(x *extractor.Package) (imagePackage, bool) {
	it := imagePackage{Package: finding.Package{Name: x.Name, Version: x.Version, Licenses: x.Licenses}}
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
		// Advisories of the Go vulnerability database call the standard library "stdlib".
		if it.Name == "go" {
			it.Name = "stdlib"
		}
		// The main module of a program that was built from a working copy.
		if it.Version == "(devel)" {
			it.Version = ""
		}
	}
	it.Licenses = slices.DeleteFunc(slices.Clone(it.Licenses), func(s string) bool { return s == "" })
	if len(it.Licenses) == 0 {
		it.Licenses = nil
	}
	return it, it.Name != "" && it.Name != "unknown" && it.Version != "unknown"
}

// packageURL returns the purl of a package of a language, and of an operating
// system with the namespace and the release of its distribution.
func (i imagePackage) packageURL(d distribution) string {
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
		// The purl specification of rpm has the epoch as a qualifier.
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

// purlTypes are the types of package URLs of the ecosystems.
var purlTypes = map[string]string{
	"npm": purl.TypeNPM, "PyPI": purl.TypePyPi, "Go": purl.TypeGolang, "crates.io": purl.TypeCargo,
	"RubyGems": purl.TypeGem, "Packagist": purl.TypeComposer, "NuGet": purl.TypeNuget,
	"Bitnami": "bitnami", "CRAN": purl.TypeCran,
}

// readComposer reads vendor/composer/installed.json, of which there are two forms: a list,
// and since version 2 an object with the list.
func readComposer(_ context.Context, _ string, b []byte) ([]imagePackage, error) {
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
	var out []imagePackage
	for _, p := range list {
		if vendor, name, ok := strings.Cut(p.Name, "/"); ok && vendor != "" && name != "" && p.Version != "" {
			out = append(out, imagePackage{Package: finding.Package{Name: p.Name, Version: p.Version,
				Licenses: p.License}})
		}
	}
	return out, nil
}

// readJavaArchive reads a jar and the jars within it.
func readJavaArchive(ctx context.Context, e oci.Entry, c contentReader) ([]imagePackage, error) {
	packages, err := jar.Read(ctx, e.Path, c, e.Size, maxContent)
	var out []imagePackage
	for _, p := range packages {
		if strings.Count(p.Name, ":") == 1 { // a manifest can say anything
			out = append(out, imagePackage{Package: finding.Package{Name: p.Name, Version: p.Version}})
		}
	}
	return out, err
}

// installedRPMs reads a database of rpm.
func installedRPMs(ctx context.Context, e oci.Entry, c contentReader) ([]imagePackage, error) {
	packages, err := rpmdb.Read(ctx, c, e.Size)
	var out []imagePackage
	for _, p := range packages {
		it := imagePackage{Package: finding.Package{Name: p.Name, Version: p.Version + "-" + p.Release}, arch: p.Arch}
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

// emptyFS is a file system without files: a reader gets the one file only.
type emptyFS struct{}

// Open finds no file.
func (emptyFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadDir finds nothing.
func (e emptyFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
}

// Stat finds nothing.
func (e emptyFS) Stat(name string) (fs.FileInfo, error) {
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

// silentLogger drops what the library logs: what matters comes back as an error.
type silentLogger struct{}

func (silentLogger) Errorf(string, ...any) {}
func (silentLogger) Error(...any)          {}
func (silentLogger) Warnf(string, ...any)  {}
func (silentLogger) Warn(...any)           {}
func (silentLogger) Infof(string, ...any)  {}
func (silentLogger) Info(...any)           {}
func (silentLogger) Debugf(string, ...any) {}
func (silentLogger) Debug(...any)          {}

// minProgram is the size below which nothing is a program.
// The header of ELF for 64 bits alone has 64 bytes.
const minProgram = 64

// isProgram reports whether a file begins like a program: ELF, Windows, macOS.
func isProgram(head []byte) bool {
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

// readProgram looks for a list of packages in a program.
func (e *examination) readProgram(entry *oci.Entry, head []byte) error {
	if entry.Size > maxContent {
		_, err := readContent(entry, maxContent)
		return e.reportMissed(entry, err)
	}
	entry.Content = io.MultiReader(bytes.NewReader(head), entry.Content)
	// Most programs have no list of packages: they are searched for a mark, and not parsed.
	marks := &markFinder{marks: [][]byte{goMark, rustMark}, found: make([]bool, 2)}
	var c contentReader
	if entry.Size <= maxInMemory {
		b := e.scratchBuffer(entry.Size)
		if _, err := io.ReadFull(entry.Content, b); err != nil {
			return layerError(err)
		}
		marks.findMarks(b)
		c = bytes.NewReader(b)
	} else {
		s, err := spoolContent(io.TeeReader(entry.Content, marks), entry.Size)
		if err != nil {
			return err
		}
		defer func() { _ = s.Close() }() // a temporary file
		c = s
	}
	for i, r := range []*packageReader{&goProgram, &rustProgram} {
		if marks.found[i] {
			e.analyzeContent(*entry, c, wanted{reader: r, number: e.number})
			return nil
		}
	}
	return nil
}

// scratchBuffer returns room for the content of one file, until the next call.
func (e *examination) scratchBuffer(size int64) []byte {
	if int64(cap(e.room)) < size {
		e.room = make([]byte, max(size, maxInMemory))
	}
	return e.room[:size]
}

// markFinder is a writer that looks for marks in what passes by.
type markFinder struct {
	marks [][]byte
	found []bool
	tail  []byte // of what came before: a mark may lie across two writes
}

// maxMark is at least the length of the longest mark: so many bytes of the last write are kept.
const maxMark = 16

// Write looks for the marks in the next part, and across its begin.
func (m *markFinder) Write(p []byte) (int, error) {
	if len(m.tail) > 0 {
		m.findMarks(append(m.tail, p[:min(len(p), maxMark)]...))
	}
	m.findMarks(p)
	m.tail = append(m.tail[:0], p[max(len(p)-maxMark, 0):]...)
	return len(p), nil
}

// findMarks notes which of the marks the bytes have.
func (m *markFinder) findMarks(b []byte) {
	for i, mark := range m.marks {
		m.found[i] = m.found[i] || bytes.Contains(b, mark)
	}
}

// isText reports whether a file begins like a text: without a zero byte, unless it
// says that it is UTF-16.
func isText(head []byte) bool {
	return len(head) > 0 && (bytes.IndexByte(head, 0) < 0 || bytes.HasPrefix(head, []byte{0xFF, 0xFE}) ||
		bytes.HasPrefix(head, []byte{0xFE, 0xFF}))
}
