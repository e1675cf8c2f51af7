package dependencies

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// TestAsks gives manifests in the forms that people write.
func TestAsks(t *testing.T) {
	for _, test := range []struct {
		name string
		asks func([]byte) []requirement
		text string
		want string // name@version, with ! behind what is for development
	}{
		{"package.json", askPackageJSON, `{"dependencies":{"b":"^1.0.0","a":"1.2.3","c":"v2.0.0","d":"=3.0.0","e":"1","f":"latest"},"devDependencies":{"g":"1.0.0-rc.1"}}`,
			"a@1.2.3 b@ c@2.0.0 d@3.0.0 e@ f@ g@1.0.0-rc.1!"},
		{"package.json that is none", askPackageJSON, `[1]`, ""},
		{"composer.json", askComposer, `{"require":{"php":"^8","ext-json":"*","a/b":"1.2.3","c/d":"^1"},"require-dev":{"e/f":"*"}}`, "a/b@1.2.3 c/d@ e/f@!"},
		{"pyproject.toml, PEP 621", askPyproject, "[build-system]\nrequires = [\"setuptools\"]\n[project]\nname = \"x\"\ndependencies = [\n  'a==1.0',\n  \"b[x,y]>=2; python_version > '3'\",\n  \"c @ https://example.com/c.whl\",\n]\n[project.scripts]\nrun = \"x:main\"\n",
			"a@1.0 b@ c@"},
		{"pyproject.toml, groups", askPyproject, "[dependency-groups]\ntest = [\"pytest==7.0\"]\n[project.optional-dependencies]\ndocs = ['sphinx']\n", "pytest@7.0 sphinx@"},
		{"pyproject.toml, Poetry", askPyproject, "[tool.poetry.dependencies]\npython = \"^3.8\"\na = \"^1\"\nb = {version = \"2\", extras = [\"x\"]}\n[tool.poetry.group.dev.dependencies]\nc = \"*\"\n", "a@ b@ c@!"},
		{"Pipfile", askPipfile, "[[source]]\nurl = \"x\"\n[packages]\na = \"==1.0\"\n\"b.c\" = \"*\"\n[dev-packages]\nd = \"*\"\n", "a@1.0 b.c@ d@"},
		{"setup.cfg", askSetupCfg, "[options]\ninstall_requires =\n    a>=1\n    b==2.0\ntests_require =\n    c\n", "a@ b@2.0"},
		{"Gemfile", askGems, "gem 'a', '~> 1'\n  gem \"b\", require: false\n# gem 'c'\n", "a@ b@"},
		{"gemspec", askGems, "  spec.add_dependency \"a\", \">= 1\"\n  s.add_development_dependency('b')\n", "a@ b@"},
		{"Cargo.toml", askCargo, "[package]\nname = \"x\"\nversion = \"1.0.0\"\n[dependencies]\na = \"1\"\nb = { version = \"=2.0.0\" }\nc = \"=3.1.0\"\n[target.'cfg(unix)'.dependencies]\nd = \"1\"\n[profile.release]\nlto = true\n", "a@ b@ c@3.1.0 d@"},
		{"pubspec.yaml", askPub, "name: x\nenvironment:\n  sdk: '>=2'\ndependencies:\n  flutter:\n    sdk: flutter\n  a: ^1.0.0\n  b: 2.0.0\ndev_dependencies:\n  c: any\n", "a@ b@2.0.0 c@"},
		{"mix.exs", askMix, "[{:a, \"~> 1.0\"}, {:b, \">= 2.0\", only: :test}, {:c, path: \"../c\"}]", "a@ b@"},
		{"rebar.config", askRebar, "{deps, [{a, \"1.0.0\"}, {b, \"2.0.0\"}]}.", "a@1.0.0 b@2.0.0"},
		{"Package.swift", askSwift, ".package(url: \"https://github.com/a/b.git\", from: \"1.0.0\"), .package(name: \"c\", url: \"https://github.com/c/d\", exact: \"2.0.0\")", "https://github.com/a/b.git@ https://github.com/c/d@2.0.0"},
		{"Podfile", askPods, "pod 'A', '1.0.0'\npod 'B/Sub', '~> 2'\n# pod 'C'\n", "A@1.0.0 B@"},
		{"conanfile.txt", askConan, "[requires]\nzlib/1.2.11\nboost/1.70.0@user/stable\n[generators]\ncmake/3\n", "zlib@1.2.11 boost@1.70.0"},
		{"build.gradle", askGradle, "plugins { id 'org.springframework.boot' version '3.0.0' }\ndependencies {\n implementation 'org.a:b:1.0'\n implementation(\"org.c:d:$v\")\n api platform('org.e:bom:2.0')\n runtimeOnly 'org.f:g'\n implementation project(':core')\n}\n",
			"org.a:b@1.0 org.c:d@ org.e:bom@2.0 org.f:g@"},
		{"build.sbt", askSbt, `libraryDependencies ++= Seq("org.a" %% "b" % "1.0", "org.c" % "d" % version)`, "org.a:b@1.0 org.c:d@"},
		{"deps.edn", askEdn, `{:deps {org.a/b {:mvn/version "1.0"} c/d {:git/sha "x"}}}`, "org.a:b@1.0"},
		{"libman.json", askLibman, `{"libraries":[{"library":"jquery@3.4.0"},{"library":"@a/b@1.0.0"}]}`, "jquery@3.4.0 @a/b@1.0.0"},
		{"deno.lock 3", askDenoLock, `{"version":"3","packages":{"npm":{"a@1.0.0":{},"@b/c@2.0.0_d@1.0.0":{}}}}`, "@b/c@2.0.0 a@1.0.0"},
	} {
		var got []string
		for _, r := range test.asks([]byte(test.text)) {
			line := r.name + "@" + r.version
			if r.dev {
				line += "!"
			}
			got = append(got, line)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got  %s\nwant %s", test.name, strings.Join(got, " "), test.want)
		}
	}
}

func TestMakePURL(t *testing.T) {
	for _, test := range []struct{ ecosystem, name, version, want string }{
		{"npm", "@a/b", "1.0.0", "pkg:npm/%40a/b@1.0.0"},
		{"npm", "lodash", "", "pkg:npm/lodash"},
		{"Maven", "org.a:b", "1.0", "pkg:maven/org.a/b@1.0"},
		{"PyPI", "Flask_Login", "1", "pkg:pypi/flask-login@1"},
		{"Packagist", "a/b", "1", "pkg:composer/a/b@1"},
		{"Nowhere", "a", "1", ""},
	} {
		if got := makePURL(test.ecosystem, test.name, test.version); got != test.want {
			t.Errorf("%s %s: got %s, want %s", test.ecosystem, test.name, got, test.want)
		}
	}
}

func TestLineFinder(t *testing.T) {
	content := []byte("lodash-es\n\"lodash.merge\"\n  \"lodash\": 1\nany.aeson ==1\n")
	for name, want := range map[string]int{"lodash": 3, "lodash-es": 1, "lodash.merge": 2, "aeson": 4, "absent": 0} {
		l := lineFinder{content: content, budget: 1 << 20}
		if got := l.find(name); got != want {
			t.Errorf("%s: got line %d, want %d", name, got, want)
		}
	}
	if l := (&lineFinder{content: content}); l.find("lodash") != 0 {
		t.Error("a finder without budget searched")
	}
}

func TestDevOnly(t *testing.T) {
	for _, test := range []struct {
		groups []string
		want   bool
	}{{nil, false}, {[]string{"dev"}, true}, {[]string{"Development", "test"}, true}, {[]string{"dev", "default"}, false}, {[]string{"provided"}, false}} {
		if got := devOnly(test.groups); got != test.want {
			t.Errorf("%v: got %t", test.groups, got)
		}
	}
}

func TestUnique(t *testing.T) {
	list := []finding.Package{
		{Path: "b", Name: "x", Version: "1", Line: 9, Dev: true, Scope: finding.Transitive},
		{Path: "a", Name: "x", Version: "1", Line: 5},
		{Path: "b", Name: "x", Version: "1", Line: 3, Scope: finding.Direct},
		{Path: "b", Name: "x", Version: "2", Line: 1, Dev: true},
	}
	got := fmt.Sprint(unique(list))
	want := fmt.Sprint([]finding.Package{
		{Path: "a", Name: "x", Version: "1", Line: 5},
		{Path: "b", Name: "x", Version: "1", Line: 3, Scope: finding.Direct},
		{Path: "b", Name: "x", Version: "2", Line: 1, Dev: true},
	})
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWords(t *testing.T) {
	affected := func(name string, m scan.AdvisoryMatch) *match {
		if m.Advisory == nil {
			m.Advisory = &finding.Advisory{ID: "CVE-1", Severity: finding.High}
		}
		return &match{AdvisoryMatch: m, pkg: finding.Package{Ecosystem: "npm", Name: name, Version: "1.0.0"}}
	}
	list := []*match{
		affected("a", scan.AdvisoryMatch{Upgrade: "1.2.0"}), affected("a", scan.AdvisoryMatch{Upgrade: "1.2.0"}),
		affected("b", scan.AdvisoryMatch{Fixed: []string{"0.9.5"}}), affected("c", scan.AdvisoryMatch{}),
		affected("d", scan.AdvisoryMatch{Advisory: &finding.Advisory{ID: "MAL-1", Malicious: true, Severity: finding.Critical}}),
	}
	want := `Upgrade a to 1.2.0 or later.

No later version of b is known to be fixed; 0.9.5 are.

No fixed version of c is known. Replace it, or make sure that the flawed part is not used.

Remove d: the package itself is an attack. Treat every machine that installed it as compromised, and replace its secrets.`
	if got := remedy(list); got != want {
		t.Errorf("got:\n%s", got)
	}
	if r := makeRule(list); r.Severity != finding.Critical {
		t.Errorf("the rule is %s, want the worst of its packages", r.Severity)
	}
	for i, want := range []string{"a 1.0.0 is affected by CVE-1 (fixed in 1.2.0)", "", "b 1.0.0 is affected by CVE-1 (no fixed version is known)", "", "d 1.0.0 is malicious: MAL-1"} {
		if got := makeFinding(list[i]).Message; want != "" && got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("p%02d", i))
	}
	if got := names(many); !strings.HasSuffix(got, "p19 and 10 more") {
		t.Errorf("a long list ends %q", got[len(got)-20:])
	}
	if got := oneLine("a\x1b[31m\nb" + strings.Repeat("é", 400)); strings.ContainsAny(got, "\x1b\n") || len([]rune(got)) > 301 {
		t.Errorf("got %q", got)
	}
}

// TestRoles reads what lock files and the manifests beside them say.
func TestRoles(t *testing.T) {
	inv := func(files map[string]string) *inventory {
		return &inventory{ProjectPass: pass(t, files), files: nameSet(files)}
	}
	for _, test := range []struct {
		file         string
		files        map[string]string
		direct, ours []string
	}{
		{"go.mod", map[string]string{"go.mod": "module x\nrequire (\n a.b/c v1.0.0\n d.e/f v1.0.0 // indirect\n)\nreplace a.b/c => g.h/i v1.1.0\n"}, []string{"a.b/c", "g.h/i", "stdlib"}, nil},
		{"yarn.lock", map[string]string{"yarn.lock": "", "package.json": `{"dependencies":{"a":"1"},"devDependencies":{"b":"1"}}`}, []string{"a", "b"}, nil},
		{"composer.lock", map[string]string{"composer.lock": "", "composer.json": `{"require":{"A/b":"1"}}`}, []string{"a/b"}, nil},
		{"Cargo.lock", map[string]string{"Cargo.lock": "[[package]]\nname = \"me\"\nversion = \"0.1.0\"\ndependencies = [\n \"a\",\n \"b 2.0.0\",\n]\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\ndependencies = [\n \"c\",\n]\n"},
			[]string{"a", "b"}, []string{"me@0.1.0"}},
		{"uv.lock", map[string]string{"uv.lock": "[[package]]\nname = \"me\"\nversion = \"0.1.0\"\nsource = { editable = \".\" }\ndependencies = [\n    { name = \"a\" },\n    { name = \"b\", extra = [\"x\"] },\n]\n\n[[package]]\nname = \"a\"\nversion = \"1\"\nsource = { registry = \"x\" }\n"},
			[]string{"a", "b"}, []string{"me@0.1.0"}},
		{"poetry.lock", map[string]string{"poetry.lock": "", "pyproject.toml": "[tool.poetry.dependencies]\nFlask_Login = \"1\"\n"}, []string{"flask-login"}, nil},
		{"Gemfile.lock", map[string]string{"Gemfile.lock": "PATH\n  specs:\n    me (1.0)\n\nDEPENDENCIES\n  a (~> 1)\n  me!\n\nBUNDLED WITH\n   2\n"}, []string{"a", "me"}, []string{"me@1.0"}},
		{"packages.lock.json", map[string]string{"packages.lock.json": `{"dependencies":{"net6":{"A":{"type":"Direct"},"B":{"type":"Transitive"},"Me":{"type":"Project"}}}}`}, []string{"A"}, []string{"Me@"}},
		{"conan.lock", map[string]string{"conan.lock": "{}"}, nil, nil},
	} {
		r := rolesOf(inv(test.files), test.file, []byte(test.files[test.file]))
		var direct, ours []string
		for name, is := range r.direct {
			if is {
				direct = append(direct, name)
			}
		}
		for name := range r.ours {
			ours = append(ours, name)
		}
		slices.Sort(direct)
		slices.Sort(ours)
		if r.known != (test.direct != nil) || !slices.Equal(direct, test.direct) || !slices.Equal(ours, test.ours) {
			t.Errorf("%s: got known %t, direct %v, ours %v; want %v and %v", test.file, r.known, direct, ours, test.direct, test.ours)
		}
	}
}
