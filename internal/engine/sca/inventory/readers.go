package inventory

import (
	"io/fs"
	"path"
	"strings"
	"time"

	cpb "github.com/google/osv-scalibr/binary/proto/config_go_proto"
	"github.com/google/osv-scalibr/extractor"
	"github.com/google/osv-scalibr/extractor/filesystem"
	"github.com/google/osv-scalibr/extractor/filesystem/language/dotnet/packagesconfig"
	"github.com/google/osv-scalibr/extractor/filesystem/language/golang/gomod"
	"github.com/google/osv-scalibr/extractor/filesystem/language/haskell/cabal"
	"github.com/google/osv-scalibr/extractor/filesystem/language/haskell/stacklock"
	"github.com/google/osv-scalibr/extractor/filesystem/language/java/gradleverificationmetadataxml"
	"github.com/google/osv-scalibr/extractor/filesystem/language/julia/manifesttoml"
	"github.com/google/osv-scalibr/extractor/filesystem/language/python/pylock"
	"github.com/google/osv-scalibr/extractor/filesystem/language/python/requirements"
	"github.com/google/osv-scalibr/extractor/filesystem/language/python/setup"
	"github.com/google/osv-scalibr/extractor/filesystem/language/python/wheelegg"
	"github.com/google/osv-scalibr/extractor/filesystem/language/r/renvlock"

	"merlon/internal/engine/sca/inventory/manifest"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// libraryReader reads one format. They are chosen one by one: the library also has readers
// that reach the network or run programs, and none of those is here.
type libraryReader struct {
	filesystem.Extractor
	make      func(*cpb.PluginConfig) (filesystem.Extractor, error)
	ecosystem string             // as OSV spells it
	scope     finding.Dependency // of its packages, when the file itself says no more
	includes  bool               // its files may include others
	partial   string             // why its packages are not all; empty when they are
	only      func(string) bool  // of the files that it would read; nil for all
	locks     []string           // beside or above one of these its files are not read
}

const setupPartial = "without a lock file the packages that its dependencies bring are not known"

// libraryReaders are the files that the library reads for us.
var libraryReaders = []libraryReader{
	{make: gomod.New, ecosystem: "Go"},
	{make: requirements.New, ecosystem: "PyPI", scope: finding.Direct, includes: true},
	{make: pylock.New, ecosystem: "PyPI"},
	{make: wheelegg.New, ecosystem: "PyPI", only: isInstalledPython},
	{make: setup.New, ecosystem: "PyPI", scope: finding.Direct, partial: setupPartial, locks: manifest.PythonLocks},
	{make: gradleverificationmetadataxml.New, ecosystem: "Maven"},
	{make: packagesconfig.New, ecosystem: "NuGet"},
	{make: renvlock.New, ecosystem: "CRAN"},
	{make: cabal.New, ecosystem: "Hackage"},
	{make: stacklock.New, ecosystem: "Hackage"},
	{make: manifesttoml.New, ecosystem: "Julia"},
}

// wantsFile reports whether the reader wants the file.
func (r libraryReader) wantsFile(file string, api filesystem.FileAPI) bool {
	return (r.only == nil || r.only(file)) && r.FileRequired(api)
}

// isInstalledPython reports whether the file describes an installed package. An
// .egg-info elsewhere that has no version in its name is what building the project
// itself leaves behind.
func isInstalledPython(file string) bool {
	dir := path.Dir(file)
	switch base := path.Base(file); {
	case base == "METADATA":
		return strings.HasSuffix(dir, ".dist-info")
	case base == "PKG-INFO" && path.Base(dir) == "EGG-INFO":
		return true
	case base == "PKG-INFO":
		return isInstalledEgg(dir)
	}
	return isInstalledEgg(file) && !strings.HasSuffix(dir, ".egg-info")
}

// isInstalledEgg reports whether a file describes an installed package, not the project itself.
func isInstalledEgg(file string) bool {
	above := path.Base(path.Dir(file))
	return strings.HasSuffix(file, ".egg-info") && (above == "site-packages" || above == "dist-packages" ||
		versioned.MatchString(path.Base(file)))
}

// versioned matches a name that has a version after it: "six-1.16.0-py3.8.egg-info".
var versioned = lazyregexp.New(`^[A-Za-z0-9._+]+-[0-9]`)

// isPinned reports whether the version that a reader gives is the one that will be used,
// and not merely one that a constraint allows.
func (r libraryReader) isPinned(x *extractor.Package) bool {
	comparator := "=="
	switch m := x.Metadata.(type) {
	case *requirements.Metadata:
		comparator = m.VersionComparator
	case *setup.Metadata:
		comparator = m.VersionComparator
	}
	return strings.HasPrefix(comparator, "==") && !strings.ContainsAny(x.Version, "*^~<>=[]()${}, ")
}

// fileInfo is what readers ask of a file before they read it.
type fileInfo struct {
	name string
	size int64
}

func (i fileInfo) Name() string     { return i.name }
func (i fileInfo) Size() int64      { return i.size }
func (fileInfo) Mode() fs.FileMode  { return 0o444 }
func (fileInfo) ModTime() time.Time { return time.Time{} }
func (fileInfo) IsDir() bool        { return false }
func (fileInfo) Sys() any           { return nil }
