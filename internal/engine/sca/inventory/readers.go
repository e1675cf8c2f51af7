package inventory

import (
	"io/fs"
	"strings"
	"time"

	cpb "github.com/google/osv-scalibr/binary/proto/config_go_proto"
	"github.com/google/osv-scalibr/extractor"
	"github.com/google/osv-scalibr/extractor/filesystem"
	"github.com/google/osv-scalibr/extractor/filesystem/language/dotnet/csproj"
	"github.com/google/osv-scalibr/extractor/filesystem/language/dotnet/nugetcpm"
	"github.com/google/osv-scalibr/extractor/filesystem/language/dotnet/packagesconfig"
	"github.com/google/osv-scalibr/extractor/filesystem/language/dotnet/paketlock"
	"github.com/google/osv-scalibr/extractor/filesystem/language/golang/gomod"
	"github.com/google/osv-scalibr/extractor/filesystem/language/haskell/cabal"
	"github.com/google/osv-scalibr/extractor/filesystem/language/haskell/stacklock"
	"github.com/google/osv-scalibr/extractor/filesystem/language/java/gradleverificationmetadataxml"
	"github.com/google/osv-scalibr/extractor/filesystem/language/java/pomxml"
	"github.com/google/osv-scalibr/extractor/filesystem/language/julia/manifesttoml"
	"github.com/google/osv-scalibr/extractor/filesystem/language/python/pylock"
	"github.com/google/osv-scalibr/extractor/filesystem/language/python/requirements"
	"github.com/google/osv-scalibr/extractor/filesystem/language/python/setup"
	"github.com/google/osv-scalibr/extractor/filesystem/language/r/renvlock"
	"github.com/google/osv-scalibr/extractor/filesystem/language/swift/packageresolved"
	"github.com/google/osv-scalibr/extractor/filesystem/misc/githubactions"

	"merlon/internal/engine/sca/inventory/manifest"
	"merlon/internal/finding"
)

// A reader reads one format. They are chosen one by one: the library also has
// readers that reach the network or run programs, and none of those is here.
type reader struct {
	filesystem.Extractor
	make      func(*cpb.PluginConfig) (filesystem.Extractor, error)
	ecosystem string             // as OSV spells it
	scope     finding.Dependency // of its packages, when the file itself says no more
	includes  bool               // its files may include others
	partial   string             // why its packages are not all; empty when they are
	locks     []string           // beside or above one of these its files are not read
}

const (
	mavenPartial = "Maven has no lock file: the packages that its dependencies bring, and versions that a parent or an imported list outside of the tree fixes, are not known"
	nugetPartial = "without packages.lock.json the packages that its dependencies bring are not known"
	setupPartial = "without a lock file the packages that its dependencies bring are not known"
)

var readers = []reader{
	{make: gomod.New, ecosystem: "Go"},
	{make: requirements.New, ecosystem: "PyPI", scope: finding.Direct, includes: true},
	{make: pylock.New, ecosystem: "PyPI"},
	{make: setup.New, ecosystem: "PyPI", scope: finding.Direct, partial: setupPartial, locks: manifest.PythonLocks},
	{make: pomxml.New, ecosystem: "Maven", scope: finding.Direct, partial: mavenPartial},
	{make: gradleverificationmetadataxml.New, ecosystem: "Maven"},
	{make: packagesconfig.New, ecosystem: "NuGet"},
	{make: csproj.New, ecosystem: "NuGet", scope: finding.Direct, partial: nugetPartial, locks: []string{"packages.lock.json"}},
	{make: nugetcpm.New, ecosystem: "NuGet", scope: finding.Direct},
	{make: paketlock.New, ecosystem: "NuGet"},
	{make: packageresolved.New, ecosystem: "SwiftURL"},
	{make: renvlock.New, ecosystem: "CRAN"},
	{make: cabal.New, ecosystem: "Hackage"},
	{make: stacklock.New, ecosystem: "Hackage"},
	{make: manifesttoml.New, ecosystem: "Julia"},
	{make: githubactions.New, ecosystem: "GitHub Actions", scope: finding.Direct},
}

// pinned reports whether the version that a reader gives is the one that will be
// used, and not merely one that a constraint allows.
func (r reader) pinned(x *extractor.Package) bool {
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
