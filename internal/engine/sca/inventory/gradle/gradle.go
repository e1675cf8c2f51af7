// Package gradle reads what Gradle builds ask for: build.gradle and
// build.gradle.kts, version catalogs, gradle.properties and the variables of the
// build above. A build is a program and is never run: what is written out is read
// by its form, and what is computed stays unknown.
package gradle

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/sca/inventory/manifest"
)

// A Build is a tree in which build files stand.
type Build struct {
	// Read returns a file of the tree, or nil when it is not there.
	Read func(path string) []byte
	// Names returns the names of the files in a folder.
	Names func(folder string) []string

	catalogs  map[string]Catalog           // by folder, with those of the folders above
	variables map[string]map[string]string // by folder, with those of the folders above
}

// maxFolders bounds how far up a build is looked for.
const maxFolders = 64

// Reads reports whether the file is a build file.
func Reads(file string) bool {
	base := path.Base(file)
	return base == "build.gradle" || base == "build.gradle.kts" ||
		strings.HasSuffix(base, ".gradle") && base != "settings.gradle" && path.Base(path.Dir(file)) == "gradle"
}

var (
	// call matches the name of a configuration in front of what it takes.
	call = regexp.MustCompile(`(?:^|[\s{;("'])([A-Za-z][A-Za-z0-9_]*)["']?\s*(\(|\s)\s*`)
	// coordinates matches "group:artifact:version:classifier@type" in quotes.
	coordinates = regexp.MustCompile(`["']([A-Za-z0-9_.\-${}]+):([A-Za-z0-9_.\-${}]+)(?::((?:\$\{[^}\n]*\}|[^"':@\s])*))?(?::[^"'@]*)?(?:@[a-z]+)?["']`)
	// named matches group: 'g', name: 'a', version: 'v' in Groovy and Kotlin.
	named   = regexp.MustCompile(`\bgroup\s*[:=]\s*["']([^"']+)["']\s*,\s*(?:name|module)\s*[:=]\s*["']([^"']+)["'](?:\s*,\s*version\s*[:=]\s*(?:["']([^"']+)["']|([\w.]+)))?`)
	catalog = regexp.MustCompile(`\b([A-Za-z]\w*)\.((?:[A-Za-z]\w*\.)*[A-Za-z]\w*)`)
	kotlin  = regexp.MustCompile(`\bkotlin\(\s*"([\w-]+)"(?:\s*,\s*"([^"]+)")?\s*\)`)
	plus    = regexp.MustCompile(`["']([A-Za-z0-9_.-]+):([A-Za-z0-9_.-]+):["']\s*\+\s*([\w.]+)`)
)

// Requirements returns what a build file asks for. A version that is not known is
// empty, with what is written in Wanted.
func (b *Build) Requirements(file string) []manifest.Requirement {
	dir := path.Dir(file)
	text := withoutComments(string(b.Read(file)))
	vars := b.variablesOf(dir)
	libs := b.catalogOf(dir)
	var out []manifest.Requirement
	at := map[string]int{}
	add := func(r manifest.Requirement) {
		// A variable that is not known, or a project of the same build (":core").
		if strings.ContainsAny(r.Name, "${} ") || !strings.Contains(r.Name, ":") {
			return
		}
		i, known := at[r.Name]
		if !known && len(out) < 20_000 {
			at[r.Name] = len(out)
			out = append(out, r)
			return
		}
		if known {
			out[i].Dev = out[i].Dev && r.Dev
			if out[i].Version == "" {
				out[i].Version = r.Version
			}
		}
	}
	for _, block := range dependencyBlocks(text) {
		for _, s := range splitStatements(block) {
			dev := isForTests(s.text)
			for _, r := range readStatement(s.text, vars, libs) {
				r.Dev, r.Line = dev, s.line
				add(r)
			}
		}
	}
	return out
}

// readStatement returns the requirements of one statement.
func readStatement(text string, vars map[string]string, libs Catalog) []manifest.Requirement {
	var out []manifest.Requirement
	// "exclude group: 'a', module: 'b'" names a package that is not used.
	if strings.Contains(text, "exclude") && !strings.Contains(text, "(") {
		return nil
	}
	version := func(written string) manifest.Requirement {
		known := expandVariables(written, vars)
		return manifest.Requirement{Version: fixedVersion(known), Wanted: known}
	}
	if m := plus.FindStringSubmatch(text); m != nil {
		r := version("$" + m[3])
		r.Name = m[1] + ":" + m[2]
		return append(out, r)
	}
	for _, m := range coordinates.FindAllStringSubmatch(text, -1) {
		r := version(m[3])
		r.Name = expandVariables(m[1], vars) + ":" + expandVariables(m[2], vars)
		if m[1] != "" { // ":project" is none
			out = append(out, r)
		}
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		written := m[3]
		if m[4] != "" {
			written = "$" + m[4]
		}
		r := version(written)
		r.Name = expandVariables(m[1], vars) + ":" + expandVariables(m[2], vars)
		out = append(out, r)
	}
	for _, m := range kotlin.FindAllStringSubmatch(text, -1) {
		r := version(m[2])
		r.Name = "org.jetbrains.kotlin:kotlin-" + m[1]
		out = append(out, r)
	}
	for _, m := range catalog.FindAllStringSubmatch(text, -1) {
		out = append(out, libs.findLibraries(m[1], m[2])...)
	}
	return out
}

// fixedVersion returns the version when the text allows only one.
func fixedVersion(text string) string {
	text = strings.TrimSuffix(strings.TrimSpace(text), "!!")
	// "1.+", "[1.0,2.0)" and "latest.release" are ranges; "1.2.3!!" is strict.
	if text == "" || strings.ContainsAny(text, "+[](),${} ") || !strings.ContainsAny(text, "0123456789") {
		return ""
	}
	return text
}

// isForTests reports whether a statement is of a configuration for tests.
func isForTests(text string) bool {
	m := call.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	name := strings.ToLower(m[1])
	return strings.HasPrefix(name, "test") || strings.HasPrefix(name, "androidtest") ||
		strings.HasPrefix(name, "integrationtest") ||
		strings.Contains(m[1], "Test") || name == "jmh" || strings.HasPrefix(m[1], "jmh")
}

// expandVariables replaces $name, ${name} and ${a.b} by what is known; else they stay.
func expandVariables(text string, vars map[string]string) string {
	// A variable may be made of others; eight rounds resolve real chains, and a circle ends.
	for range 8 {
		next := reference.ReplaceAllStringFunc(text, func(ref string) string {
			name := strings.Trim(strings.TrimPrefix(ref, "$"), "{}")
			for _, prefix := range []string{"", "rootProject.ext.", "rootProject.", "project.ext.", "project.", "ext.",
				"libs.versions."} {
				if rest, ok := strings.CutPrefix(name, prefix); ok {
					if v, known := vars[rest]; known {
						return v
					}
				}
			}
			if m := property.FindStringSubmatch(name); m != nil {
				if v, known := vars[m[1]]; known {
					return v
				}
			}
			return ref
		})
		if next == text || len(next) > 1000 {
			break
		}
		text = next
	}
	return text
}

var (
	reference = regexp.MustCompile(`\$\{[^{}]*\}|\$[A-Za-z_][A-Za-z0-9_.]*`)
	property  = regexp.MustCompile(`^(?:(?:rootProject|project)\.)?(?:property|findProperty|extra)?[(\[]\s*["']([^"']+)["']\s*[)\]]`)
)

// A block is the text of a block "dependencies", with the line where it begins.
type block struct {
	text string
	line int
}

// dependencies matches the begin of a block that lists packages.
var dependencies = regexp.MustCompile(`\b(?:dependencies|imports)\s*\{`)

// dependencyBlocks returns the blocks "dependencies" and "imports" of a text.
func dependencyBlocks(text string) []block {
	var out []block
	end := 0
	for _, m := range dependencies.FindAllStringIndex(text, 10_000) {
		if m[0] < end { // inside of another one
			continue
		}
		end = closingBracket(text, m[1])
		out = append(out, block{text[m[1]:end], 1 + strings.Count(text[:m[1]], "\n")})
	}
	return out
}

// closingBracket returns where the bracket is closed that was opened before the position.
func closingBracket(text string, at int) int {
	// The text has no comments any more, so that brackets in them do not count.
	depth := 1
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		// A bracket in a text does not count either.
		case '"', '\'':
			i = endOfText(text, i)
		}
	}
	return len(text)
}

// endOfText returns where a text in quotes ends; on its line at the latest.
func endOfText(text string, at int) int {
	for i := at + 1; i < len(text) && text[i] != '\n'; i++ {
		switch text[i] {
		case '\\':
			i++
		case text[at]:
			return i
		}
	}
	return at
}

// splitStatements splits a block: a statement ends with its line, but for open round
// brackets and for a comma at the end.
func splitStatements(b block) []block {
	var out []block
	line, open := b.line, 0
	var held strings.Builder
	start := line
	for raw := range strings.Lines(b.text) {
		if held.Len() == 0 {
			start = line
		}
		line++
		held.WriteString(raw)
		open += strings.Count(raw, "(") - strings.Count(raw, ")")
		trimmed := strings.TrimSpace(raw)
		if open > 0 && held.Len() < 10_000 || strings.HasSuffix(trimmed, ",") {
			continue
		}
		open = 0
		if s := held.String(); strings.TrimSpace(s) != "" {
			out = append(out, block{s, start})
		}
		held.Reset()
	}
	if held.Len() > 0 {
		out = append(out, block{held.String(), start})
	}
	return out
}

// withoutComments blanks comments; lines stay where they are.
func withoutComments(text string) string {
	if !strings.Contains(text, "//") && !strings.Contains(text, "/*") {
		return text
	}
	out := []byte(text)
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"' || text[i] == '\'':
			i = endOfText(text, i)
		case strings.HasPrefix(text[i:], "//"):
			for ; i < len(text) && text[i] != '\n'; i++ {
				out[i] = ' '
			}
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i:], "*/")
			if end < 0 {
				end = len(text) - i - 2
			}
			for k := i; k < min(i+end+2, len(text)); k++ {
				if text[k] != '\n' {
					out[k] = ' '
				}
			}
			i += end + 1
		}
	}
	return string(out)
}

// Locks names the files that fix the versions of a build file.
var Locks = []string{"gradle.lockfile"}

// buildFiles returns the build files of a folder that may set variables.
func buildFiles(names []string) []string {
	var out []string
	for _, n := range names {
		if strings.HasSuffix(n, ".gradle") || strings.HasSuffix(n, ".gradle.kts") {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}
