package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// describeRequirement writes a requirement as the tables do: its line, name and only version, the
// range in braces where it says more, "dev" and "local".
func describeRequirement(r Requirement) string {
	out := fmt.Sprintf("%d %s@%s", r.Line, r.Name, r.Version)
	if r.Wanted != "" && r.Wanted != r.Version {
		out += " {" + r.Wanted + "}"
	}
	if r.Dev {
		out += " dev"
	}
	if r.Local {
		out += " local"
	}
	return out
}

// describeRequirements writes the requirements of a manifest, one a text.
func describeRequirements(list []Requirement) []string {
	var out []string
	for _, r := range list {
		out = append(out, describeRequirement(r))
	}
	return out
}

// lines joins the lines of a manifest.
func lines(text ...string) string { return strings.Join(text, "\n") + "\n" }

// A manifestCase is a manifest with what it asks for.
type manifestCase struct {
	name string
	read func([]byte) ([]Requirement, error)
	text string
	want []string // see describeRequirement
}

// check compares what each manifest asks for, in its order.
func check(t *testing.T, cases []manifestCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			list, err := c.read([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := describeRequirements(list); !slices.Equal(got, c.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"))
			}
		})
	}
}

// TestScriptPackages reads the manifests of JavaScript and PHP.
func TestScriptPackages(t *testing.T) {
	check(t, []manifestCase{
		{"sections of npm", PackageJSON, lines(
			`{`,
			`  "name": "shop",`,
			`  "version": "9.9.9",`,
			`  "dependencies": {`,
			`    "express": "4.18.2",`,
			`    "lodash": "~4.17.0"`,
			`  },`,
			`  "optionalDependencies": { "fsevents": "2.3.3" },`,
			`  "peerDependencies": { "react": "18.0.0" },`,
			`  "devDependencies": { "mocha": "10.2.0", "vitest": ">=1 <2" }`,
			`}`), []string{"5 express@4.18.2", "6 lodash@ {~4.17.0}", "8 fsevents@2.3.3", "10 mocha@10.2.0 dev",
			"10 vitest@ {>=1 <2} dev"}},
		{"versions of npm that are ranges", PackageJSON,
			`{"dependencies":{"a":"1","b":"1.2","c":"1.x","d":"*","e":"","f":"1.0.0 || 2.0.0","g":"1.0.0 - 2.0.0","h":"next"}}`,
			[]string{"1 a@ {1}", "1 b@ {1.2}", "1 c@ {1.x}", "1 d@ {*}", "1 e@", "1 f@ {1.0.0 || 2.0.0}",
				"1 g@ {1.0.0 - 2.0.0}", "1 h@ {next}"}},
		{"one version of npm in other spellings", PackageJSON,
			`{"dependencies":{"a":"v1.2.3","b":"=1.2.3","c":"= 1.2.3","d":" 1.2.3 ","e":"1.2.3-beta.1+build"}}`,
			[]string{"1 a@1.2.3 {v1.2.3}", "1 b@1.2.3 {=1.2.3}", "1 c@1.2.3 {= 1.2.3}", "1 d@1.2.3 { 1.2.3 }",
				"1 e@1.2.3-beta.1+build"}},
		{"aliases of npm", PackageJSON,
			`{"dependencies":{"old":"npm:lodash@3.10.1","scoped":"npm:@corp/ui@^2","bare":"npm:left-pad","own":"npm:@corp/kit"}}`,
			[]string{"1 lodash@3.10.1", "1 @corp/ui@ {^2}", "1 left-pad@", "1 @corp/kit@"}},
		{"packages of npm in the file system", PackageJSON,
			`{"dependencies":{"a":"file:../a","b":"link:./b","c":"workspace:^","d":"portal:../d","e":"./e","f":"../f","g":"~/g","h":"/opt/h","i":"..","j":"~1.0.0"}}`,
			[]string{"1 a@ {file:../a} local", "1 b@ {link:./b} local", "1 c@ {workspace:^} local",
				"1 d@ {portal:../d} local", "1 e@ {./e} local", "1 f@ {../f} local", "1 g@ {~/g} local",
				"1 h@ {/opt/h} local", "1 i@ {..} local", "1 j@ {~1.0.0}"}},
		{"repositories and archives of npm", PackageJSON,
			`{"dependencies":{"a":"git+https://example.org/a.git#v1.0.0","b":"acme/b","c":"https://example.org/c-1.0.0.tgz"}}`,
			[]string{"1 a@ {git+https://example.org/a.git#v1.0.0}", "1 b@ {acme/b}",
				"1 c@ {https://example.org/c-1.0.0.tgz}"}},
		{"npm without packages", PackageJSON, `{"name":"x","dependencies":{}}`, nil},
		{"sections of another type", PackageJSON, `{"dependencies":"express","devDependencies":null}`, nil},

		{"sections of Composer", Composer, lines(
			`{`,
			`  "require": {`,
			`    "php": ">=8.1",`,
			`    "ext-mbstring": "*",`,
			`    "lib-openssl": "*",`,
			`    "monolog/monolog": "2.9.1",`,
			`    "symfony/console": "^6.3"`,
			`  },`,
			`  "require-dev": { "phpunit/phpunit": "v10.0.0" },`,
			`  "suggest": { "acme/extra": "for more" },`,
			`  "conflict": { "acme/old": "1.0.0" }`,
			`}`), []string{"6 monolog/monolog@2.9.1", "7 symfony/console@ {^6.3}",
			"9 phpunit/phpunit@10.0.0 {v10.0.0} dev"}},
		{"branches and stability of Composer", Composer,
			`{"require":{"a/a":"dev-main","b/b":"1.0.*","c/c":"1.0.0@dev","d/d":"1.0.0|2.0.0"}}`,
			[]string{"1 a/a@ {dev-main}", "1 b/b@ {1.0.*}", "1 c/c@ {1.0.0@dev}", "1 d/d@ {1.0.0|2.0.0}"}},

		{"libraries of LibMan", Libman, lines(
			`{`,
			`  "version": "1.0",`,
			`  "defaultProvider": "cdnjs",`,
			`  "libraries": [`,
			`    { "library": "jquery@3.6.0", "destination": "wwwroot/lib" },`,
			`    { "provider": "unpkg", "library": "@popperjs/core@2.11.8" },`,
			`    { "provider": "filesystem", "library": "../ours@1.0.0" },`,
			`    { "library": "bootstrap" },`,
			`    { "library": "vue@latest" },`,
			`    { "destination": "nowhere" }`,
			`  ]`,
			`}`), []string{"5 jquery@3.6.0", "6 @popperjs/core@2.11.8", "8 bootstrap@", "9 vue@ {latest}"}},
		{"LibMan of the file system", Libman,
			`{"defaultProvider":"filesystem","libraries":[{"library":"../a"},{"provider":"cdnjs","library":"b@1.0.0"}]}`,
			[]string{"1 b@1.0.0"}},
	})
}

// TestPythonPackages reads the manifests of Python: lists of PEP 508 and tables of Poetry and Pipenv.
func TestPythonPackages(t *testing.T) {
	check(t, []manifestCase{
		{"PEP 621", Pyproject, lines(
			`[project]`,
			`name = "shop"`,
			`version = "1.0.0"`,
			`dependencies = [`,
			`  "requests==2.31.0",`,
			`  "Flask >= 2.0, < 3",`,
			`  "uvicorn[standard]==0.23.2 ; python_version >= '3.8'",`,
			`  "local-lib @ file:///srv/lib",`,
			`  "remote @ https://example.org/remote-1.0.whl",`,
			`]`,
			`[project.optional-dependencies]`,
			`docs = ["Sphinx==7.0.0"]`),
			[]string{"5 requests@2.31.0 {==2.31.0}", "6 Flask@ {>= 2.0, < 3}",
				"7 uvicorn@0.23.2 {[standard]==0.23.2 ; python_version >= '3.8'}",
				"8 local-lib@ {@ file:///srv/lib} local", "9 remote@ {@ https://example.org/remote-1.0.whl}",
				"12 Sphinx@7.0.0 {==7.0.0}"}},
		{"groups of PEP 735, with one that includes another", Pyproject, lines(
			`[dependency-groups]`,
			`test = ["pytest==7.4.0", {include-group = "lint"}]`,
			`lint = ["ruff>=0.1"]`),
			[]string{"2 pytest@7.4.0 {==7.4.0} dev", "3 ruff@ {>=0.1} dev"}},
		{"groups of PDM", Pyproject, lines(
			`[tool.pdm.dev-dependencies]`,
			`test = ["coverage==7.3.0"]`), []string{"2 coverage@7.3.0 {==7.3.0} dev"}},
		{"Poetry", Pyproject, lines(
			`[tool.poetry.dependencies]`,
			`python = "^3.9"`,
			`django = "4.2.1"`,
			`celery = "==5.3.0"`,
			`redis = "^5.0"`,
			`numpy = "*"`,
			`psycopg = { version = "3.1.9", extras = ["binary"] }`,
			`ours = { path = "../ours", develop = true }`,
			`[tool.poetry.dev-dependencies]`,
			`black = "23.7.0"`,
			`[tool.poetry.group.main.dependencies]`,
			`httpx = "0.24.1"`,
			`[tool.poetry.group.docs.dependencies]`,
			`mkdocs = "~1.5"`),
			[]string{"3 django@4.2.1", "4 celery@5.3.0 {==5.3.0}", "5 redis@ {^5.0}", "6 numpy@ {*}",
				"7 psycopg@3.1.9", "8 ours@ local", "10 black@23.7.0 dev", "12 httpx@0.24.1",
				"14 mkdocs@ {~1.5} dev"}},
		{"build requirements alone", Pyproject, lines(
			`[build-system]`,
			`requires = ["hatchling==1.0"]`), nil},

		{"Pipfile", Pipfile, lines(
			`[[source]]`,
			`url = "https://pypi.org/simple"`,
			`[requires]`,
			`python_version = "3.11"`,
			`[packages]`,
			`flask = "==2.3.2"`,
			`gunicorn = "*"`,
			`sentry = { version = "==1.29.0", extras = ["flask"] }`,
			`shared = { path = "./shared", editable = true }`,
			`repo = { git = "https://example.org/repo.git", ref = "v1" }`,
			`[dev-packages]`,
			`pytest = ">=7"`,
			`[docs-packages]`,
			`sphinx = "==7.1.0"`),
			[]string{"6 flask@2.3.2 {==2.3.2}", "7 gunicorn@ {*}", "8 sentry@1.29.0 {==1.29.0}", "9 shared@ local",
				"10 repo@", "12 pytest@ {>=7} dev", "14 sphinx@7.1.0 {==7.1.0}"}},

		{"setup.cfg", SetupCfg, lines(
			`[metadata]`,
			`name = shop`,
			`[options]`,
			`packages = find:`,
			`install_requires =`,
			`    requests==2.31.0`,
			`    # urllib3==1.0`,
			`    click>=8.0`,
			`    boto3[crt]==1.28.0`,
			`python_requires = >=3.8`,
			`[options.extras_require]`,
			`test =`,
			`    pytest==7.4.0`),
			[]string{"6 requests@2.31.0", "8 click@", "9 boto3@1.28.0"}},
		{"setup.cfg without requirements", SetupCfg, "[flake8]\nmax-line-length = 100\n", nil},

		{"conda", Conda, lines(
			`name: science`,
			`channels:`,
			`  - conda-forge`,
			`dependencies:`,
			`  - python=3.11.4`,
			`  - numpy=1.25`,
			`  - Scipy==1.11.1`,
			`  - conda-forge::pandas=2.0.3=py311h320fe9a_0`,
			`  - openssl>=3.0,<4`,
			`  - blas=*=openblas`,
			`  - pytorch[version=2.0]`,
			`  - pip`,
			`  - pip:`,
			`      - fastapi==0.100.0`),
			[]string{"5 python@3.11.4 {=3.11.4}", "6 numpy@ {=1.25}", "7 scipy@1.11.1 {==1.11.1}",
				"8 pandas@2.0.3 {=2.0.3=py311h320fe9a_0}", "9 openssl@ {>=3.0,<4}", "10 blas@ {=*=openblas}",
				"11 pytorch@", "12 pip@"}},
		{"pip within conda", CondaPip, lines(
			`dependencies:`,
			`  - python=3.11`,
			`  - pip:`,
			`      - fastapi==0.100.0`,
			`      - -r requirements.txt`,
			`      - pydantic<2`),
			[]string{"4 fastapi@0.100.0 {==0.100.0}", "6 pydantic@ {<2}"}},
		{"settings of another tool named environment.yml", Conda, "production:\n  url: https://example.org\n", nil},
	})
}

// TestPythonRequirement reads single requirements of PEP 508.
func TestPythonRequirement(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // see describeRequirement; "": not a requirement
	}{
		{"requests", "0 requests@"},
		{" requests == 2.31.0 ", "0 requests@2.31.0 {== 2.31.0}"},
		{"requests (==2.31.0)", "0 requests@2.31.0 {(==2.31.0)}"},
		{"zope.interface==5.0", "0 zope.interface@5.0 {==5.0}"},
		{"a==1.0rc1", "0 a@1.0rc1 {==1.0rc1}"},
		{"a==1.0+local.1", "0 a@1.0+local.1 {==1.0+local.1}"},
		{"a==1.*", "0 a@ {==1.*}"},
		{"a==1.0,!=1.1", "0 a@ {==1.0,!=1.1}"},
		{"a!=1.0", "0 a@ {!=1.0}"},
		{"a~=1.0", "0 a@ {~=1.0}"},
		{"a[x]==1.0", "0 a@1.0 {[x]==1.0}"},
		{"a==1.0; sys_platform == 'win32'", "0 a@1.0 {==1.0; sys_platform == 'win32'}"},
		{"a @ file:///srv/a.whl", "0 a@ {@ file:///srv/a.whl} local"},
		{"a @ git+https://example.org/a@v1.0", "0 a@ {@ git+https://example.org/a@v1.0}"},
		{"-r other.txt", ""},
		{"--index-url https://example.org", ""},
		{"# a==1.0", ""},
		{"", ""},
	} {
		r, ok := Python(c.text)
		got := ""
		if ok {
			got = describeRequirement(r)
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// TestSystemPackages reads the manifests of Rust, Dart, Elixir, Erlang, Haskell and C++.
func TestSystemPackages(t *testing.T) {
	check(t, []manifestCase{
		{"sections of Cargo", Cargo, lines(
			`[package]`,
			`name = "shop"`,
			`version = "0.1.0"`,
			`[dependencies]`,
			`serde = "1.0.188"`,
			`regex = "=1.9.5"`,
			`tokio = { version = "=1.32.0", features = ["full"] }`,
			`json = { package = "serde_json", version = "1" }`,
			`ours = { path = "../ours", version = "0.1" }`,
			`fork = { git = "https://example.org/fork", path = "crates/fork" }`,
			`shared = { workspace = true }`,
			`[build-dependencies]`,
			`cc = "=1.0.83"`,
			`[dev-dependencies]`,
			`proptest = "1.2"`,
			`[target.'cfg(windows)'.dependencies]`,
			`winapi = "=0.3.9"`,
			`[features]`,
			`full = ["tokio"]`),
			[]string{"5 serde@ {1.0.188}", "6 regex@1.9.5 {=1.9.5}", "7 tokio@1.32.0 {=1.32.0}",
				"8 serde_json@ {1}", "9 ours@ {0.1} local", "10 fork@", "13 cc@1.0.83 {=1.0.83}",
				"15 proptest@ {1.2} dev", "17 winapi@0.3.9 {=0.3.9}"}},
		{"a workspace of Cargo", Cargo, lines(
			`[workspace]`,
			`members = ["a"]`,
			`[workspace.dependencies]`,
			`serde = "=1.0.1"`), []string{"4 serde@1.0.1 {=1.0.1}"}},
		{"a table of its own for one crate", Cargo, lines(
			`[dependencies.hyper]`,
			`version = "=0.14.27"`), []string{"1 hyper@0.14.27 {=0.14.27}"}},

		{"sections of Pub", Pubspec, lines(
			`name: shop`,
			`dependencies:`,
			`  flutter:`,
			`    sdk: flutter`,
			`  http: 1.1.0`,
			`  path: ^1.8.0`,
			`  intl: any`,
			`  ours:`,
			`    path: ../ours`,
			`  hosted_one:`,
			`    hosted: https://pub.example.org`,
			`    version: 2.0.0`,
			`  bare:`,
			`dev_dependencies:`,
			`  flutter_test:`,
			`    sdk: flutter`,
			`  lints: ">=2.0.0 <3.0.0"`),
			[]string{"5 http@1.1.0", "6 path@ {^1.8.0}", "7 intl@ {any}", "8 ours@ local", "10 hosted_one@2.0.0",
				"13 bare@", "17 lints@ {>=2.0.0 <3.0.0} dev"}},

		{"Mix", Mix, lines(
			`defmodule Shop.MixProject do`,
			`  defp deps do`,
			`    [`,
			`      {:phoenix, "~> 1.7"},`,
			`      {:ecto, "== 3.10.3"},`,
			`      # {:old, "1.0"},`,
			`      {:credo, "~> 1.7", only: [:dev, :test], runtime: false},`,
			`      {:ex_doc, ">= 0.0.0", only: :dev},`,
			`      {:telemetry, "~> 1.0", only: [:prod, :test]},`,
			`      {:ours, path: "../ours"},`,
			`      {:sibling, in_umbrella: true},`,
			`      {:ok, result}`,
			`    ]`,
			`  end`,
			`end`),
			[]string{`4 phoenix@ {"~> 1.7"}`, `5 ecto@3.10.3 {"== 3.10.3"}`,
				`7 credo@ {"~> 1.7", only: [:dev, :test], runtime: false} dev`,
				`8 ex_doc@ {">= 0.0.0", only: :dev} dev`, `9 telemetry@ {"~> 1.0", only: [:prod, :test]}`,
				`10 ours@ {path: "../ours"} local`, `11 sibling@ {in_umbrella: true} local`}},
		{"rebar", Rebar, lines(
			`{erl_opts, [debug_info, {parse_transform, "x"}]}.`,
			``,
			`{deps, [`,
			`  {cowboy, "2.10.0"},`,
			`  {jsx, "~> 3.1"},`,
			`  % {old, "1.0.0"},`,
			`  {ranch, {git, "https://example.org/ranch.git", {tag, "2.1.0"}}},`,
			`  {alias, {pkg, real}}`,
			`]}.`,
			`{plugins, [{plug, "1.0.0"}]}.`),
			[]string{"4 cowboy@2.10.0", "5 jsx@", "7 ranch@", "8 alias@"}},
		{"rebar without packages", Rebar, "{erl_opts, [debug_info]}.\n", nil},

		{"extra packages of Stack", Stack, lines(
			`resolver: lts-21.6`,
			`extra-deps:`,
			`- aeson-2.1.2.1`,
			`- text-icu-0.8.0.2@sha256:0aa1,100`,
			`- ../local`,
			`- git: https://example.org/x`,
			`  commit: abc`,
			`flags: {}`), []string{"3 aeson@2.1.2.1", "4 text-icu@0.8.0.2"}},

		{"conanfile.txt", Conan, lines(
			`[requires]`,
			`zlib/1.2.13`,
			`# openssl/1.0.2`,
			`boost/1.83.0#revision`,
			`fmt/[>=9 <10]`,
			`[tool_requires]`,
			`cmake/3.27.1`,
			`[options]`,
			`zlib/*:shared=True`),
			[]string{"2 zlib@1.2.13", "4 boost@1.83.0", "5 fmt@ {[>=9 <10]}", "7 cmake@3.27.1"}},
		{"conanfile.py", Conan, lines(
			`class Shop(ConanFile):`,
			`    settings = "os"`,
			`    def requirements(self):`,
			`        self.requires("zlib/1.2.13")`,
			`        self.requires("fmt/[>=9 <10]")`,
			`        # self.requires("old/1.0")`,
			`        self.requires("poco/1.12.4@acme/stable")`),
			[]string{"4 zlib@1.2.13", "5 fmt@ {[>=9 <10]}", "7 poco@1.12.4"}},
	})
}

// TestRubyPackages reads Gemfiles, gemspecs and Podfiles, which are programs of Ruby.
func TestRubyPackages(t *testing.T) {
	check(t, []manifestCase{
		{"Gemfile", Gems, lines(
			`source "https://rubygems.org"`,
			`ruby "3.2.2"`,
			`gem "rails", "7.0.7"`,
			`gem 'pg', '~> 1.5'`,
			`gem("puma", "= 6.3.0")`,
			`# gem "old", "1.0"`,
			`gem "ours", path: "../ours"`,
			`gem "theirs", :path => "../theirs"`,
			`gem "rubocop", "1.56.0", group: :development`,
			`gem "both", group: [:development, :production]`,
			`gem "rails", "6.0.0"`),
			[]string{`3 rails@7.0.7 {, "7.0.7"}`, `4 pg@ {, '~> 1.5'}`, `5 puma@6.3.0 {, "= 6.3.0")}`,
				`7 ours@ {, path: "../ours"} local`, `8 theirs@ {, :path => "../theirs"} local`,
				`9 rubocop@1.56.0 {, "1.56.0", group: :development} dev`,
				`10 both@ {, group: [:development, :production]}`}},
		{"gemspec", Gems, lines(
			`Gem::Specification.new do |spec|`,
			`  spec.name = "ours"`,
			`  spec.add_dependency "rack", "2.2.8"`,
			`  spec.add_runtime_dependency "json", ">= 2.0"`,
			`  spec.add_development_dependency "rspec", "3.12.0"`,
			`end`),
			[]string{`3 rack@2.2.8 {, "2.2.8"}`, `4 json@ {, ">= 2.0"}`, `5 rspec@3.12.0 {, "3.12.0"} dev`}},

		{"Podfile", Pods, lines(
			`platform :ios, '13.0'`,
			`target 'Shop' do`,
			`  pod 'Alamofire', '5.7.1'`,
			`  pod 'Firebase/Auth', '~> 10.0'`,
			`  pod 'Ours', :path => '../ours'`,
			`  # pod 'Old', '1.0'`,
			`  pod 'Alamofire', '4.0.0'`,
			`end`),
			[]string{"3 Alamofire@5.7.1", "4 Firebase@ {, '~> 10.0'}", "5 Ours@ {, :path => '../ours'} local"}},
	})
}

// TestGemsInDevelopment follows the blocks of a Gemfile.
func TestGemsInDevelopment(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // gems of development
	}{
		{"a block", "group :test do\n  gem 'a'\nend\ngem 'b'\n", "a"},
		{"a block of several groups", "group :development, :test do\n  gem 'a'\nend\n", "a"},
		{"a block of a group that is shipped", "group :test, :production do\n  gem 'a'\nend\n", ""},
		{"an optional group", "group :docs, optional: true do\n  gem 'a'\nend\n", "a"},
		{"a block within a block", "group :test do\n  platforms :ruby do\n    gem 'a'\n  end\n  gem 'b'\nend\ngem 'c'\n",
			"a b"},
		{"a group within a source", "source 'https://example.org' do\n  gem 'a'\n  group :test do\n    gem 'b'\n  end\n" +
			"  gem 'c'\nend\n", "b"},
		{"conditions", "group :test do\n  if RUBY_VERSION > '3'\n    gem 'a'\n  else\n    gem 'b'\n  end\nend\ngem 'c'\n",
			"a b"},
		{"a condition behind a statement", "group :test do\n  gem 'a' if x\nend\ngem 'b'\n", "a"},
		{"an option that says more than the block", "group :test do\n  gem 'a', group: :production\nend\n", ""},
		{"the option of the old form", "gem 'a', :group => :test\ngem 'b', :groups => [:test, :default]\n", "a"},
		{"in two groups", "group :test do\n  gem 'a'\nend\ngem 'a'\n", ""},
		{"in two groups, the other way round", "gem 'a'\ngroup :test do\n  gem 'a'\nend\n", ""},
		{"comments", "# group :test do\ngem 'a'\n# end\n", ""},
		{"an end too many", "end\nend\ngroup :test do\n  gem 'a'\nend\n", "a"},
	} {
		var got []string
		for name, dev := range GemsInDevelopment(c.text) {
			if dev {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestPlatformPackages reads the manifests of .NET, Swift, Scala and Clojure.
func TestPlatformPackages(t *testing.T) {
	check(t, []manifestCase{
		{"nuspec", Nuspec, lines(
			`<?xml version="1.0"?>`,
			`<package>`,
			`  <metadata>`,
			`    <id>Shop</id>`,
			`    <version>1.0.0</version>`,
			`    <dependencies>`,
			`      <dependency id="Newtonsoft.Json" version="13.0.3" />`,
			`      <group targetFramework="net6.0">`,
			`        <dependency id="Serilog" version="[2.12.0, 3.0.0)" />`,
			`        <dependency id="Dapper" version="[2.0.143]" />`,
			`        <dependency id="Ours" version="$version$" />`,
			`        <dependency id="$id$.Core" version="1.0.0" />`,
			`        <dependency id="Bare" />`,
			`      </group>`,
			`    </dependencies>`,
			`  </metadata>`,
			`</package>`),
			[]string{"7 Newtonsoft.Json@13.0.3", "9 Serilog@2.12.0 {[2.12.0, 3.0.0)}", "10 Dapper@2.0.143 {[2.0.143]}",
				"11 Ours@ {$version$}", "13 Bare@"}},
		{"Paket", Paket, lines(
			`source https://api.nuget.org/v3/index.json`,
			`storage: none`,
			`nuget FSharp.Core 7.0.300`,
			`nuget Serilog >= 2.0`,
			`nuget Dapper`,
			`nuget "Quoted" 1.0.0`,
			`clitool dotnet-fake 5.23.1`,
			`// nuget Old 1.0.0`,
			`github fsharp/FAKE`,
			`group Build`,
			`    nuget Fake.Core 6.0.0 restriction: >= net6.0`),
			[]string{"3 FSharp.Core@7.0.300", "4 Serilog@ {>= 2.0}", "5 Dapper@", "6 Quoted@1.0.0", "7 dotnet-fake@5.23.1",
				"11 Fake.Core@6.0.0"}},

		{"Package.swift", Swift, lines(
			`// swift-tools-version:5.8`,
			`let package = Package(`,
			`    dependencies: [`,
			`        .package(url: "https://github.com/vapor/vapor.git", from: "4.77.0"),`,
			`        .package(url: "git@github.com:apple/swift-log.git", exact: "1.5.2"),`,
			`        .package(name: "NIO", url: "https://github.com/apple/swift-nio", .exact("2.57.0")),`,
			`        // .package(url: "https://github.com/old/old", exact: "1.0.0"),`,
			`        .package(path: "../Ours"),`,
			`    ]`,
			`)`),
			[]string{"4 github.com/vapor/vapor@", "5 github.com/apple/swift-log@1.5.2",
				"6 github.com/apple/swift-nio@2.57.0"}},

		{"build.sbt", Sbt, lines(
			`scalaVersion := "3.3.0"`,
			`libraryDependencies ++= Seq(`,
			`  "org.typelevel" %% "cats-core" % "2.9.0",`,
			`  "com.typesafe" % "config" % configVersion,`,
			`  "org.scalatest" %% "scalatest" % "3.2.16" % Test,`,
			`  "org.specs" %% "specs2" % "4.20.0" % "test",`,
			`  // "org.old" % "old" % "1.0",`,
			`  "org.scala-js" %%% "dom" % "2.6.0"`,
			`)`),
			[]string{"3 org.typelevel:cats-core@2.9.0", "4 com.typesafe:config@ {configVersion}",
				"5 org.scalatest:scalatest@3.2.16 {3.2.16 % Test} dev",
				`6 org.specs:specs2@4.20.0 {4.20.0 % "test"} dev`, "8 org.scala-js:dom@2.6.0"}},

		{"deps.edn", Edn, lines(
			`{:paths ["src"]`,
			` :deps {org.clojure/clojure {:mvn/version "1.11.1"}`,
			`        cheshire {:mvn/version "5.11.0"}`,
			`        ;; old/old {:mvn/version "1.0.0"}`,
			`        io.github.a/b {:git/tag "v1" :git/sha "abc"}`,
			`        c/c {:exclusions [d/d] :mvn/version "2.0"}}}`),
			[]string{"2 org.clojure:clojure@1.11.1", "3 cheshire:cheshire@5.11.0", "6 c:c@2.0"}},
		{"project.clj", Leiningen, lines(
			`(defproject shop "0.1.0"`,
			`  :dependencies [[org.clojure/clojure "1.11.1"]`,
			`                 ; [old "1.0.0"]`,
			`                 [compojure "1.7.0" :exclusions [ring/ring-core]]])`),
			[]string{"2 org.clojure:clojure@1.11.1", "4 compojure:compojure@1.7.0"}},
	})
}

// TestSwiftName gives one package one name, whatever its address is written like.
func TestSwiftName(t *testing.T) {
	for _, address := range []string{"https://github.com/a/b", "https://github.com/a/b.git", "http://github.com/a/b/",
		"git@github.com:a/b.git", "ssh://git@github.com/a/b.git", "git://github.com/a/b"} {
		if got := SwiftName(address); got != "github.com/a/b" {
			t.Errorf("%s is named %s", address, got)
		}
	}
	if got := SwiftName("https://git.example.org:8443/a/b.git"); got != "git.example.org:8443/a/b" {
		t.Errorf("the port is lost: %s", got)
	}
}

// TestNuGetVersion takes the lowest version that a range of NuGet allows.
func TestNuGetVersion(t *testing.T) {
	for wanted, want := range map[string]string{
		"1.0.0": "1.0.0", " 1.0.0 ": "1.0.0", "[1.0.0]": "1.0.0", "[1.0.0,2.0.0)": "1.0.0", "[1.0, 2.0]": "1.0",
		"[1.0,)": "1.0", "(1.0,2.0)": "", "(,1.0]": "", "[,1.0]": "", "1.*": "", "*": "", "$(Version)": "", "": "",
		"1.0.0-beta.2": "1.0.0-beta.2", "latest": "",
	} {
		if got := NuGetVersion(wanted); got != want {
			t.Errorf("%q: got %q, want %q", wanted, got, want)
		}
	}
}

// TestRefusals gives texts that are not in the form of their manifest: the error says where.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		read func([]byte) ([]Requirement, error)
		text string
	}{
		{"package.json", PackageJSON, "{\n  \"dependencies\": {\n    \"a\" \"1.0.0\"\n  }\n}"},
		{"package.json that ends early", PackageJSON, `{"dependencies": {"a": "1.0.0"`},
		{"composer.json", Composer, "{\n  \"require\": [1,,2]\n}"},
		{"libman.json", Libman, "{\n  libraries\n}"},
		{"pyproject.toml", Pyproject, "[project\nname = 'x'\n"},
		{"pyproject.toml with a list that ends early", Pyproject, "[project]\ndependencies = [\"a\"\n"},
		{"Pipfile", Pipfile, "[packages]\na == '1'\n"},
		{"Cargo.toml", Cargo, "[dependencies]\na = \n"},
		{"a nuspec", Nuspec, "<package><metadata"},
	} {
		list, err := c.read([]byte(c.text))
		if err == nil {
			t.Errorf("%s: no error, but %v", c.name, describeRequirements(list))
		} else if !strings.Contains(err.Error(), "line") && !strings.Contains(err.Error(), "end") {
			t.Errorf("%s: %q does not say where", c.name, err)
		}
		if len(list) > 0 {
			t.Errorf("%s: requirements beside the error: %v", c.name, describeRequirements(list))
		}
	}
}

// TestKinds finds the kinds of manifests by the name of a file.
func TestKinds(t *testing.T) {
	for file, want := range map[string]string{
		"package.json": "npm", "a/b/package.json": "npm", "package.json.bak": "", "my-package.json": "",
		"shop.gemspec": "RubyGems", "lib/Gemfile": "RubyGems", "Gemfile.lock": "", "environment.yml": "PyPI conda",
		"environment.yaml": "PyPI conda", "build.sbt": "Maven", "project/plugins.sbt": "Maven", "Shop.nuspec": "NuGet",
		"Cargo.toml": "crates.io", "cargo.toml": "", "conanfile.txt": "ConanCenter", "conanfile.py": "ConanCenter",
		"Package.swift": "SwiftURL", "stack.yaml": "Hackage", "README.md": "", "package.json/readme": "",
	} {
		var got []string
		for _, k := range Kinds {
			if k.Matches(file) {
				got = append(got, k.Ecosystem)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
}

// TestManyRequirements stops reading a program that asks for more than any project does.
func TestManyRequirements(t *testing.T) {
	var text strings.Builder
	for n := range maxRequirements + 10 {
		fmt.Fprintf(&text, "pod 'P%d', '1.0.0'\n", n)
	}
	list, err := Pods([]byte(text.String()))
	if err != nil || len(list) != maxRequirements {
		t.Errorf("%d requirements, %v", len(list), err)
	}
	if last := list[len(list)-1]; last.Line != maxRequirements {
		t.Errorf("the last one stands in line %d", last.Line)
	}
}
