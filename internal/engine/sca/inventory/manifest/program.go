package manifest

import (
	"bytes"
	"slices"
	"strings"

	"merlon/internal/lazyregexp"
)

// This file reads manifests that are programs, by the form of what they write out.

// findCalls returns a requirement for each match of a pattern whose groups "name",
// "group", "version" and "rest" are used. A line that is a comment is left out.
func findCalls(content []byte, pattern *lazyregexp.Regexp, comment string) []Requirement {
	var out []Requirement
	seen := map[string]bool{}
	line, offset := 1, 0
	for _, m := range pattern.FindAllSubmatchIndex(content, maxRequirements) {
		get := func(group string) (string, int) {
			i := pattern.SubexpIndex(group)
			if i < 0 || m[2*i] < 0 {
				return "", -1
			}
			return string(content[m[2*i]:m[2*i+1]]), m[2*i]
		}
		name, at := get("name")
		line += bytes.Count(content[offset:at], []byte("\n"))
		offset = at
		start := bytes.LastIndexByte(content[:at], '\n') + 1
		if comment != "" && bytes.HasPrefix(bytes.TrimLeft(content[start:at], " \t"), []byte(comment)) {
			continue
		}
		if g, _ := get("group"); g != "" {
			name = g + ":" + name
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		version, _ := get("version")
		rest, _ := get("rest")
		out = append(out, Requirement{Name: name, Version: FixedVersion(version),
			Wanted: strings.TrimSpace(version + rest), Line: line})
	}
	return out
}

// The patterns of the calls and tuples, by the tool. The groups "name", "group", "version" and
// "rest" are those of findCalls; a pattern does not cross a line unless the form needs it.
var (
	// gem "rails", "~> 7.0" and spec.add_development_dependency "rspec"
	gemCall = lazyregexp.New(`(?m)^[ \t]*(?:gem|[\w.]+\.add(?:_runtime|_development)?_dependency)[ (]+["'](?P<name>[A-Za-z0-9._-]+)["'](?P<rest>[^\n]*)`)
	// "7.0.4" or "= 7.0.4" as the only requirement
	gemOnly  = lazyregexp.New(`^[^"'#]*["']\s*(?:=\s*)?([0-9][0-9A-Za-z.]*)["']`)
	gemPath  = lazyregexp.New(`\bpath:|:path\s*=>`)
	gemGroup = lazyregexp.New(`(?:\bgroups?:|:groups?\s*=>)\s*(\[[^\]]*\]|:\w+)`)
	// {:phoenix, "~> 1.7"}
	mixTuple = lazyregexp.New(`\{\s*:(?P<name>[a-z0-9_]+)\s*,(?P<rest>[^{}]*)\}`)
	mixExact = lazyregexp.New(`^\s*"\s*==?\s*([0-9][^"]*)"`)
	mixOnly  = lazyregexp.New(`\bonly:\s*(\[[^\]]*\]|:\w+)`)
	// {cowboy, "2.9.0"} and {cowboy, {git, …}}
	rebarTuple = lazyregexp.New(`\{\s*(?P<name>[a-z0-9_]+)\s*,\s*(?:"(?P<version>[0-9][^"]*)"|"[^"]*"|\{\s*(?:git|pkg|hg)\b)`)
	// .package(url: "https://…", exact: "1.2.3")
	swiftCall = lazyregexp.New(`\.package\((?:[^()]*?,\s*)?url:\s*"(?P<name>[^"]+)"(?:\s*,\s*(?:exact:\s*|\.exact\(\s*)"(?P<version>[^"]+)")?`)
	// pod 'AFNetworking/Core', '4.0.1': a part belongs to the pod before the slash
	podCall   = lazyregexp.New(`(?m)^[ \t]*pod\s+["'](?P<name>[^"'/]+)[^"']*["'](?:\s*,\s*["'](?P<version>[0-9][^"']*)["'])?(?P<rest>[^\n]*)`)
	conanLine = lazyregexp.New(`(?m)^[ \t]*(?P<name>[a-z0-9_][a-z0-9_+.-]*)/(?P<version>\[[^\]\n]*\]|[^\s@#]+)`)
	conanCall = lazyregexp.New(`["'](?P<name>[a-z0-9_][a-z0-9_+.-]+)/(?P<version>[0-9\[][^"'@#]*)(?:@[^"']*)?(?:#[^"']*)?["']`)
	// "org.typelevel" %% "cats-core" % "2.9.0"
	sbtText = lazyregexp.New(`"(?P<group>[A-Za-z0-9_.-]+)"\s*%{1,3}\s*"(?P<name>[A-Za-z0-9_.-]+)"\s*%\s*(?:"(?P<version>[^"]+)")?(?P<rest>[^\n,)]*)`)
	// org.clojure/clojure {:mvn/version "1.11.1"}
	ednText = lazyregexp.New(`(?:(?P<group>[A-Za-z0-9_.-]+)/)?(?P<name>[A-Za-z0-9_.-]+)\s*\{[^{}]*:mvn/version\s+"(?P<version>[^"]+)"`)
	// [org.clojure/clojure "1.11.1"]
	leinText = lazyregexp.New(`\[\s*(?:(?P<group>[A-Za-z0-9_.-]+)/)?(?P<name>[A-Za-z][A-Za-z0-9_.-]*)\s+"(?P<version>[0-9][^"]*)"`)
	section  = lazyregexp.New(`(?m)^\s*\[+([^\[\]\n]+)\]+\s*(?:#.*)?$`)
	cfgKey   = lazyregexp.New(`(?m)^([A-Za-z_.-]+)\s*=[ \t]*`)
)

// Gems reads a Gemfile, gems.rb or gemspec.
func Gems(content []byte) ([]Requirement, error) {
	out := findCalls(content, gemCall, "#")
	develop := GemsInDevelopment(string(content))
	for i := range out {
		r := &out[i]
		if m := gemOnly.FindStringSubmatch(r.Wanted); m != nil {
			r.Version = m[1]
		}
		r.Local = gemPath.MatchString(r.Wanted)
		r.Dev = develop[r.Name]
	}
	return out, nil
}

// GemsInDevelopment returns the gems that stand in groups for development or tests
// only: in a block "group … do" or with the option "group".
func GemsInDevelopment(text string) map[string]bool {
	out := map[string]bool{}
	var blocks gemBlocks
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if m := gemCall.FindStringSubmatch(line); m != nil {
			name, rest := m[gemCall.SubexpIndex("name")], m[gemCall.SubexpIndex("rest")]
			dev := blocks.areForDevelopment() || strings.Contains(line, "add_development_dependency")
			if g := gemGroup.FindStringSubmatch(rest); g != nil {
				dev = onlyDevelopment(g[1])
			}
			// A gem that is also outside of such groups is shipped.
			if known, ok := out[name]; !ok || known {
				out[name] = dev
			}
			continue
		}
		blocks = blocks.after(line)
	}
	return out
}

// gemBlocks tells of each open block whether it is one for development.
type gemBlocks []bool

// areForDevelopment reports whether the innermost block is one for development.
func (b gemBlocks) areForDevelopment() bool { return len(b) > 0 && b[len(b)-1] }

// after returns the blocks that are open after a line.
func (b gemBlocks) after(line string) gemBlocks {
	switch {
	case strings.HasSuffix(line, " do") || strings.Contains(line, " do |"):
		inner := b.areForDevelopment()
		if names, ok := strings.CutPrefix(line, "group"); ok {
			inner = onlyDevelopment(strings.TrimSuffix(names, "do"))
		}
		return append(b, inner)
	case opensBlock(line):
		return append(b, b.areForDevelopment())
	case (line == "end" || strings.HasPrefix(line, "end ")) && len(b) > 0:
		return b[:len(b)-1]
	}
	return b
}

// opensBlock reports whether a line of Ruby opens something that "end" closes.
func opensBlock(line string) bool {
	word, _, _ := strings.Cut(line, " ")
	switch word {
	case "if", "unless", "case", "begin", "def", "while", "until", "class", "module":
		return !strings.HasSuffix(line, " end")
	}
	return false
}

// symbol matches a name in a list of Ruby.
var symbol = lazyregexp.New(`[A-Za-z_]+`)

// onlyDevelopment reports whether every name in the text is a group that is not
// shipped.
func onlyDevelopment(groups string) bool {
	names := symbol.FindAllString(groups, -1)
	for _, g := range names {
		switch g {
		// "group :test, optional: true do": words of the option, not names of groups.
		case "optional", "true", "false":
		case "dev", "development", "test", "tests", "docs", "doc", "lint", "ci", "ut", "it":
		default:
			return false
		}
	}
	return len(names) > 0
}

// Mix reads a mix.exs.
func Mix(content []byte) ([]Requirement, error) {
	var out []Requirement
	for _, r := range findCalls(content, mixTuple, "#") {
		if !strings.ContainsAny(r.Wanted, `":`) {
			continue
		}
		if m := mixExact.FindStringSubmatch(r.Wanted); m != nil {
			r.Version = m[1]
		}
		if m := mixOnly.FindStringSubmatch(r.Wanted); m != nil {
			r.Dev = onlyDevelopment(m[1])
		}
		r.Local = strings.Contains(r.Wanted, "path:") || strings.Contains(r.Wanted, "in_umbrella: true")
		if strings.Contains(r.Wanted, `"`) || r.Local {
			out = append(out, r)
		}
	}
	return out, nil
}

// Rebar reads the list "deps" of a rebar.config.
func Rebar(content []byte) ([]Requirement, error) {
	at := bytes.Index(content, []byte("{deps"))
	if at < 0 {
		return nil, nil
	}
	end := len(content)
	if i := bytes.Index(content[at:], []byte("}.")); i >= 0 {
		end = at + i
	}
	var out []Requirement
	for _, r := range findCalls(content[at:end], rebarTuple, "%") {
		if !slices.Contains([]string{"git", "hg", "pkg", "tag", "branch", "ref"}, r.Name) { // where it comes from
			r.Line += bytes.Count(content[:at], []byte("\n"))
			out = append(out, r)
		}
	}
	return out, nil
}

// Swift reads a Package.swift; a package is known by its address.
func Swift(content []byte) ([]Requirement, error) {
	out := findCalls(content, swiftCall, "//")
	for i := range out {
		out[i].Name = SwiftName(out[i].Name)
	}
	return out, nil
}

// SwiftName is the name of a package of the Swift package manager as OSV writes
// it: the address without scheme and suffix.
func SwiftName(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok { // behind a colon stands a port
		address = strings.TrimPrefix(rest, "git@")
	} else if host, rest, ok := strings.Cut(strings.TrimPrefix(address, "git@"), ":"); ok &&
		!strings.Contains(host, "/") { // the short form of SSH: git@host:path

		address = host + "/" + rest
	}
	return strings.TrimSuffix(strings.TrimSuffix(address, "/"), ".git")
}

// Pods reads a Podfile.
func Pods(content []byte) ([]Requirement, error) {
	out := findCalls(content, podCall, "#")
	for i := range out {
		out[i].Local = gemPath.MatchString(out[i].Wanted)
	}
	return out, nil
}

// Conan reads a conanfile.txt or conanfile.py.
func Conan(content []byte) ([]Requirement, error) {
	if !bytes.Contains(content, []byte("ConanFile")) {
		return inSections(content, section, conanLine, "requires"), nil
	}
	return findCalls(content, conanCall, "#"), nil
}

// Sbt reads the build.sbt of Scala. "%%" adds the version of Scala to the name,
// which only the tool knows; the name is told as it is written.
func Sbt(content []byte) ([]Requirement, error) {
	out := findCalls(content, sbtText, "//")
	for i := range out {
		out[i].Dev = strings.Contains(out[i].Wanted, "% Test") || strings.Contains(out[i].Wanted, `% "test`)
	}
	return out, nil
}

// Edn reads a deps.edn of Clojure. A name without group is its own group.
func Edn(content []byte) ([]Requirement, error) {
	return clojure(findCalls(content, ednText, ";;")), nil
}

// Leiningen reads a project.clj of Clojure.
func Leiningen(content []byte) ([]Requirement, error) {
	return clojure(findCalls(content, leinText, ";")), nil
}

// clojure gives names without a group that of the artifact, as Clojure does.
func clojure(list []Requirement) []Requirement {
	for i := range list {
		if !strings.Contains(list[i].Name, ":") {
			list[i].Name += ":" + list[i].Name
		}
	}
	return list
}

// SetupCfg reads install_requires of a setup.cfg.
func SetupCfg(content []byte) ([]Requirement, error) {
	return inSections(content, cfgKey, cfgLine, "install_requires"), nil
}

// cfgLine matches an indented requirement in a setup.cfg.
var cfgLine = lazyregexp.New(`(?m)^[ \t]+(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]\n]*\])?[ \t]*(?:==[ \t]*(?P<version>[0-9][^,;\s]*)[ \t]*|[<>=!~;@].*)?$`)

// inSections applies the pattern to the sections whose name holds the word.
func inSections(content []byte, heading, pattern *lazyregexp.Regexp, word string) []Requirement {
	var out []Requirement
	at := heading.FindAllSubmatchIndex(content, -1)
	for i, m := range at {
		end := len(content)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		if !strings.Contains(string(content[m[2]:m[3]]), word) {
			continue
		}
		before := bytes.Count(content[:m[1]], []byte("\n"))
		for _, r := range findCalls(content[m[1]:end], pattern, "#") {
			r.Line += before
			out = append(out, r)
		}
	}
	return out
}
