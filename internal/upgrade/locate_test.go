package upgrade

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
)

// files is a tree, and what of it changes: the line that begins with ! becomes the one
// behind it, which begins with >.
type files map[string]string

// before returns the texts without the marks, and as they should become.
func (f files) before() (old, changed map[string]string) {
	old, changed = map[string]string{}, map[string]string{}
	for name, text := range f {
		var a, b strings.Builder
		for line := range strings.Lines(text) {
			switch {
			case strings.HasPrefix(line, "!"):
				a.WriteString(line[1:])
			case strings.HasPrefix(line, ">"):
				b.WriteString(line[1:])
			default:
				a.WriteString(line)
				b.WriteString(line)
			}
		}
		old[name], changed[name] = a.String(), b.String()
	}
	return old, changed
}

func reader(files map[string]string) Reader {
	return func(path string) (string, bool) { text, ok := files[path]; return text, ok }
}

// seen is a package that a scan saw in a file.
func seen(ecosystem, name, version, path string) finding.Package {
	return finding.Package{Ecosystem: ecosystem, Name: name, Version: version, Path: path, Scope: finding.Direct}
}

// inLock is a package of a lock file that a manifest asks for.
func inLock(ecosystem, name, version, lock, manifest string, line int) finding.Package {
	p := seen(ecosystem, name, version, lock)
	p.Manifest = &finding.PackageLocation{Path: manifest, Line: line}
	return p
}

var manifests = []struct {
	name  string
	pkg   finding.Package
	to    string
	files files
}{
	{"package.json", inLock("npm", "lodash", "4.17.15", "package-lock.json", "package.json", 6), "4.17.21", files{"package.json": `{
  "name": "lodash-shop", "scripts": {"lodash": "echo"},
  "peerDependencies": {
    "lodash": ">=3" },
  "dependencies": {
!    "lodash":   "^4.17.1",
>    "lodash":   "^4.17.21",
    "lodash.merge": "^4.0.0"
  }
}
`}},
	{"scoped", seen("npm", "@acme/web", "1.0.0", "web/package.json"), "1.2.0",
		files{"web/package.json": "{\"devDependencies\":{\r\n!\"@acme/web\":\"~1.0.0\"}}\r\n>\"@acme/web\":\"~1.2.0\"}}\r\n"}},
	{"composer.json", inLock("Packagist", "symfony/yaml", "3.4.0", "composer.lock", "composer.json", 3), "3.4.50", files{"composer.json": `{
  "require": {
!    "symfony/yaml": "^3.4|^4.0"
>    "symfony/yaml": "^3.4.50"
  }
}
`}},
	{"go.mod", seen("Go", "golang.org/x/text", "0.3.2", "go.mod"), "0.3.8", files{"go.mod": `module golang.org/x/text

require (
	golang.org/x/text/v2 v2.0.0
!	golang.org/x/text v0.3.2 // indirect
>	golang.org/x/text v0.3.8 // indirect
)
`}},
	{"requirements.txt", seen("PyPI", "django-rest_framework", "2.2.0", "requirements.txt"), "2.2.28", files{"requirements.txt": `# Django-REST.framework==1
djangorestframework==2.2.0
!Django-REST.framework[all]==2.2.0 ; python_version > "3"  # why
>Django-REST.framework[all]==2.2.28 ; python_version > "3"  # why
`}},
	{"range of requirements", seen("PyPI", "django", "2.2.0", "requirements/dev-requirements.txt"), "3.2.1", files{"requirements/dev-requirements.txt": `
!Django >= 2.2, <3
>Django >=3.2.1
`}},
	{"hashes", seen("PyPI", "django", "2.2.0", "requirements.txt"), "3.2.1", files{"requirements.txt": `django==2.2.0 \
    --hash=sha256:aa
`}},
	{"pyproject of PEP 621", inLock("PyPI", "django", "2.2.0", "uv.lock", "pyproject.toml", 4), "2.2.28", files{"pyproject.toml": `[project]
dependencies = [
  "django-filter>=1",
!  "Django[argon2]>=2.2,<3",
>  "Django[argon2]>=2.2.28,<3",
]
`}},
	{"pyproject of Poetry", inLock("PyPI", "django", "2.2.0", "poetry.lock", "pyproject.toml", 2), "2.2.28", files{"pyproject.toml": `[tool.poetry.dependencies]
!django = { version = "^2.2", extras = ["argon2"] }
>django = { version = "^2.2.28", extras = ["argon2"] }
`}},
	{"table of Poetry", inLock("PyPI", "django", "2.2.0", "poetry.lock", "pyproject.toml", 1), "2.2.28", files{"pyproject.toml": `[tool.poetry.dependencies.django]
extras = ["argon2"]
!version = "2.2"
>version = "2.2.28"
`}},
	{"Pipfile", inLock("PyPI", "django", "2.2.0", "Pipfile.lock", "Pipfile", 3), "2.2.28", files{"Pipfile": `[packages]
flask = "*"
!Django = "<3"
>Django = ">=2.2.28"
`}},
	{"star of Pipfile", inLock("PyPI", "flask", "1.0", "Pipfile.lock", "Pipfile", 2), "1.1",
		files{"Pipfile": "[packages]\nflask = \"*\"\n"}},
	{"pom.xml", seen("Maven", "org.acme:core", "1.0", "pom.xml"), "1.1", files{"pom.xml": `<project><dependencies>
  <dependency><groupId>org.acme</groupId><artifactId>core-api</artifactId><version>1.0</version></dependency>
  <dependency>
    <groupId>org.acme</groupId>
    <artifactId>core</artifactId>
!    <version>1.0</version>
>    <version>1.1</version>
  </dependency></dependencies></project>
`}},
	{"property of a parent", seen("Maven", "org.acme:core", "1.0", "app/pom.xml"), "1.1", files{
		"app/pom.xml": `<project><dependencies><dependency><groupId>org.acme</groupId><artifactId>core</artifactId></dependency></dependencies></project>
`, "pom.xml": `<project><properties><other>1.0</other>
!  <acme.version>1.0</acme.version>
>  <acme.version>1.1</acme.version>
</properties><dependencyManagement><dependencies><dependency><groupId>org.acme</groupId><artifactId>core</artifactId>
<version>${acme.version}</version></dependency></dependencies></dependencyManagement></project>
`}},
	{"another version in the pom", seen("Maven", "org.acme:core", "1.0", "pom.xml"), "1.1", files{
		"pom.xml": "<dependency><groupId>org.acme</groupId><artifactId>core</artifactId><version>0.9</version></dependency>\n"}},
	{"build.gradle", seen("Maven", "org.acme:core", "1.0", "build.gradle"), "1.1", files{"build.gradle": `dependencies {
  implementation 'org.acme:core-api:1.0'
!  implementation 'org.acme:core:1.0@jar' // pinned
>  implementation 'org.acme:core:1.1@jar' // pinned
}
`}},
	{"map of Gradle", seen("Maven", "org.acme:core", "1.0", "build.gradle"), "1.1", files{"build.gradle": `
!  implementation group: 'org.acme', name: 'core', version: '1.0'
>  implementation group: 'org.acme', name: 'core', version: '1.1'
`}},
	{"variable of Gradle", seen("Maven", "org.acme:core", "1.0", "app/build.gradle"), "1.1", files{
		"app/build.gradle": "implementation \"org.acme:core:${rootProject.ext.acmeVersion}\"\n",
		"build.gradle":     "ext {\n!  acmeVersion = '1.0'\n>  acmeVersion = '1.1'\n}\n"}},
	{"properties of Gradle", seen("Maven", "org.acme:core", "1.0", "app/build.gradle.kts"), "1.1", files{
		"app/build.gradle.kts": "implementation(\"org.acme:core:$acmeVersion\")\n",
		"gradle.properties":    "x=1.0\n!acmeVersion=1.0\n>acmeVersion=1.1\n"}},
	{"catalog", seen("Maven", "org.acme:core", "1.0", "app/build.gradle.kts"), "1.1",
		files{"app/build.gradle.kts": "implementation(libs.acme.core)\n",
			"gradle/libs.versions.toml": `[versions]
!acme = "1.0"
>acme = "1.1"
[libraries]
acme-core = { module = "org.acme:core", version.ref = "acme" }
`}},
	{"Cargo.toml", inLock("crates.io", "time", "0.1.1", "Cargo.lock", "Cargo.toml", 2), "0.2.23", files{"Cargo.toml": `[dependencies]
!time = { version = "0.1", features = ["std"] }
>time = { version = "0.2.23", features = ["std"] }
`}},
	{"workspace of Cargo", inLock("crates.io", "time", "0.1.1", "Cargo.lock", "crates/a/Cargo.toml", 2), "0.2.23",
		files{
			"crates/a/Cargo.toml": "[dependencies]\ntime = { workspace = true }\n",
			"Cargo.toml":          "[workspace.dependencies]\n!time = \"=0.1.1\"\n>time = \"=0.2.23\"\n"}},
	{"Gemfile", inLock("RubyGems", "rack", "1.6.1", "Gemfile.lock", "Gemfile", 1), "1.6.11",
		files{"Gemfile": "gem 'rack-test', '~> 1.0'\n!gem \"rack\", \"~> 1.6.1\", require: false\n>gem \"rack\", " +
			"\"~> 1.6.11\", require: false\n"}},
	{"project of .NET", seen("NuGet", "Newtonsoft.Json", "12.0.1", "a/a.csproj"), "13.0.1",
		files{"a/a.csproj": "<Project>\n!<PackageReference Include=\"newtonsoft.json\" Version=\"12.0.1\" " +
			"/>\n><PackageReference Include=\"newtonsoft.json\" Version=\"13.0.1\" />\n</Project>\n"}},
	{"central versions of .NET", seen("NuGet", "Newtonsoft.Json", "12.0.1", "a/a.csproj"), "13.0.1",
		files{"a/a.csproj": "<PackageReference Include=\"Newtonsoft.Json\" />\n",
			"Directory.Packages.props": "!  <NewtonsoftVersion>12.0.1</NewtonsoftVersion>\n>  " +
				"<NewtonsoftVersion>13.0.1</NewtonsoftVersion>\n  <PackageVersion Include=\"Newtonsoft.Json\" " +
				"Version=\"$(NewtonsoftVersion)\" />\n"}},
	{"pubspec.yaml", inLock("Pub", "http", "0.13.0", "pubspec.lock", "pubspec.yaml", 3), "0.13.3",
		files{"pubspec.yaml": "dependencies:\n  http_parser: ^4.0.0\n!  http: ^0.13.0 # client\n>  http: ^0.13.3 # " +
			"client\n"}},
	{"mix.exs", inLock("Hex", "plug", "1.3.0", "mix.lock", "mix.exs", 1), "1.3.2", files{"mix.exs": "[{:plug_cowboy, " +
		"\"~> 1.0\"},\n!{:plug, \"~> 1.3\", only: :test}]\n>{:plug, \"~> 1.3.2\", only: :test}]\n"}},
	{"place of npm", seen("npm", "lodash", "4.17.15", "package.json"), "4.17.21",
		files{"package.json": `{"dependencies":{"lodash":"github:lodash/lodash"}}` + "\n"}},
}

// Every sort of manifest is changed in the one place, and stays as it is otherwise.
func TestManifests(t *testing.T) {
	for _, tt := range manifests {
		old, want := tt.files.before()
		n := VulnerablePackage{Match: finding.PackageMatch{Package: tt.pkg, Fixed: []string{tt.to}, Upgrade: tt.to,
			UpgradeAll: tt.to}}
		n.Match.Requirement = Locate(reader(old), &tt.pkg)
		needs := []VulnerablePackage{n, n}
		edits := Edits(needs, Plan(needs, Policy{Level: Auto}))
		got := map[string]string{}
		for name, text := range old {
			var mine []Edit
			for _, e := range edits {
				if e.Path == name {
					mine = append(mine, e)
				}
			}
			changed, err := Apply(text, mine)
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			got[name] = changed
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestApplyToAnotherFile(t *testing.T) {
	pkg := seen("npm", "lodash", "4.17.15", "package.json")
	n := VulnerablePackage{Match: finding.PackageMatch{Package: pkg, Fixed: []string{"4.17.21"}, Upgrade: "4.17.21"}}
	n.Match.Requirement = Locate(reader(map[string]string{"package.json": "{\n\"lodash\": \"4.17.15\"}"}), &pkg)
	edits := Edits([]VulnerablePackage{n}, Plan([]VulnerablePackage{n}, Policy{Level: Auto}))
	if len(edits) != 1 {
		t.Fatalf("got %+v", edits)
	}
	for _, text := range []string{"", "{\n\n\"lodash\": \"4.17.15\"}", "{\n\"lodash\": \"4.17.16\"}"} {
		if got, err := Apply(text, edits); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func FuzzLocate(f *testing.F) {
	for _, tt := range manifests {
		old, _ := tt.files.before()
		for name, text := range old {
			f.Add(tt.pkg.Ecosystem, tt.pkg.Name, tt.pkg.Version, name, text, tt.to)
		}
	}
	f.Fuzz(func(t *testing.T, ecosystem, name, version, path, text, to string) {
		p := seen(ecosystem, name, version, path)
		d := Locate(reader(map[string]string{path: text}), &p)
		if d == nil {
			return
		}
		needs := []VulnerablePackage{{Match: finding.PackageMatch{Package: p, Fixed: []string{to}, Upgrade: to,
			Requirement: d}}}
		if _, err := Apply(text, Edits(needs, Plan(needs, Policy{Level: Auto}))); err != nil {
			t.Error(err)
		}
	})
}
