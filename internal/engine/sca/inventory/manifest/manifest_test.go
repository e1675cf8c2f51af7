package manifest

import (
	"strings"
	"testing"
)

// TestAsks gives manifests in the forms that people write.
func TestAsks(t *testing.T) {
	for _, test := range []struct {
		name string
		asks func([]byte) ([]Requirement, error)
		text string
		want string // name@version, with ! behind what is for development
	}{
		{"package.json", PackageJSON,
			`{"dependencies":{"b":"^1.0.0","a":"1.2.3","c":"v2.0.0","d":"=3.0.0","e":"1","f":"latest"},"devDependencies":{"g":"1.0.0-rc.1"}}`,
			"b@ a@1.2.3 c@2.0.0 d@3.0.0 e@ f@ g@1.0.0-rc.1!"},
		{"package.json that is none", PackageJSON, `[1]`, ""},
		{"package.json, alias and place", PackageJSON,
			`{"dependencies":{"x":"npm:@s/real@1.2.3","y":"file:../y","z":"workspace:*"}}`, "@s/real@1.2.3"},
		{"composer.json", Composer,
			`{"require":{"php":"^8","ext-json":"*","a/b":"1.2.3","c/d":"^1"},"require-dev":{"e/f":"*"}}`,
			"a/b@1.2.3 c/d@ e/f@!"},
		{"pyproject.toml, PEP 621", Pyproject, "[build-system]\nrequires = [\"setuptools\"]\n[project]\nname = " +
			"\"x\"\ndependencies = [\n  'a==1.0',\n  \"b[x,y]>=2; python_version > '3'\",\n  \"c @ " +
			"https://example.com/c.whl\",\n]\n[project.scripts]\nrun = \"x:main\"\n",
			"a@1.0 b@ c@"},
		{"pyproject.toml, groups", Pyproject, "[dependency-groups]\ntest = " +
			"[\"pytest==7.0\"]\n[project.optional-dependencies]\ndocs = ['sphinx']\n", "sphinx@ pytest@7.0!"},
		{"pyproject.toml, Poetry", Pyproject, "[tool.poetry.dependencies]\npython = \"^3.8\"\na = \"^1\"\nb = " +
			"{version = \"2\", extras = [\"x\"]}\n[tool.poetry.group.dev.dependencies]\nc = \"*\"\n", "a@ b@ c@!"},
		{"Pipfile", Pipfile, "[[source]]\nurl = \"x\"\n[packages]\na = \"==1.0\"\n\"b.c\" = \"*\"\n[dev-packages]\nd " +
			"= \"*\"\n", "a@1.0 b.c@ d@!"},
		{"setup.cfg", SetupCfg, "[options]\ninstall_requires =\n    a>=1\n    b==2.0\ntests_require " +
			"=\n    c\n", "a@ b@2.0"},
		{"Gemfile", Gems, "gem 'a', '~> 1'\n  gem \"b\", require: false\n# gem 'c'\n", "a@ b@"},
		{"Gemfile, groups", Gems, "gem 'a', '1.2.3'\ngroup :development, :test do\n  gem 'b', '= 2.0'\n  if x\n    " +
			"gem 'c'\n  end\nend\ngem 'd', group: :test\ngem 'e', path: 'e'\ngroup :test, :production do\n gem " +
			"'f'\nend\n", "a@1.2.3 b@2.0! c@! d@! f@"},
		{"rebar.config, git", Rebar, "{erl_opts, [debug_info]}.\n{deps, [{a, \"1.0.0\"}, {b, {git, " +
			"\"https://example.com/b\", {tag, \"2.0\"}}}, {c, \"~> 1\"}]}.\n", "a@1.0.0 b@ c@"},
		{"conanfile.py", Conan, "class A(ConanFile):\n    requires = \"zlib/1.2.11\", \"boost/[>1.70]@user/stable\"\n",
			"zlib@1.2.11 boost@"},
		{"project.clj", Leiningen, "(defproject x \"1.0\"\n :dependencies [[org.clojure/clojure \"1.10.0\"] [ring " +
			"\"1.8.0\"]])", "org.clojure:clojure@1.10.0 ring:ring@1.8.0"},
		{"nuspec", Nuspec, `<package><metadata><dependencies><group><dependency id="A" version="[1.0.0]"/><dependency id="B" version="[1.0,2.0)"/><dependency id="C" version="1.*"/></group></dependencies></metadata></package>`, "A@1.0.0 B@1.0 C@"},
		{"gemspec", Gems, "  spec.add_dependency \"a\", \">= 1\"\n  s.add_development_dependency('b')\n", "a@ b@!"},
		{"Cargo.toml", Cargo, "[package]\nname = \"x\"\nversion = \"1.0.0\"\n[dependencies]\na = \"1\"\nb = { " +
			"version = \"=2.0.0\" }\nc = \"=3.1.0\"\n[target.'cfg(unix)'.dependencies]\nd = " +
			"\"1\"\n[profile.release]\nlto = true\n", "a@ b@2.0.0 c@3.1.0 d@"},
		{"pubspec.yaml", Pubspec, "name: x\nenvironment:\n  sdk: '>=2'\ndependencies:\n  flutter:\n    sdk: " +
			"flutter\n  a: ^1.0.0\n  b: 2.0.0\ndev_dependencies:\n  c: any\n", "a@ b@2.0.0 c@!"},
		{"mix.exs", Mix, "[{:a, \"~> 1.0\"}, {:b, \">= 2.0\", only: :test}, {:c, path: \"../c\"}]", "a@ b@!"},
		{"rebar.config", Rebar, "{deps, [{a, \"1.0.0\"}, {b, \"2.0.0\"}]}.", "a@1.0.0 b@2.0.0"},
		{"Package.swift", Swift, ".package(url: \"https://github.com/a/b.git\", from: \"1.0.0\"), .package(name: " +
			"\"c\", url: \"https://github.com/c/d\", exact: \"2.0.0\")", "github.com/a/b@ github.com/c/d@2.0.0"},
		{"Podfile", Pods, "pod 'A', '1.0.0'\npod 'B/Sub', '~> 2'\n# pod 'C'\n", "A@1.0.0 B@"},
		{"conanfile.txt", Conan, "[requires]\nzlib/1.2.11\nboost/1.70.0@user/stable\n[generators]\ncmake/3\n",
			"zlib@1.2.11 boost@1.70.0"},
		{"build.sbt", Sbt, `libraryDependencies ++= Seq("org.a" %% "b" % "1.0", "org.c" % "d" % version)`,
			"org.a:b@1.0 org.c:d@"},
		{"stack.yaml", Stack, "resolver: lts-18.28\npackages:\n  - .\nextra-deps:\n  - " +
			"ShellCheck-0.8.0@sha256:35,3297\n  - language-docker-11.0.0\n  - ./local\n  - git: " +
			"https://example.org/x\n    commit: abc\n", "ShellCheck@0.8.0 language-docker@11.0.0"},
		{"environment.yml", Conda, "name: x\nchannels:\n  - conda-forge\ndependencies:\n  - python=3.9\n  - " +
			"conda-forge::numpy=1.21.2\n  - blas=1.0=mkl\n  - scipy >=1.7\n  - pip\n  - pip:\n    - requests==2.28.0\n",
			"python@ numpy@1.21.2 blas@1.0 scipy@ pip@"},
		{"environment.yml, pip", CondaPip, "dependencies:\n  - pip\n  - pip:\n    - requests==2.28.0\n    - " +
			"flask\n", "requests@2.28.0 flask@"},
		{"environment.yml that is none", Conda, "staging:\n\turl: [", ""},
		{"paket.dependencies", Paket, "source https://api.nuget.org/v3/index.json\nnuget A ~> 1.0\nnuget B " +
			"2.0.1\nNUGET \"C\"\nnuget D == 3.0 framework: net45\ngithub a/b\ngroup Test\n  nuget E\n// nuget F\n",
			"A@ B@2.0.1 C@ D@3.0 E@"},
		{"deps.edn", Edn, `{:deps {org.a/b {:mvn/version "1.0"} c/d {:git/sha "x"}}}`, "org.a:b@1.0"},
		{"libman.json", Libman, `{"libraries":[{"library":"jquery@3.4.0"},{"library":"@a/b@1.0.0"}]}`,
			"jquery@3.4.0 @a/b@1.0.0"},
	} {
		asked, err := test.asks([]byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var got []string
		for _, r := range asked {
			if r.Local {
				continue
			}
			line := r.Name + "@" + r.Version
			if r.Dev {
				line += "!"
			}
			got = append(got, line)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got  %s\nwant %s", test.name, strings.Join(got, " "), test.want)
		}
	}
}
