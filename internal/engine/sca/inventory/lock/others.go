package lock

import (
	"errors"
	"regexp"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/sca/inventory/manifest"
)

// readComposer reads composer.lock (https://getcomposer.org/doc/01-basic-usage.md).
func readComposer(b *builder) error {
	n, err := document.ParseJSON(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	if n.Kind != document.Map {
		return errors.New("an object was expected")
	}
	b.Marked = true
	var entries []*document.Node
	for _, section := range []string{"packages", "packages-dev"} {
		for _, e := range n.Get(section).Members() {
			name := strings.ToLower(e.TextOf("name"))
			node := Node{
				Name: e.TextOf("name"), Version: e.TextOf("version"), Line: e.Get("name").LineOr(e.Line),
				Dev:      section == "packages-dev",
				Licenses: e.Get("license").Strings(), Local: e.At("dist", "type").Text() == "path",
			}
			keys := []string{name}
			for _, other := range []string{"provide", "replace"} { // what it stands in for
				for _, p := range e.Get(other).Members() {
					// The "=" keeps such names apart: a package of exactly the name is preferred.
					// An example is "psr/log-implementation", which monolog/monolog provides.
					keys = append(keys, "="+strings.ToLower(p.Key))
				}
			}
			b.addNode(node, keys...)
			entries = append(entries, e.Node)
		}
	}
	for i, e := range entries {
		for _, d := range e.Get("require").Members() {
			// "php" and "ext-json" are no packages: no entry has the name, so no edge is made.
			b.addEdge(i, false, strings.ToLower(d.Key), "="+strings.ToLower(d.Key))
		}
	}
	project, err := document.ParseJSON(b.Read(b.siblingPath("composer.json")), document.PackageLimits)
	if err != nil {
		return nil //nolint:nilerr // without a manifest it is not known what is direct
	}
	root := b.addNode(Node{Local: true, Manifest: b.siblingPath("composer.json")})
	for _, section := range []string{"require", "require-dev"} {
		for _, d := range project.Get(section).Members() {
			if b.addEdge(root, section == "require-dev", strings.ToLower(d.Key)) {
				b.Rooted = true
			}
		}
	}
	return nil
}

// readGemfile reads Gemfile.lock (https://bundler.io/guides/rationale.html): sections, in
// them "    name (version)" and below "      name (range)".
func readGemfile(b *builder) error {
	section, from, line := "", -1, 0
	type edge struct {
		from int
		name string
	}
	var edges []edge
	var direct []string
	for raw := range strings.Lines(string(b.Content)) {
		line++
		raw = strings.TrimRight(raw, " \r\n")
		text := strings.TrimLeft(raw, " ")
		name, rest, _ := strings.Cut(text, " ")
		switch indent := len(raw) - len(text); {
		case text == "":
		case indent == 0:
			section = text
			b.Rooted = b.Rooted || section == "DEPENDENCIES"
		case section == "DEPENDENCIES" && indent == 2:
			// "name!" marks a gem that comes from a Git repository or a path.
			direct = append(direct, strings.TrimSuffix(name, "!"))
		// PLATFORMS, RUBY VERSION, BUNDLED WITH and CHECKSUMS list no packages.
		case section != "GEM" && section != "GIT" && section != "PATH" && section != "PLUGIN SOURCE":
		case indent == 4:
			version := strings.Trim(rest, "()")
			from = b.addNode(Node{Name: name, Version: gemVersion(version), Line: line, Local: section == "PATH",
				Foreign: section == "GIT"}, name)
		case indent == 6 && from >= 0:
			edges = append(edges, edge{from, name})
		}
	}
	for _, e := range edges {
		b.addEdge(e.from, false, e.name)
	}
	if b.Rooted {
		b.addGemProject(direct)
	}
	return nil
}

// addGemProject adds the project with its direct dependencies. Which of them are for
// development only is in the manifest.
func (b *builder) addGemProject(direct []string) {
	project := b.siblingPath("Gemfile")
	if strings.HasSuffix(b.Path, "gems.locked") {
		project = b.siblingPath("gems.rb")
	}
	develop := manifest.GemsInDevelopment(string(b.Read(project)))
	root := b.addNode(Node{Local: true, Manifest: project})
	for _, name := range direct {
		b.addEdge(root, develop[name], name)
	}
}

// gemVersion cuts the platform off: "1.15.4-x86_64-linux".
func gemVersion(version string) string {
	if v, _, ok := strings.Cut(version, "-"); ok {
		return v
	}
	return version
}

// readMix reads mix.lock (https://hexdocs.pm/mix/Mix.Tasks.Deps.html): one tuple a line,
// {:hex, :name, "version", "hash", [:mix], [{:dependency, …}], …}.
func readMix(b *builder) error {
	type edge struct {
		from int
		name string
	}
	var edges []edge
	line := 0
	for raw := range strings.Lines(string(b.Content)) {
		line++
		text := strings.TrimSpace(raw)
		app, tuple, ok := strings.Cut(text, ": {:")
		if !ok || !strings.HasPrefix(app, `"`) {
			continue
		}
		app = strings.Trim(app, `"`)
		// The key is the name of the application; the package on hex.pm may have another one.
		kind, rest, _ := strings.Cut(tuple, ",")
		fields := strings.SplitN(rest, ",", 3)
		switch {
		case kind == "hex" && len(fields) == 3:
			name := strings.Trim(strings.TrimSpace(fields[0]), `:"`)
			at := b.addNode(Node{Name: name, Version: strings.Trim(strings.TrimSpace(fields[1]), `"`), Line: line}, app)
			// Two lists follow the hash: the build tools and the dependencies; the second counts.
			_, deps, _ := strings.Cut(fields[2], "], [")
			for _, d := range strings.Split(deps, "{:")[1:] {
				name, _, _ := strings.Cut(d, ",")
				edges = append(edges, edge{at, name})
			}
		case kind == "git":
			b.addNode(Node{Name: app, Line: line, Foreign: true}, app)
		default:
			b.addBroken(line)
		}
	}
	for _, e := range edges {
		b.addEdge(e.from, false, e.name)
	}
	for _, project := range b.Below("mix.exs") {
		asks, err := manifest.Mix(b.Read(project))
		if err != nil || len(asks) == 0 {
			continue
		}
		root := b.addNode(Node{Local: true, Manifest: project})
		for _, d := range asks {
			if b.addEdge(root, d.Dev, d.Name) {
				b.Rooted = true
			}
		}
	}
	return nil
}

// rebarEntry matches an entry of rebar.lock.
var rebarEntry = regexp.MustCompile(`(?s)\{\s*<<"([^"]+)">>\s*,\s*\{(pkg|git|hg)\s*,\s*<?<?"([^"]*)"(?:>>\s*,\s*<<"([^"]*)")?.*?\}\s*,\s*(\d+)\s*\}`)

// readRebar reads rebar.lock (https://rebar3.org/docs/configuration/dependencies/), which
// says how deep a package is, but not which one brought it:
// {<<"name">>,{pkg,<<"package">>,<<"version">>},level}.
func readRebar(b *builder) error {
	b.Rooted = true
	root := b.addNode(Node{Local: true, Manifest: b.siblingPath("rebar.config")})
	line, offset := 1, 0
	text := string(b.Content)
	for _, m := range rebarEntry.FindAllStringSubmatchIndex(text, maxPackages) {
		line += strings.Count(text[offset:m[2]], "\n")
		offset = m[2]
		app, kind, level := text[m[2]:m[3]], text[m[4]:m[5]], text[m[10]:m[11]]
		node := Node{Name: app, Line: line, Foreign: kind != "pkg"}
		if kind == "pkg" && m[8] >= 0 {
			node.Name, node.Version = text[m[6]:m[7]], text[m[8]:m[9]]
		}
		b.addNode(node, app)
		if level == "0" {
			b.addEdge(root, false, app)
		}
	}
	return nil
}

// readGradle reads gradle.lockfile
// (https://docs.gradle.org/current/userguide/dependency_locking.html):
// group:artifact:version=configurations. It does not say which package brought which, but
// the build beside it says what is direct.
func readGradle(b *builder) error {
	b.Marked = true
	line := 0
	for raw := range strings.Lines(string(b.Content)) {
		line++
		text := strings.TrimSpace(raw)
		if text == "" || text[0] == '#' || strings.HasPrefix(text, "empty=") {
			continue
		}
		coordinates, configurations, ok := strings.Cut(text, "=")
		name, version := cutLast(coordinates, ":")
		if !ok || !strings.Contains(name, ":") {
			b.addBroken(line)
			continue
		}
		// Only a package that is in test configurations alone is for development:
		// "testRuntimeClasspath,testCompileClasspath". Without any it is not known.
		dev := configurations != ""
		for _, c := range strings.Split(configurations, ",") {
			dev = dev && (strings.HasPrefix(c, "test") || strings.Contains(c, "Test"))
		}
		b.addNode(Node{Name: name, Version: version, Line: line, Dev: dev}, name)
	}
	if b.Asks == nil {
		return nil
	}
	for _, file := range []string{"build.gradle", "build.gradle.kts"} {
		asks := b.Asks(b.siblingPath(file))
		root := b.addNode(Node{Local: true, Manifest: b.siblingPath(file)})
		for _, r := range asks {
			if b.addEdge(root, r.Dev, r.Name) {
				b.Rooted = true
			}
		}
	}
	return nil
}

// readSbt reads build.sbt.lock (https://github.com/stringbean/sbt-dependency-lock). It
// names the configurations of each package, not what brought it.
func readSbt(b *builder) error {
	n, err := document.ParseJSON(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	if n.Kind != document.Map {
		return errors.New("an object was expected")
	}
	b.Marked = true
	for _, e := range n.Get("dependencies").Members() {
		group, name := e.TextOf("org"), e.Get("name")
		if group == "" || name.Text() == "" {
			b.addBroken(e.Line)
			continue
		}
		dev := len(e.Get("configurations").Strings()) > 0
		for _, c := range e.Get("configurations").Strings() {
			dev = dev && c == "test"
		}
		b.addNode(Node{Name: group + ":" + name.Text(), Version: e.TextOf("version"), Line: name.LineOr(e.Line),
			Dev: dev},
			group+":"+name.Text())
	}
	project := b.siblingPath("build.sbt")
	asks, err := manifest.Sbt(b.Read(project))
	if err != nil {
		return err
	}
	root := b.addNode(Node{Local: true, Manifest: project})
	for _, r := range asks { // the name of a library of Scala ends in the version of the language
		if b.addEdge(root, r.Dev, r.Name, r.Name+"_3", r.Name+"_2.13", r.Name+"_2.12", r.Name+"_2.11") {
			b.Rooted = true
		}
	}
	return nil
}
