package lock

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// files is a tree; the first path given to read is the lock file.
type files map[string]string

// read reads a lock file and returns its packages as lines.
func read(path string, tree files) ([]string, error) {
	g, err := Read(File{
		Path: path, Content: []byte(tree[path]),
		Read: func(name string) []byte {
			if text, ok := tree[name]; ok {
				return []byte(text)
			}
			return nil
		},
		Below: func(name string) []string {
			var out []string
			for f := range tree {
				if f == name || strings.HasSuffix(f, "/"+name) || strings.HasPrefix(name, "*") &&
					strings.HasSuffix(f, name[1:]) {
					out = append(out, f)
				}
			}
			slices.Sort(out)
			return out
		},
	})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range g.Packages() {
		line := fmt.Sprintf("%d %s@%s", f.Line, f.Name, f.Version)
		if f.Scope != "" {
			line += " " + string(f.Scope)
		}
		for _, mark := range []struct {
			is   bool
			text string
		}{{f.Dev, "dev"}, {f.Foreign, "foreign"}} {
			if mark.is {
				line += " " + mark.text
			}
		}
		if f.Manifest != "" {
			line += " in " + f.Manifest
		}
		if len(f.Via) > 0 {
			line += " via " + strings.Join(f.Via, " ")
		}
		if len(f.Licenses) > 0 {
			line += " under " + strings.Join(f.Licenses, ", ")
		}
		out = append(out, line)
	}
	return out, nil
}

// check compares the packages of a lock file with lines.
func check(t *testing.T, path string, tree files, want ...string) {
	t.Helper()
	got, err := read(path, tree)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v\ngot:\n  %s\nwant:\n  %s", path, err, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestNpm(t *testing.T) {
	check(t, "package-lock.json", files{"package-lock.json": `{
"lockfileVersion": 1,
"dependencies": {
  "a": {"version": "1.0.0", "requires": {"b": "^1"}, "dependencies": {
    "b": {"version": "1.0.0"},
    "c": {"version": "npm:real@2.0.0", "dependencies": {
      "b": {"version": "1.0.0", "dev": true}
    }}
  }},
  "g": {"version": "git+https://example.com/g.git#abc"},
  "l": {"version": "file:../l"}
}}`},
		"4 a@1.0.0", "5 b@1.0.0", "6 real@2.0.0", "10 g@ foreign")
	check(t, "x/package-lock.json", files{"x/package.json": `{"devDependencies":{"a":"1"}}`, "x/package-lock.json": `{"dependencies":{
"a":{"version":"1.0.0","dev":true,"requires":{"b":"1"}},
"b":{"version":"1.0.0","dev":true,"requires":{"c":"1"}},
"c":{"version":"1.0.0","dev":true}}}`},
		"2 a@1.0.0 direct dev in x/package.json", "3 b@1.0.0 transitive dev via a@1.0.0",
		"4 c@1.0.0 transitive dev via a@1.0.0 b@1.0.0")
	check(t, "package-lock.json", files{"package-lock.json": `{"packages": {
"": {"dependencies": {"a": "^1"}, "devDependencies": {"@s/b": "^1"}},
"ws/one": {"name": "one", "version": "1.0.0", "dependencies": {"c": "^2"}},
"node_modules/one": {"resolved": "ws/one", "link": true},
"node_modules/a": {"version": "1.0.0", "license": "MIT", "dependencies": {"c": "3"}},
"node_modules/@s/b": {"version": "1.0.0", "dev": true},
"node_modules/c": {"version": "1.0.0"},
"ws/one/node_modules/c": {"version": "2.0.0"},
"node_modules/a/node_modules/c": {"version": "3.0.0"},
"node_modules/alias": {"name": "real", "version": "1.0.0"}
}}`},
		"5 a@1.0.0 direct in package.json under MIT", "6 @s/b@1.0.0 direct dev in package.json", "7 c@1.0.0 transitive",
		"8 c@2.0.0 direct in ws/one/package.json",
		"9 c@3.0.0 transitive via a@1.0.0", "10 real@1.0.0 transitive")
	check(t, "package-lock.json",
		files{"package-lock.json": `{"dependencies": {"old": {"version": "1.0.0"}}, "packages": {"node_modules/new": {"version": "1.0.0"}}}`}, "1 new@1.0.0")
	check(t, "package-lock.json", files{"package-lock.json": `{}`})
}

func TestYarn(t *testing.T) {
	manifest := `{"dependencies":{"a":"^1"},"devDependencies":{"d":"1"}}`
	check(t, "yarn.lock", files{"package.json": manifest, "w/package.json": `{"dependencies":{"e":"^2"}}`, "yarn.lock": `# yarn lockfile v1

a@^1:
  version "1.2.0"
  resolved "https://registry.yarnpkg.com/a/-/a-1.2.0.tgz#x"
  dependencies:
    "@s/b" "^1"
    c "1"

"@s/b@^1", "@s/b@^1.1":
  version "1.1.0"

"c@1", "c@npm:real@1":
  version "1.0.0"

d@1:
  version "1.0.0"
  resolved "git+https://example.com/d.git#abc"

e@^2:
  version "2.0.0"

"f@npm:real@^3":
  version "3.0.0"

g@./g:
  version "0.0.0"
`},
		"3 a@1.2.0 direct in package.json", "10 @s/b@1.1.0 transitive via a@1.2.0", "13 c@1.0.0 transitive via a@1.2.0",
		"16 d@1.0.0 direct dev foreign in package.json", "20 e@2.0.0 direct in w/package.json",
		"23 real@3.0.0 transitive")
	check(t, "yarn.lock", files{"package.json": manifest, "yarn.lock": `__metadata:
  version: 8

"a@npm:^1":
  version: 1.2.0
  resolution: "a@npm:1.2.0"
  dependencies:
    b: "npm:^1"
  languageName: node

"b@npm:^1, b@npm:^1.1":
  version: 1.1.0
  resolution: "b@npm:1.1.0"

"d@npm:1":
  version: 1.0.0
  resolution: "d@npm:1.0.0"

"p@patch:p@npm%3A1.0.0#~builtin<compat/p>":
  version: 1.0.0
  resolution: "p@patch:p@npm%3A1.0.0#~builtin<compat/p>::version=1.0.0"

"shop@workspace:.":
  version: 0.0.0-use.local
  resolution: "shop@workspace:."
  dependencies:
    a: "npm:^1"
    d: "npm:1"
`},
		"4 a@1.2.0 direct in package.json", "11 b@1.1.0 transitive via a@1.2.0",
		"15 d@1.0.0 direct dev in package.json", "19 p@1.0.0 transitive")
}

func TestPnpm(t *testing.T) {
	check(t, "pnpm-lock.yaml", files{"pnpm-lock.yaml": `lockfileVersion: 5.4

specifiers:
  a: ^1

dependencies:
  a: 1.2.0_@s+b@1.0.0
devDependencies:
  '@s/b': 1.0.0

packages:

  /a/1.2.0_@s+b@1.0.0:
    resolution: {integrity: sha512-x}
    dependencies:
      c_d: 2.0.0
    dev: false

  /@s/b/1.0.0:
    resolution: {integrity: sha512-y}
    dev: true

  /c_d/2.0.0:
    resolution: {integrity: sha512-z}
    dev: false
`},
		"13 a@1.2.0 direct in package.json", "19 @s/b@1.0.0 direct dev in package.json",
		"23 c_d@2.0.0 transitive via a@1.2.0")
	check(t, "pnpm-lock.yaml", files{"pnpm-lock.yaml": `lockfileVersion: '6.0'
dependencies:
  a:
    specifier: ^1
    version: 1.2.0(b@1.0.0)
packages:
  /a@1.2.0(b@1.0.0):
    resolution: {integrity: sha512-x}
    dependencies:
      b: 1.0.0
    dev: false
  /b@1.0.0:
    resolution: {integrity: sha512-y}
    dev: false
  github.com/o/r/abc:
    resolution: {tarball: https://codeload.github.com/o/r/tar.gz/abc}
    name: r
    version: 3.0.0
    dev: false
`},
		"7 a@1.2.0 direct in package.json", "12 b@1.0.0 transitive via a@1.2.0", "15 r@3.0.0 transitive foreign")
	check(t, "pnpm-lock.yaml", files{"pnpm-lock.yaml": `lockfileVersion: '9.0'
importers:
  .:
    dependencies:
      a:
        specifier: ^1
        version: 1.2.0(b@1.0.0)
  packages/w:
    devDependencies:
      c:
        specifier: ^1
        version: 1.0.0
      self:
        specifier: workspace:*
        version: link:../..
packages:
  a@1.2.0:
    resolution: {integrity: sha512-x}
  b@1.0.0:
    resolution: {integrity: sha512-y}
  c@1.0.0:
    resolution: {integrity: sha512-z}
snapshots:
  a@1.2.0(b@1.0.0):
    dependencies:
      b: 1.0.0
  b@1.0.0: {}
  c@1.0.0: {}
`},
		"17 a@1.2.0 direct in package.json", "19 b@1.0.0 transitive via a@1.2.0",
		"21 c@1.0.0 direct dev in packages/w/package.json")
}

func TestBunAndDeno(t *testing.T) {
	check(t, "bun.lock", files{"bun.lock": `{
  "lockfileVersion": 1,
  "workspaces": {
    "": {"name": "shop", "dependencies": {"a": "^1"}, "devDependencies": {"@s/d": "1"}},
    "w": {"name": "w", "dependencies": {"b": "^2"}},
  },
  "packages": {
    "a": ["a@1.0.0", "", {"dependencies": {"b": "^1"}}, "sha512-x"],
    "@s/d": ["@s/d@1.0.0", "", {}, "sha512-x"],
    "b": ["b@1.0.0", "", {}, "sha512-x"],
    "w": ["w@workspace:w"],
    "w/b": ["b@2.0.0", "", {}, "sha512-x"],
    "g": ["g@github:o/g#abc", {}, "abc"],
    "l": ["l@file:../l", { "dependencies": { "m": "1" } }],
    "m": ["m@1.0.0", "", {}, "sha512-x"],
  }
}`},
		"8 a@1.0.0 direct in package.json", "9 @s/d@1.0.0 direct dev in package.json", "10 b@1.0.0 transitive via "+
			"a@1.0.0", "12 b@2.0.0 direct in w/package.json", "13 g@ transitive foreign",
		"15 m@1.0.0 direct in ../l/package.json")
	check(t, "deno.lock", files{"deno.lock": `{"version": "4",
"specifiers": {"npm:a@1": "1.0.0", "jsr:@std/x@1": "1.0.0", "npm:c@2": "2.0.0_b@1.0.0"},
"npm": {
"a@1.0.0": {"integrity": "x", "dependencies": ["b"]},
"b@1.0.0": {"integrity": "x"},
"c@2.0.0_b@1.0.0": {"integrity": "x", "dependencies": ["b"]}},
"workspace": {"dependencies": ["npm:a@1"]}}`},
		"4 a@1.0.0 direct in deno.json", "5 b@1.0.0 transitive via a@1.0.0", "6 c@2.0.0 transitive")
	check(t, "deno.lock", files{"deno.lock": `{"version": "3", "packages": {"specifiers": {"npm:a@1": "npm:a@1.0.0"}, "npm": {
"a@1.0.0": {"dependencies": {"@s/b": "@s/b@1.0.0"}},
"@s/b@1.0.0": {}}}}`}, "2 a@1.0.0 direct", "3 @s/b@1.0.0 transitive via a@1.0.0")
}

func TestPython(t *testing.T) {
	lockText := `[[package]]
name = "django"
version = "2.2.0"
groups = ["main"]

[package.dependencies]
Py_TZ = "*"

[[package]]
name = "pytz"
version = "2020.1"
groups = ["main"]

[[package]]
name = "py-tz"
version = "1.0"
groups = ["dev"]
`
	check(t, "poetry.lock", files{"poetry.lock": lockText, "pyproject.toml": "[project]\ndependencies = " +
		"[\"Django>=2\"]\n"},
		"2 django@2.2.0 direct in pyproject.toml", "10 pytz@2020.1 transitive", "15 py-tz@1.0 transitive dev via "+
			"django@2.2.0")
	check(t, "uv.lock", files{"uv.lock": `version = 1

[[package]]
name = "shop"
version = "0.1.0"
source = { editable = "." }
dependencies = [
    { name = "a" },
    { name = "m" },
]

[package.dev-dependencies]
dev = [
    { name = "t" },
]

[[package]]
name = "m"
version = "0.1.0"
source = { virtual = "packages/m" }
dependencies = [{ name = "b", version = "2.0" }]

[[package]]
name = "a"
version = "1.0"
source = { registry = "https://pypi.org/simple" }
dependencies = [{ name = "b", version = "1.0" }]

[[package]]
name = "b"
version = "1.0"
source = { registry = "https://pypi.org/simple" }

[[package]]
name = "b"
version = "2.0"
source = { registry = "https://pypi.org/simple" }

[[package]]
name = "t"
version = "1.0"
source = { git = "https://example.com/t" }
`},
		"24 a@1.0 direct in pyproject.toml", "30 b@1.0 transitive via a@1.0",
		"35 b@2.0 direct in packages/m/pyproject.toml", "40 t@1.0 direct dev foreign in pyproject.toml")
	check(t, "uv.lock", files{"uv.lock": "version = 1\n[manifest]\nmembers = []\n[manifest.dependency-groups]\ndev = " +
		"[{ name = \"t\", specifier = \">=1\" }]\n[[package]]\nname = \"t\"\nversion = \"1.0\"\nsource = { registry " +
		"= \"x\" }\n"},
		"7 t@1.0 direct dev in pyproject.toml")
	check(t, "pdm.lock", files{"pdm.lock": "[[package]]\nname = \"a\"\nversion = \"1.0\"\ngroups = " +
		"[\"default\"]\ndependencies = [\n  \"B.x>=1\",\n]\n[[package]]\nname = \"b-x\"\nversion = \"2.0\"\ngroups = " +
		"[\"default\", \"dev\"]\n",
		"pyproject.toml": "[project]\ndependencies = ['a']\n"}, "2 a@1.0 direct in pyproject.toml",
		"9 b-x@2.0 transitive via a@1.0")
	check(t, "Pipfile.lock", files{"Pipfile.lock": `{"_meta":{},"default":{
"a":{"version":"==1.0"},
"g":{"git":"https://example.com/g"},
"l":{"path":"."}},"develop":{
"t":{"version":"==2.0"},
"a":{"version":"==1.0"}}}`, "Pipfile": "[packages]\nA = \"*\"\n"}, "2 a@1.0 direct in Pipfile", "3 g@ transitive foreign", "5 t@2.0 transitive dev")
}

func TestOthers(t *testing.T) {
	check(t, "Cargo.lock", files{"Cargo.toml": "[package]\nname = \"me\"\n[dependencies]\na = \"1\"\n[dev-dependencies]\nd = { package = \"dd\", version = \"1\" }\n", "Cargo.lock": `[[package]]
name = "me"
version = "0.1.0"
dependencies = [
 "a 2.0.0",
 "dd",
]

[[package]]
name = "a"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "a"
version = "2.0.0"
source = "git+https://example.com/a#abc"
dependencies = [
 "a 1.0.0 (registry+https://github.com/rust-lang/crates.io-index)",
]

[[package]]
name = "dd"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
`},
		"10 a@1.0.0 transitive via a@2.0.0", "15 a@2.0.0 direct foreign in Cargo.toml", "23 dd@1.0.0 direct dev in "+
			"Cargo.toml")
	check(t, "composer.lock", files{"composer.json": `{"require":{"A/b":"1","php":"8"}}`, "composer.lock": `{"packages":[
{"name":"a/b","version":"v1.0","license":["MIT"],"require":{"c/i":"*"}},
{"name":"c/d","version":"2.0","provide":{"c/i":"1"}}],
"packages-dev":[
{"name":"e/f","version":"3.0","license":["MIT","GPL-2.0-only"]},
{"name":"l/l","version":"dev-main","dist":{"type":"path"}}]}`},
		"2 a/b@v1.0 direct in composer.json under MIT", "3 c/d@2.0 transitive via a/b@v1.0",
		"5 e/f@3.0 transitive dev under MIT, GPL-2.0-only")
	check(t, "Gemfile.lock", files{"Gemfile": "group :test do\n gem 'b'\nend\n", "Gemfile.lock": `GIT
  remote: https://example.com/g
  specs:
    g (0.1)

PATH
  remote: .
  specs:
    me (1.0)
      a (~> 1)

GEM
  specs:
    a (1.0-x86_64-linux)
      c
    b (2.0)
    c (3.0)

DEPENDENCIES
  b
  me!
  g!
`},
		"4 g@0.1 direct foreign in Gemfile", "14 a@1.0 direct", "16 b@2.0 direct dev in Gemfile",
		"17 c@3.0 transitive via a@1.0")
	check(t, "mix.lock", files{"mix.exs": "[{:a, \"~> 1\"}, {:git_one, \"~> 1\", only: :test}]", "mix.lock": `%{
  "a": {:hex, :a_published, "1.0.0", "hash", [:mix], [{:b, "~> 1", [hex: :b, repo: "hexpm", optional: false]}], "hexpm", "hash"},
  "b": {:hex, :b, "1.1.0", "hash", [:mix, :rebar3], [], "hexpm", "hash"},
  "git_one": {:git, "https://example.com/x.git", "abc", []},
}`}, "2 a_published@1.0.0 direct in mix.exs", "3 b@1.1.0 transitive via a_published@1.0.0", "4 git_one@ direct dev foreign in mix.exs")
	check(t, "rebar.lock", files{"rebar.lock": "{\"1.2.0\",\n[{<<\"cowboy\">>,{pkg,<<\"cowboy\">>,<<\"2.6.0\">>},0},\n {<<\"cowlib\">>,{pkg,<<\"cowlib\">>,<<\"2.7.0\">>},1},\n {<<\"g\">>,\n  {git,\"https://example.com/g\",\n       {ref,\"abc\"}},\n  0}]}.\n[{pkg_hash,[{<<\"cowboy\">>, <<\"x\">>}]}].\n"},
		"2 cowboy@2.6.0 direct in rebar.config", "3 cowlib@2.7.0 transitive", "4 g@ direct foreign in rebar.config")
	check(t, "gradle.lockfile",
		files{"gradle.lockfile": "# comment\ncom.a:b:1.0=compileClasspath,testCompileClasspath\norg.junit:junit:4.0=testRuntimeClasspath\nempty=annotationProcessor\n"},
		"2 com.a:b@1.0", "3 org.junit:junit@4.0 dev")
}

func TestMobileAndNative(t *testing.T) {
	check(t, "pubspec.lock", files{"pubspec.lock": "packages:\n  http:\n    dependency: \"direct main\"\n    " +
		"description:\n      name: http\n      url: \"https://pub.dev\"\n    source: hosted\n    version: " +
		"\"0.13.0\"\n  path:\n    dependency: transitive\n    source: hosted\n    version: \"1.8.0\"\n  lints:\n    " +
		"dependency: \"direct dev\"\n    source: hosted\n    version: \"1.0.0\"\n  flutter:\n    dependency: " +
		"\"direct main\"\n    source: sdk\n    version: \"0.0.0\"\nsdks:\n  dart: \">=2\"\n"},
		"2 http@0.13.0 direct in pubspec.yaml", "9 path@1.8.0 transitive", "13 lints@1.0.0 direct dev in pubspec.yaml")
	check(t, "ios/Podfile.lock", files{"ios/Podfile.lock": `PODS:
  - A (1.0):
    - A/Core (= 1.0)
    - B
  - A/Core (1.0)
  - "B+C (2.0)"
  - B (3.0)
  - L (0.1)

DEPENDENCIES:
  - A (~> 1.0)
  - L (from ` + "`../L`" + `)

EXTERNAL SOURCES:
  L:
    :path: "../L"

SPEC CHECKSUMS:
  A: abc

COCOAPODS: 1.11.0
`}, "2 A@1.0 direct in ios/Podfile", "6 B+C@2.0 transitive", "7 B@3.0 transitive via A@1.0")
	check(t, "p/packages.lock.json", files{"p/x.csproj": "", "p/packages.lock.json": `{"version":1,"dependencies":{"net6.0":{
"A":{"type":"Direct","resolved":"1.0.0","dependencies":{"b":"2.0.0"}},
"B":{"type":"Transitive","resolved":"2.0.0"},
"Me":{"type":"Project"}}}}`}, "2 A@1.0.0 direct in p/x.csproj", "3 B@2.0.0 transitive via A@1.0.0")
	check(t, "conan.lock", files{"conan.lock": `{"version":"0.4","graph_lock":{"nodes":{
"0":{"ref":"me/1.0","path":"conanfile.py","requires":["1"],"build_requires":["3"]},
"1":{"ref":"a/1.0#abc","requires":["2"],"context":"host"},
"2":{"ref":"b/2.0@user/stable","context":"host"},
"3":{"ref":"cmake/3.0","context":"build"}}}}`}, "3 a@1.0 direct in conanfile.txt", "4 b@2.0 transitive via a@1.0", "5 cmake@3.0 direct dev in conanfile.txt")
	check(t, "conan.lock", files{"conan.lock": `{"version":"0.5","requires":[
"zlib/1.2.11#abc%1"],"build_requires":[
"cmake/3.0#abc"]}`, "conanfile.txt": "[requires]\nzlib/1.2.11\n"}, "2 zlib@1.2.11 direct in conanfile.txt", "3 cmake@3.0 transitive dev")
}

func TestRefuses(t *testing.T) {
	deep := strings.Repeat(`{"version":"1","dependencies":{"a":`, 300) + `{}` + strings.Repeat(`}}`, 300)
	for name, text := range map[string]string{
		"nothing":        ``,
		"a list":         `[]`,
		"null":           `null`,
		"half":           `{"packages": {"node_modules/a": {`,
		"a wrong entry":  `{"packages": {"node_modules/a": 1}}`,
		"wrong packages": `{"packages": []}`,
		"too deep":       `{"dependencies":{"a":` + deep + `}}`,
	} {
		if got, err := read("package-lock.json", files{"package-lock.json": text}); err == nil {
			t.Errorf("%s: got %v, want an error", name, got)
		}
	}
}

// TestLongPath cuts the middle out of a path that is too long to tell.
func TestLongPath(t *testing.T) {
	var b strings.Builder
	b.WriteString("{\"packages\":{\n\"\":{\"dependencies\":{\"p0\":\"1\"}}")
	for i := range 100 {
		fmt.Fprintf(&b, ",\n\"node_modules/p%d\":{\"version\":\"1\",\"dependencies\":{\"p%d\":\"1\"}}", i, i+1)
	}
	b.WriteString("}}")
	got, err := read("package-lock.json", files{"package-lock.json": b.String()})
	if err != nil || len(got) != 100 {
		t.Fatalf("got %d packages, %v", len(got), err)
	}
	if want := " via p0@1 p1@1 p2@1 p3@1 p4@1 p5@1 p6@1 p7@1 p8@1 p9@1 … p90@1 p91@1 p92@1 p93@1 p94@1 p95@1 p96@1 " +
		"p97@1 p98@1"; !strings.HasSuffix(got[99], want) {
		t.Errorf("got %s", got[99])
	}
	if want := " via p0@1 p1@1"; !strings.HasSuffix(got[2], want) {
		t.Errorf("got %s", got[2])
	}
	if n := strings.Count(got[20], "p"); n != 21 {
		t.Errorf("the path of 20 has %d names: %s", n, got[20])
	}
}

// FuzzRead gives hostile texts to the readers: none may fail otherwise than with
// an error, and every line lies in the file.
func FuzzRead(f *testing.F) {
	var names []string
	for name := range readers {
		names = append(names, name)
	}
	slices.Sort(names)
	names = append(names, "x.deps.json")
	for i := range names {
		f.Add(uint8(i), []byte("# yarn lockfile v1\n\na@^1:\n  version \"1.2.0\"\n  dependencies:\n    a \"^1\"\n"),
			[]byte(`{"dependencies":{"a":"^1"}}`))
		f.Add(uint8(i), []byte(`{"packages":{"":{"dependencies":{"a":"1"}},"node_modules/a":{"version":"1","dependencies":{"a":"1"}}},"dependencies":{"a":{"version":"1"}}}`), []byte(`{}`))
		f.Add(uint8(i), []byte("lockfileVersion: '9.0'\npackages:\n  a@1.0.0: {}\nsnapshots:\n  a@1.0.0:\n    "+
			"dependencies:\n      a: 1.0.0\nPODS:\n  - A (1.0):\n    - A\n"), []byte("x"))
		f.Add(uint8(i), []byte("[[package]]\nname = \"a\"\nversion = \"1\"\ndependencies = [\"a\"]\n"),
			[]byte("[package]\nname = \"a\"\n"))
		f.Add(uint8(i), []byte("GEM\n  specs:\n    a (1)\n      a\n\nDEPENDENCIES\n  a\n"), []byte("gem 'a'"))
		f.Add(uint8(i), []byte("%{\n  \"a\": {:hex, :a, \"1\", \"h\", [:mix], [{:a, \"1\"}], "+
			"\"hexpm\"},\n}\n[{<<\"a\">>,{pkg,<<\"a\">>,<<\"1\">>},0}]."), []byte("{:a, \"1\"}"))
	}
	f.Fuzz(func(t *testing.T, which uint8, content, manifest []byte) {
		g, err := Read(File{
			Path: "d/" + names[int(which)%len(names)], Content: content,
			Read: func(string) []byte {
				return manifest
			}, Below: func(name string) []string { return []string{"d/" + name, "d/e/" + name} },
		})
		if err != nil {
			return
		}
		lines := 1 + strings.Count(string(content), "\n")
		for _, p := range g.Packages() {
			if p.Name == "" || p.Line < 0 || p.Line > lines || len(p.Via) > maxVia {
				t.Errorf("got %+v of %d lines", p, lines)
			}
		}
	})
}

// large writes a lock file of n packages, each of which brings the next ones.
func large(name string, n int) string {
	var b strings.Builder
	switch name {
	case "package-lock.json":
		b.WriteString("{\"packages\":{\n\"\":{\"dependencies\":{\"p0\":\"1\"}}")
		for i := range n {
			fmt.Fprintf(&b, ",\n\"node_modules/p%d\": {\"version\": \"1.0.0\", \"resolved\": "+
				"\"https://registry.npmjs.org/p/-/p-1.0.0.tgz\", \"integrity\": \"sha512-%088d\", \"dependencies\": "+
				"{\"p%d\": \"1\", \"p%d\": \"1\"}}", i, i, 2*i+1, 2*i+2)
		}
		b.WriteString("}}")
	case "yarn.lock":
		for i := range n {
			fmt.Fprintf(&b, "p%d@^1.0.0:\n  version \"1.0.0\"\n  resolved "+
				"\"https://registry.yarnpkg.com/p/-/p-1.0.0.tgz#abc\"\n  integrity sha512-%088d\n  dependencies:\n   "+
				" p%d \"^1.0.0\"\n    p%d \"^1.0.0\"\n\n", i, i, 2*i+1, 2*i+2)
		}
	case "pnpm-lock.yaml":
		b.WriteString("lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      p0:\n        specifier: " +
			"^1\n        version: 1.0.0\npackages:\n")
		for i := range n {
			fmt.Fprintf(&b, "  p%d@1.0.0:\n    resolution: {integrity: sha512-%088d}\n    engines: {node: "+
				"'>=6.9.0'}\n\n", i, i)
		}
		b.WriteString("snapshots:\n")
		for i := range n {
			fmt.Fprintf(&b, "  p%d@1.0.0:\n    dependencies:\n      p%d: 1.0.0\n      p%d: 1.0.0\n\n", i, 2*i+1, 2*i+2)
		}
	case "Cargo.lock", "poetry.lock":
		for i := range n {
			fmt.Fprintf(&b, "[[package]]\nname = \"p%d\"\nversion = \"1.0.0\"\nsource = "+
				"\"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"%064d\"\ndependencies = [\n "+
				"\"p%d\",\n \"p%d\",\n]\n\n", i, i, 2*i+1, 2*i+2)
		}
	}
	return b.String()
}

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "Cargo.lock"} {
		content := large(name, 50_000)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				if got, err := read(name,
					files{name: content, "package.json": `{"dependencies":{"p0":"^1.0.0"}}`}); err != nil ||
					len(got) != 50_000 {
					b.Fatalf("%d packages, %v", len(got), err)
				}
			}
		})
	}
}
