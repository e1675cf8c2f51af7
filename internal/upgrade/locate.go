package upgrade

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file finds where a manifest asks for the version of a package. The place has to
// be beyond doubt: a package that is named twice is taken at the place nearest to where
// the inventory saw it, and a version that stands alone must be the package's.

// Limits of a manifest, of one of its lines, and of how far up variables are looked for.
const (
	// Bytes of a file; manifests that people write are far smaller.
	maxManifest = 2 << 20
	// Bytes of a line: a longer one is minified or generated, and cannot be shown as a change.
	maxLine = 400
	// Folders from the manifest upwards; each costs a read for each name in above.
	maxFolders = 12
)

// A Reader returns the text of a file of the tree; false when there is none, or when it
// is too large.
type Reader func(path string) (string, bool)

// A pattern finds a requirement. Of the groups v is the requirement, ref the name of a
// variable that holds it.
// syntax is how the requirement at v is written, see raiseRequirement.
type pattern struct {
	text   string // NAME, GROUP, ARTIFACT and REF stand for what is looked for
	syntax string
}

// A kind is a sort of manifest.
// To add a manifest: a row in kinds, with patterns that match one dependency with its version.
// The first kind whose names match and that finds the package is taken.
type kind struct {
	names     []string // patterns of path.Match for the base name
	ecosystem string
	patterns  []pattern
	// above lists files of the same folder and those above it that may hold the version,
	// or the variable, when the manifest itself does not.
	above []string
	// variables finds the value of a variable.
	variables []pattern
}

// kinds lists the manifests that can be changed.
// Patterns stay on one line of the manifest where its format allows it, so that they cannot reach
// from one dependency to the next.
var kinds = []kind{
	{names: []string{"package.json"}, ecosystem: "npm",
		patterns: []pattern{{`"NAME"\s*:\s*"(?P<v>[^"\n]*)"`, caretSyntax}}},
	{names: []string{"composer.json"}, ecosystem: "Packagist",
		patterns: []pattern{{`"NAME"\s*:\s*"(?P<v>[^"\n]*)"`, caretSyntax}}},
	{names: []string{"go.mod"}, ecosystem: "Go",
		patterns: []pattern{{`(?m)^[ \t]*(?:require[ \t]+)?NAME[ \t]+(?P<v>v[^\s/]+)`, exactSyntax}}},
	{names: []string{"*requirements*.txt", "*requirements*.in", "constraints*.txt"}, ecosystem: "PyPI",
		patterns: []pattern{
			{`(?m)^[ \t]*NAME[ \t]*(?:\[[^\]\n]*\])?[ \t]*(?P<v>[=~!<>][^#;\\\n]*[^#;\\\s])[ \t]*(?:[;#][^\n]*)?\r?$`,
				pepSyntax}}},
	{names: []string{"Pipfile"}, ecosystem: "PyPI", patterns: []pattern{
		{`(?m)^[ \t]*"?NAME"?[ \t]*=[ \t]*"(?P<v>[=~!<>][^"\n]*)"`, pepSyntax},
		{`(?m)^[ \t]*"?NAME"?[ \t]*=[ \t]*\{[^}\n]*\bversion[ \t]*=[ \t]*"(?P<v>[=~!<>][^"\n]*)"`, pepSyntax}}},
	{names: []string{"pyproject.toml", "setup.cfg", "setup.py"}, ecosystem: "PyPI", patterns: []pattern{
		{`(?m)^[ \t]*"?NAME"?[ \t]*=[ \t]*"(?P<v>[=~!<>^0-9][^"\n]*)"`, caretSyntax},
		{`(?m)^[ \t]*"?NAME"?[ \t]*=[ \t]*\{[^}\n]*\bversion[ \t]*=[ \t]*"(?P<v>[^"\n]*)"`, caretSyntax},
		{`(?m)^\[[^\]\n]*\.NAME\][ \t]*\n(?:[^\[\n][^\n]*\n|\n)*?[ \t]*version[ \t]*=[ \t]*"(?P<v>[^"\n]*)"`,
			caretSyntax},
		{`["']NAME[ \t]*(?:\[[^\]\n]*\])?[ \t]*\(?(?P<v>[=~!<>][^"';)\n]*)`, pepSyntax},
		{`(?m)^[ \t]+NAME[ \t]*(?:\[[^\]\n]*\])?[ \t]*(?P<v>[=~!<>][^#;\n]*[^#;\s])`, pepSyntax}}},
	{names: []string{"Cargo.toml"}, ecosystem: "crates.io", above: []string{"Cargo.toml"}, patterns: []pattern{
		{`(?m)^[ \t]*"?NAME"?[ \t]*=[ \t]*"(?P<v>[^"\n]*)"`, caretSyntax},
		{`(?m)^[ \t]*"?NAME"?[ \t]*=[ \t]*\{[^}\n]*\bversion[ \t]*=[ \t]*"(?P<v>[^"\n]*)"`, caretSyntax},
		{`\{[^}\n]*\bpackage[ \t]*=[ \t]*"NAME"[^}\n]*\bversion[ \t]*=[ \t]*"(?P<v>[^"\n]*)"`, caretSyntax},
		{`\{[^}\n]*\bversion[ \t]*=[ \t]*"(?P<v>[^"\n]*)"[^}\n]*\bpackage[ \t]*=[ \t]*"NAME"`, caretSyntax},
		{`(?m)^\[[^\]\n]*\.NAME\][ \t]*\n(?:[^\[\n][^\n]*\n|\n)*?[ \t]*version[ \t]*=[ \t]*"(?P<v>[^"\n]*)"`,
			caretSyntax}}},
	{names: []string{"Gemfile", "gems.rb", "*.gemspec"}, ecosystem: "RubyGems", patterns: []pattern{
		{`(?m)^[ \t]*gem[ \t]*\(?[ \t]*["']NAME["'][ \t]*,[ \t]*["'](?P<v>[^"'\n]*)["']`, twiddle},
		{`\badd_(?:runtime_|development_)?dependency[ \t]*\(?[ \t]*["']NAME["'][ \t]*,[ \t]*["'](?P<v>[^"'\n]*)["']`,
			twiddle}}},
	{names: []string{"mix.exs"}, ecosystem: "Hex",
		patterns: []pattern{{`\{[ \t]*:NAME[ \t]*,[ \t]*"(?P<v>[^"\n]*)"`, twiddle}}},
	{names: []string{"pubspec.yaml"}, ecosystem: "Pub", patterns: []pattern{
		{`(?m)^[ \t]+NAME:[ \t]*["']?(?P<v>[\^~<>=0-9][^"'#\n]*[^"'#\s])`, caretSyntax},
		{`(?m)^[ \t]+NAME:[ \t]*\n(?:[ \t]+[^\n]*\n)*?[ \t]+version:[ \t]*["']?(?P<v>[\^~<>=0-9][^"'#\n]*[^"'#\s])`,
			caretSyntax}}},
	mavenKind, gradleKind, dotnetKind,
}

// mavenKind is the POM. An element of a dependency has no other element of its name
// inside, but for exclusions, which come behind the version or have none.
var mavenKind = kind{names: []string{"pom.xml"}, ecosystem: "Maven", above: []string{"pom.xml"},
	patterns: []pattern{
		{`<groupId>\s*GROUP\s*</groupId>\s*<artifactId>\s*ARTIFACT\s*</artifactId>\s*<version>\s*(?:(?P<v>[^<$\s]+)|\$\{(?P<ref>[^}<\s]+)\})\s*</version>`, exactSyntax},
		{`<artifactId>\s*ARTIFACT\s*</artifactId>\s*<groupId>\s*GROUP\s*</groupId>\s*<version>\s*(?:(?P<v>[^<$\s]+)|\$\{(?P<ref>[^}<\s]+)\})\s*</version>`, exactSyntax},
		{`<groupId>\s*GROUP\s*</groupId>\s*<artifactId>\s*ARTIFACT\s*</artifactId>(?:\s*<(?:type|classifier|scope|optional)>[^<]*</[a-z]+>)+\s*<version>\s*(?:(?P<v>[^<$\s]+)|\$\{(?P<ref>[^}<\s]+)\})\s*</version>`, exactSyntax},
	},
	variables: []pattern{{`<REF>\s*(?:(?P<v>[^<$\s]+)|\$\{(?P<ref>[^}<\s]+)\})\s*</REF>`, exactSyntax}},
}

// gradleKind is the build file, with the catalog and the files that hold variables.
var gradleKind = kind{names: []string{"*.gradle", "*.gradle.kts", "*.versions.toml"}, ecosystem: "Maven",
	above: []string{"build.gradle", "build.gradle.kts", "gradle.properties", "gradle/libs.versions.toml",
		"gradle/versions.gradle", "gradle/dependencies.gradle",
		"versions.gradle", "dependencies.gradle", "settings.gradle", "settings.gradle.kts"},
	patterns: []pattern{
		{`["']GROUP:ARTIFACT:(?:(?P<v>[^"':@$\n]+)|\$\{?(?P<ref>[A-Za-z_][\w.]*)\}?)[:@"']`, exactSyntax},
		{`\bgroup[ \t]*[:=][ \t]*["']GROUP["'][ \t]*,[ \t]*name[ \t]*[:=][ \t]*["']ARTIFACT["'][ \t]*,[ \t]*version[ \t]*[:=][ \t]*["'](?P<v>[^"'$\n]+)["']`, exactSyntax},
		{`\bgroup[ \t]*[:=][ \t]*["']GROUP["'][ \t]*,[ \t]*name[ \t]*[:=][ \t]*["']ARTIFACT["'][ \t]*,[ \t]*version[ \t]*[:=][ \t]*["']?\$?\{?(?P<ref>[A-Za-z_][\w.]*)`, exactSyntax},
		{`\bmodule[ \t]*=[ \t]*"GROUP:ARTIFACT"[ \t]*,[^}\n]*\bversion[ \t]*=[ \t]*"(?P<v>[^"\n]+)"`, exactSyntax},
		{`\bmodule[ \t]*=[ \t]*"GROUP:ARTIFACT"[ \t]*,[^}\n]*\bversion\.ref[ \t]*=[ \t]*"(?P<ref>[^"\n]+)"`,
			exactSyntax},
		{`\bgroup[ \t]*=[ \t]*"GROUP"[ \t]*,[ \t]*name[ \t]*=[ \t]*"ARTIFACT"[ \t]*,[^}\n]*\bversion\.ref[ \t]*=[ \t]*"(?P<ref>[^"\n]+)"`, exactSyntax},
	},
	variables: []pattern{
		{`(?m)(?:^|[\s.(,\[])["']?REF["']?[ \t]*(?:=|:)[ \t]*["'](?P<v>[^"'$\n]+)["']`, exactSyntax},
		{`\bextra\[[ \t]*"REF"[ \t]*\][ \t]*=[ \t]*"(?P<v>[^"$\n]+)"`, exactSyntax},
		{`\bset\([ \t]*["']REF["'][ \t]*,[ \t]*["'](?P<v>[^"'$\n]+)["']`, exactSyntax},
		{`\bREF[ \t]+by[ \t]+extra\([ \t]*"(?P<v>[^"$\n]+)"`, exactSyntax},
		{`(?m)^[ \t]*REF[ \t]*=[ \t]*(?P<v>[0-9][\w.+-]*)[ \t]*\r?$`, exactSyntax},
	},
}

// dotnetKind are projects, and the lists that their folders share.
var dotnetKind = kind{names: []string{"*.csproj", "*.vbproj", "*.fsproj", "*.props", "*.targets", "packages.config"},
	ecosystem: "NuGet",
	above: []string{"Directory.Packages.props", "Packages.props", "Directory.Build.props",
		"Directory.Build.targets"},
	patterns: []pattern{
		{`(?i)<(?:PackageReference|PackageVersion|GlobalPackageReference)\b[^>]*\b(?:Include|Update)[ \t]*=[ \t]*"NAME"[^>]*?\bVersion[ \t]*=[ \t]*"(?:(?P<v>[^"$\n]+)|\$\((?P<ref>[\w.]+)\))"`, exactSyntax},
		{`(?i)<(?:PackageReference|PackageVersion)\b[^>]*?\bVersion[ \t]*=[ \t]*"(?:(?P<v>[^"$\n]+)|\$\((?P<ref>[\w.]+)\))"[^>]*\b(?:Include|Update)[ \t]*=[ \t]*"NAME"`, exactSyntax},
		{`(?i)<(?:PackageReference|PackageVersion)\b[^>]*\b(?:Include|Update)[ \t]*=[ \t]*"NAME"[^>]*>\s*<Version>\s*(?:(?P<v>[^<$\s]+)|\$\((?P<ref>[\w.]+)\))\s*</Version>`, exactSyntax},
		{`(?i)<package\b[^>]*\bid[ \t]*=[ \t]*"NAME"[^>]*?\bversion[ \t]*=[ \t]*"(?P<v>[^"$\n]+)"`, exactSyntax},
	},
	variables: []pattern{{`(?i)<REF(?:\s[^>]*)?>\s*(?:(?P<v>[^<$\s]+)|\$\((?P<ref>[\w.]+)\))\s*</REF>`, exactSyntax}},
}

// Locate returns where the project asks for the package, or nil when that is not known
// or cannot be changed.
func Locate(read Reader, p *finding.Package) *finding.Requirement {
	// The place where the inventory has seen the package comes first; beside a lock file it is
	// the manifest that belongs to it.
	places := []finding.PackageLocation{{Path: p.Path, Line: p.Line}}
	if p.Manifest != nil {
		places = append(places, *p.Manifest)
	}
	for _, at := range places {
		for i := range kinds {
			// A name such as "*.props" may belong to several ecosystems.
			if k := &kinds[i]; k.ecosystem == p.Ecosystem && k.coversFile(at.Path) {
				s := search{read: read, kind: k, pkg: p, exact: at.Path == p.Path}
				if d := s.findRequirement(at); d != nil {
					return d
				}
			}
		}
	}
	return nil
}

// coversFile reports whether the file is a manifest of the kind.
func (k *kind) coversFile(file string) bool {
	return slices.ContainsFunc(k.names, func(name string) bool {
		ok, err := path.Match(name, path.Base(file))
		return ok && err == nil
	})
}

// A search looks for one package.
type search struct {
	read  Reader
	kind  *kind
	pkg   *finding.Package
	exact bool // the place is the package's own, not that of a manifest beside the lock file
}

// findRequirement looks for the package in the manifest, and then above it.
func (s *search) findRequirement(at finding.PackageLocation) *finding.Requirement {
	// A file that has the package but cannot be changed ends the search: a parent file is not in
	// force then.
	d, missed := s.findInFile(s.kind.patterns, s.patternNames(), at)
	if d != nil || !missed {
		return d
	}
	for _, file := range s.parentFiles(at.Path) {
		if d, missed := s.findInFile(s.kind.patterns, s.patternNames(),
			finding.PackageLocation{Path: file}); d != nil || !missed {
			return d
		}
	}
	return nil
}

// patternNames returns what stands for the package in patterns.
func (s *search) patternNames() map[string]string {
	// Names come from the scanned code and must not be read as expressions.
	name := regexp.QuoteMeta(s.pkg.Name)
	if s.pkg.Ecosystem == "PyPI" { // https://peps.python.org/pep-0503/#normalized-names
		name = "(?i:" + separators.ReplaceAllString(s.pkg.Name, "[-_.]+") + ")"
		if !pythonName.MatchString(s.pkg.Name) {
			name = regexp.QuoteMeta(s.pkg.Name)
		}
	}
	// "group:artifact" of Maven; artifact is empty in other ecosystems, whose patterns do not use
	// it.
	group, artifact, _ := strings.Cut(s.pkg.Name, ":")
	return map[string]string{"NAME": name, "GROUP": regexp.QuoteMeta(group), "ARTIFACT": regexp.QuoteMeta(artifact)}
}

var (
	// separators are the characters that names of Python packages treat as equal (PEP 503).
	separators = lazyregexp.New(`[-_.]+`)
	// pythonName matches a valid name of a Python package (PEP 508).
	pythonName = lazyregexp.New(`^[A-Za-z0-9._-]+$`)
)

// parentFiles lists the files above a manifest that may say more, the nearest first.
func (s *search) parentFiles(file string) []string {
	var out []string
	dir := path.Dir(file)
	for range maxFolders {
		for _, name := range s.kind.above {
			if other := path.Join(dir, name); other != file {
				out = append(out, other)
			}
		}
		if dir == "." {
			break
		}
		dir = path.Dir(dir)
	}
	return out
}

// findInFile looks for a requirement in a file; missed says that the file has none.
func (s *search) findInFile(patterns []pattern, names map[string]string,
	at finding.PackageLocation) (d *finding.Requirement, missed bool) {
	text, ok := s.read(at.Path)
	if !ok || len(text) > maxManifest {
		return nil, true
	}
	from, to, syntax, ref := nearestMatch(patterns, names, text, at.Line)
	switch {
	case from < 0 && ref == "":
		return nil, true
	// The version is in a variable, which may be defined in another file.
	case ref != "":
		return s.findVariable(ref, at.Path, 0), false
	}
	d = newRequirement(at.Path, text, from, to, syntax)
	if d != nil && !s.isPlausible(d) {
		d = nil
	}
	return d, false
}

// nearestMatch returns where the requirement stands that is nearest to the line, or the name
// of the variable that holds it.
func nearestMatch(patterns []pattern, names map[string]string, text string,
	line int) (from, to int, syntax, ref string) {
	// best is the distance in lines of the best match so far.
	from, best := -1, 0
	for _, p := range patterns {
		re, err := regexp.Compile(fillPattern(p.text, names))
		if err != nil {
			continue // a name too long for an expression
		}
		// 50 matches are enough to find the nearest one; more would be generated text.
		for _, m := range re.FindAllStringSubmatchIndex(text, 50) {
			// The line of the match, from 1, minus the wanted one.
			distance := 1 + strings.Count(text[:m[0]], "\n") - line
			if distance = max(distance, -distance); (from >= 0 || ref != "") && distance >= best {
				continue
			}
			for i, group := range re.SubexpNames() {
				if m[2*i] < 0 || group == "" {
					continue
				}
				best = distance
				if from, to, syntax, ref = m[2*i], m[2*i+1], p.syntax, ""; group == "ref" {
					from, ref = -1, text[m[2*i]:m[2*i+1]]
				}
			}
		}
	}
	return from, to, syntax, ref
}

// fillPattern puts names into a pattern.
func fillPattern(text string, names map[string]string) string {
	for _, word := range []string{"NAME", "GROUP", "ARTIFACT", "REF"} {
		if name, ok := names[word]; ok {
			text = placeholder[word].ReplaceAllLiteralString(text, name)
		}
	}
	return text
}

// placeholder finds the words that names stand for.
var placeholder = map[string]*lazyregexp.Regexp{
	"NAME": lazyregexp.New(`\bNAME\b`), "GROUP": lazyregexp.New(`\bGROUP\b`),
	"ARTIFACT": lazyregexp.New(`\bARTIFACT\b`), "REF": lazyregexp.New(`\bREF\b`),
}

// maxDepth bounds variables that name variables.
// A variable that names itself over another one would never end.
const maxDepth = 4

// findVariable looks for the value of a variable in the file and above it.
func (s *search) findVariable(ref, file string, depth int) *finding.Requirement {
	if depth == maxDepth || s.kind.variables == nil {
		return nil
	}
	if s.kind.ecosystem == "Maven" && s.kind.above[0] != "pom.xml" { // rootProject.ext.version
		ref = ref[strings.LastIndexByte(ref, '.')+1:]
	}
	names := map[string]string{"REF": regexp.QuoteMeta(ref)}
	for _, place := range append([]string{file}, s.parentFiles(file)...) {
		text, ok := s.read(place)
		if !ok || len(text) > maxManifest {
			continue
		}
		// Variables have no known line, hence 0: the first definition wins.
		from, to, syntax, next := nearestMatch(s.kind.variables, names, text, 0)
		if next != "" && next != ref {
			return s.findVariable(next, place, depth+1)
		}
		if from < 0 {
			continue
		}
		if d := newRequirement(place, text, from, to, syntax); d != nil && s.isPlausible(d) {
			return d
		}
		return nil
	}
	return nil
}

// newRequirement describes a place in a file.
func newRequirement(file, text string, from, to int, syntax string) *finding.Requirement {
	begin := strings.LastIndexByte(text[:from], '\n') + 1
	end := len(text)
	if n := strings.IndexByte(text[begin:], '\n'); n >= 0 {
		end = begin + n
	}
	line := strings.TrimSuffix(text[begin:end], "\r")
	// The match has to end within its line, and the line has to be text that an editor can show.
	if len(line) > maxLine || to-begin > len(line) || !utf8.ValidString(line) || strings.IndexByte(line, 0) >= 0 {
		return nil
	}
	return &finding.Requirement{Path: file, Line: 1 + strings.Count(text[:from], "\n"), Text: line, Start: from - begin,
		End: to - begin, Syntax: syntax}
}

// isPlausible reports whether the place can be the one that brought the package: it can be
// changed, and a version that stands alone is the package's.
func (s *search) isPlausible(d *finding.Requirement) bool {
	text := d.Text[d.Start:d.End]
	// Any version will do: only the form of the requirement is checked.
	if _, ok := raiseRequirement(d.Syntax, text, "0"); !ok {
		return false
	}
	// A single version that differs from the installed one belongs to something else, such as
	// another module with the same artifact.
	if d.Syntax == exactSyntax && !strings.ContainsAny(text, "[(*+,") {
		n, ok := compareVersions(s.pkg.Ecosystem, strings.TrimPrefix(text, "v"), strings.TrimPrefix(s.pkg.Version, "v"))
		return ok && n == 0
	}
	return true
}
