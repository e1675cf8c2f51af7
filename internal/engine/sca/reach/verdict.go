package reach

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// A Flaw is what an advisory says of where it is.
type Flaw struct {
	Symbols   []finding.Symbols // none: the advisory names none
	Functions []string          // without symbols: the last parts of names in its text
}

// FlawOf returns what an advisory says: the symbols of its record, else the functions
// that its text names.
func FlawOf(symbols []finding.Symbols, text string) Flaw {
	if len(symbols) > 0 {
		return Flaw{Symbols: symbols}
	}
	return Flaw{Functions: mentionedFunctions(text)}
}

// maxSteps bounds the evidence of a verdict.
const maxSteps = 8

// Verdict says whether the program uses the flawed code of a package.
func (p *Program) Verdict(pkg *finding.Package, flaw Flaw) *finding.Reach {
	language := ecosystems[pkg.Ecosystem]
	switch {
	case language == "":
		return unknownReach("packages of %s are not looked for in sources", pkg.Ecosystem)
	case !p.read[language]:
		return unknownReach("there are no sources of the program in the language of its packages")
	}
	names, certain, silent := p.importNames(pkg)
	uses := p.usesOf(language, pkg.Name, names)
	if language == "go" && (pkg.Name == "stdlib" || pkg.Name == "toolchain") {
		uses, silent = p.findUses(language, flaw.importPaths()), true // its dependencies use it as well
	}
	// The cases go from evidence to doubt: a use decides, and "not found" needs that nothing speaks
	// against it.
	if len(uses) > 0 {
		if others := flaw.otherPackages(language, uses); others != "" {
			return unknownReach("%s", others)
		}
		return p.judgeUses(uses, flaw)
	}
	if pkg.Scope == finding.Transitive || pkg.Scope == finding.UnknownDependency && pkg.Ecosystem != "Go" {
		return p.judgeTransitive(language, pkg)
	}
	if silent {
		return unknownReach("it can be used without an import")
	}
	if r := p.doubtNotFound(language, certain); r != nil {
		return r
	}
	if language == "php" {
		if file := p.namespaceInText(names); file != "" || len(names) == 0 {
			return unknownReach("nothing imports it, but its namespace may stand in a text")
		}
	}
	if file := p.settingNaming(pkg.Name); file != "" {
		return unknownReach("nothing imports it, but %s names it", file)
	}
	for _, name := range names {
		if file := p.modulesInText(language)[name]; file != "" {
			return unknownReach("nothing imports it, but a text in %s names it", file)
		}
	}
	return &finding.Reach{Verdict: finding.NotFound, Reason: "no source of the program imports it"}
}

// doubtNotFound returns why it does not follow from there being no import that a package is
// not used, or nil: not everything could be read, or an import may be of any package.
func (p *Program) doubtNotFound(language string, certain bool) *finding.Reach {
	switch {
	case p.unread[language] != "":
		return unknownReach("%s could not be read", p.unread[language])
	case p.dynamic[language] != "":
		return unknownReach("%s loads code by a computed name", p.dynamic[language])
	case !certain && p.unexplained[language] != "":
		return unknownReach("under which names it is imported is not known, and %s may be one", p.unexplained[language])
	}
	return nil
}

// unknownReach is the verdict that the use is not known, with its reason.
func unknownReach(format string, args ...any) *finding.Reach {
	return &finding.Reach{Verdict: finding.UnknownReach, Reason: fmt.Sprintf(format, args...)}
}

// usesOf returns the uses of what a package provides. Several advisories may ask for
// one package.
func (p *Program) usesOf(language, pkg string, names []string) []use {
	key := language + " " + pkg
	uses, ok := p.packages[key]
	if !ok {
		uses = p.findUses(language, names)
		p.packages[key] = uses
	}
	return uses
}

// findUses returns the uses of modules.
func (p *Program) findUses(language string, names []string) []use {
	var out []use
	for _, u := range p.uses[language] {
		if slices.ContainsFunc(names, func(m string) bool { return m != "" && isOfModule(language, m, u.name) }) {
			out = append(out, u)
		}
	}
	return out
}

// judgeUses says how far what is imported is used: vulnerable functions that the advisory
// names are called from code that can run, or not.
func (p *Program) judgeUses(uses []use, flaw Flaw) *finding.Reach {
	for _, u := range uses {
		if u.call && p.live[u.function.ID] && flaw.isCalled(u) {
			return &finding.Reach{Verdict: finding.Reachable, Reason: u.name + " is called", Steps: p.pathToUse(u)}
		}
	}
	r := &finding.Reach{Verdict: finding.Imported, Reason: "it is imported; the advisory names no function"}
	if flaw.namesFunctions() {
		r.Reason = "it is imported, but no call of the flawed functions was found in code that can run"
	}
	// Imports of the program itself come first: those of its tests say less.
	uses = slices.Clone(uses)
	slices.SortStableFunc(uses, func(a, b use) int { return boolRank(a.inTest()) - boolRank(b.inTest()) })
	if uses[0].inTest() {
		r.TestsOnly, r.Reason = true, "only tests import it"
	}
	for _, u := range uses {
		if !u.call && len(r.Steps) < maxSteps {
			r.Steps = append(r.Steps, finding.Step{Kind: finding.Source, Message: "imports " + u.name,
				Location: locationOf(u.function.File, u.node)})
		}
	}
	return r
}

// inTest reports whether the use is in a test.
func (u use) inTest() bool { return lang.Test(u.function.File.Tree.Path) }

// boolRank orders false before true.
func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// otherPackages says that the program imports other packages of a module of Go than the advisory
// names; empty when it imports one of these. Dependencies may import them, so it is not unused.
func (f Flaw) otherPackages(language string, uses []use) string {
	if language != "go" || len(f.Symbols) == 0 {
		return ""
	}
	for _, s := range f.Symbols {
		if s.Path == "" || slices.ContainsFunc(uses, func(u use) bool {
			rest, ok := strings.CutPrefix(u.name, s.Path)
			return ok && (rest == "" || rest[0] == '.')
		}) {
			return ""
		}
	}
	return "the program imports other packages of the module, and whether a dependency imports " + f.Symbols[0].Path +
		" is not known"
}

// judgeTransitive says of a package that nothing imports and that others brought in: it is
// used if the one that the program required is.
func (p *Program) judgeTransitive(language string, pkg *finding.Package) *finding.Reach {
	if len(pkg.Via) == 0 {
		return unknownReach("nothing imports it, and what brought it in is not known")
	}
	name, _ := cutVersion(pkg.Via[0])
	parent := finding.Package{Ecosystem: pkg.Ecosystem, Name: name}
	names, _, _ := p.importNames(&parent)
	uses := p.usesOf(language, name, names)
	if len(uses) == 0 {
		return unknownReach("nothing imports it, nor %s, which brought it in", name)
	}
	r := p.judgeUses(uses, Flaw{})
	r.Reason = name + ", which brought it in, is imported"
	return r
}

// cutVersion splits "name@version"; names of npm may begin with the sign.
func cutVersion(s string) (name, version string) {
	if i := strings.LastIndexByte(s, '@'); i > 0 {
		return s[:i], s[i+1:]
	}
	return s, ""
}

// pathToUse returns a path from code that runs by itself to the use.
func (p *Program) pathToUse(u use) []finding.Step {
	way := []*ir.Function{u.function}
	seen := map[int32]bool{u.function.ID: true}
	from := map[int32]int32{}
	queue := []int32{u.function.ID}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		if p.isEntry(p.graph.Functions[id]) {
			for at := id; at != u.function.ID; at = from[at] {
				way = append(way, p.graph.Functions[at])
			}
			break
		}
		for _, by := range p.callers[id] {
			if !seen[by] {
				seen[by] = true
				from[by] = id
				queue = append(queue, by)
			}
		}
	}
	// way is the using function, then the ones from the entry down to it.
	var steps []finding.Step
	for _, fn := range append(way[1:], way[0]) {
		if len(steps) < maxSteps-1 {
			name := fn.Qualified
			if fn.Kind == ir.TopLevel {
				name = "code of the file"
			}
			kind := finding.Intermediate
			if len(steps) == 0 {
				kind = finding.Source
			}
			steps = append(steps, finding.Step{Kind: kind, Message: name, Location: locationOf(fn.File, fn.Node)})
		}
	}
	return append(steps, finding.Step{Kind: finding.Sink, Message: "calls " + u.name,
		Location: locationOf(u.function.File, u.node)})
}

// importPaths returns the import paths that the advisory names.
func (f Flaw) importPaths() []string {
	var out []string
	for _, s := range f.Symbols {
		out = append(out, s.Path)
	}
	return out
}

// namesFunctions reports whether the advisory names functions.
func (f Flaw) namesFunctions() bool { return len(f.Symbols) > 0 || len(f.Functions) > 0 }

// isCalled reports whether the advisory names the called function.
func (f Flaw) isCalled(u use) bool {
	for _, s := range f.Symbols {
		rest, ok := strings.CutPrefix(u.name, s.Path)
		if !ok || s.Path != "" && (rest == "" || rest[0] != '.') {
			continue
		}
		rest = strings.TrimPrefix(rest, ".")
		if len(s.Names) == 0 || slices.Contains(s.Names, rest) ||
			u.loose && slices.ContainsFunc(s.Names, func(name string) bool {
				return lastPart(name) == lastPart(rest)
			}) {
			return true
		}
	}
	name := lastPart(u.name)
	if slices.Contains(f.Functions, name) {
		return true
	}
	// What a module is as a whole has the name of the module: "react-markdown".
	name = strings.TrimSuffix(path.Base(u.name), ".js")
	return strings.ContainsAny(u.name, "-/") && slices.ContainsFunc(f.Functions, func(fn string) bool {
		return strings.EqualFold(fn, strings.NewReplacer("-", "", "_", "").Replace(name))
	})
}

// lastPart is the last part of a dotted name.
func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// A function in the text of an advisory stands between backquotes or before a pair of
// parentheses.
var (
	quoted = lazyregexp.New("`([A-Za-z_$][\\w$]*(?:[.#][A-Za-z_$][\\w$]*)*)(?:\\([^`]*)?`")
	before = lazyregexp.New(`\b([A-Za-z_$][\w$]*(?:[.#][A-Za-z_$][\w$]*)*)\(`)
)

// mentionedFunctions returns the last parts of the names of functions in the text of an
// advisory. Words that are none of code ("version", a file's name) do no harm: a package
// has to have a function of the name that the program calls.
func mentionedFunctions(text string) []string {
	var out []string
	// At most 200 of each: the text of an advisory is not trusted.
	for _, pattern := range []*lazyregexp.Regexp{quoted, before} {
		for _, m := range pattern.FindAllStringSubmatch(text, 200) {
			name := m[1]
			if i := strings.LastIndexAny(name, ".#"); i >= 0 {
				name = name[i+1:]
			}
			out = append(out, name)
		}
	}
	return out
}

// A setting is a file that may name what is used without an import.
type setting struct {
	path string
	text string
}

// settingFiles are the forms of files in which tools and frameworks are told what to
// load. Manifests and lock files name everything and say nothing.
var settingFiles = []string{".json", ".yaml", ".yml", ".toml", ".xml", ".properties", ".cfg", ".ini", ".html",
	".gradle", ".sh", ".ejs", ".hbs", ".pug", ".jade", ".vue", ".svelte", ".jsp", ".erb", ".js", ".cjs", ".mjs", ".ts"}

// manifests matches files that name packages without using them.
var manifests = lazyregexp.New(`(?i)^(package(-lock)?|npm-shrinkwrap|composer|pom|poetry|pdm|uv|requirements|pyproject|setup|build|deno|bun|yarn|pnpm-lock|pnpm-workspace|libs\.versions)\b|lock|^\.?s?bom|cdx|spdx`)

const (
	maxSetting  = 256 << 10
	maxSettings = 32 << 20 // of all together, in bytes
)

// settingNaming returns a settings file that names the package, or "".
func (p *Program) settingNaming(name string) string {
	if p.settings == nil {
		p.settings = []setting{}
		total := int64(0)
		for _, f := range p.tree.Files {
			base := path.Base(f.Path)
			if !slices.Contains(settingFiles, path.Ext(base)) || f.Size > maxSetting || total+f.Size > maxSettings ||
				isInstalledFile(f.Path) || manifests.MatchString(base) {
				continue
			}
			if text, err := fs.ReadFile(p.tree.FS, f.Path); err == nil {
				total += f.Size
				p.settings = append(p.settings, setting{f.Path, string(text)})
			}
		}
	}
	short := name
	if _, artifact, ok := strings.Cut(name, ":"); ok {
		short = artifact
	}
	for _, s := range p.settings {
		for at := 0; ; {
			i := strings.Index(s.text[at:], short)
			if i < 0 {
				break
			}
			if at += i; isWholeWord(s.text, at, at+len(short)) {
				return s.path
			}
			at += len(short)
		}
	}
	return ""
}

// isInstalledFile reports whether a file is of an installed package. What is in a folder
// "vendor" may be the program's own way to one.
func isInstalledFile(file string) bool {
	return lang.ThirdParty(file) != "" && (strings.Contains("/"+file, "/node_modules/") ||
		!slices.Contains([]string{".js", ".cjs", ".mjs", ".ts"}, path.Ext(file)))
}

// moduleText matches a text that may be the name of a module, or of something in one.
var moduleText = lazyregexp.New(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)

// modulesInText returns the files that name modules in texts, by the names: frameworks
// load what their settings list ("django.contrib.auth").
func (p *Program) modulesInText(language string) map[string]string {
	if out, ok := p.texts[language]; ok {
		return out
	}
	out := map[string]string{}
	p.texts[language] = out
	if language != "python" && language != "java" {
		return out
	}
	for _, f := range p.graph.Files {
		if languageFamily(f.Lang) != language {
			continue
		}
		for i := range f.Tree.Nodes {
			n := &f.Tree.Nodes[i]
			if n.Kind != tree.String || len(n.Text) > 100 || !moduleText.MatchString(n.Text) {
				continue
			}
			// A single word is only the name of a module in a list, as in INSTALLED_APPS.
			if !strings.Contains(n.Text, ".") && !f.Tree.Is(n.Parent, tree.List) && !f.Tree.Is(n.Parent, tree.Tuple) {
				continue
			}
			for end := len(n.Text); end > 0; end = strings.LastIndexByte(n.Text[:end], '.') {
				out[n.Text[:end]] = f.Tree.Path
			}
		}
	}
	return out
}

// isWholeWord reports whether the part of the text is a word by itself.
func isWholeWord(text string, start, end int) bool {
	letter := func(i int) bool {
		if i < 0 || i >= len(text) {
			return false
		}
		c := text[i]
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
	}
	return !letter(start-1) && !letter(end)
}
