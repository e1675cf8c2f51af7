package upgrade

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"merlon/internal/finding"
)

// need is a vulnerability of a package of npm that the versions clear.
func need(name, version, all string, fixed ...string) VulnerablePackage {
	m := finding.PackageMatch{Package: seen("npm", name, version, "package-lock.json"), Fixed: fixed, UpgradeAll: all}
	for _, v := range fixed {
		if m.Upgrade == "" && lessVersion("npm", version, v) {
			m.Upgrade = v
		}
	}
	return VulnerablePackage{Advisory: "CVE-" + name, Match: m}
}

func transitive(n VulnerablePackage, via ...string) VulnerablePackage {
	n.Match.Package.Scope, n.Match.Package.Via = finding.Transitive, via
	return n
}

func TestPlan(t *testing.T) {
	a, b, c := need("a", "1.0.0", "2.1.0", "1.0.4", "2.0.0"), need("a", "1.0.0", "2.1.0", "1.2.0", "2.0.1"),
		need("a", "1.0.0", "2.1.0", "2.1.0")
	for _, tt := range []struct {
		name  string
		needs []VulnerablePackage
		order Policy
		want  []string // target, step, or the reason
	}{
		{"one by one", []VulnerablePackage{a, b, c}, Policy{Level: Auto, Single: true},
			[]string{"1.0.4 patch", "1.2.0 minor", "2.1.0 major"}},
		{"together", []VulnerablePackage{a, b, c}, Policy{Level: Auto},
			[]string{"2.1.0 major", "2.1.0 major", "2.1.0 major"}},
		{"together, no major", []VulnerablePackage{a, b, c}, Policy{Level: Minor},
			[]string{"1.2.0 minor", "1.2.0 minor", "2.1.0 clears it, but that is a major upgrade, and the level " +
				"is minor"}},
		{"together, patches", []VulnerablePackage{a, b}, Policy{Level: Patch},
			[]string{"1.0.4 patch", "1.2.0 clears it, but that " +
				"is a minor upgrade, and the level is patch"}},
		{"the smaller step", []VulnerablePackage{a, b}, Policy{Level: Major}, []string{"1.2.0 minor", "1.2.0 minor"}},
		{"clean in the same step", []VulnerablePackage{need("a", "1.0.0", "1.0.9", "1.0.4"),
			need("a", "1.0.0", "1.0.9", "1.0.5")},
			Policy{Level: Auto}, []string{"1.0.9 patch", "1.0.9 patch"}},
		{"no version", []VulnerablePackage{need("a", "1.0.0", ""), need("a", "3.0.0", "", "2.0.0")},
			Policy{Level: Auto},
			[]string{"no later version that clears it is known", "no later version that clears it is known"}},
		{"came back", []VulnerablePackage{need("a", "2.0.0", "", "1.5.0", "2.3.0"), need("a", "2.0.0", "", "2.1.0")},
			Policy{Level: Auto}, []string{"2.3.0 minor", "2.3.0 minor"}},
		{"two packages", []VulnerablePackage{a, need("b", "0.1.0", "0.1.2", "0.1.2")}, Policy{Level: Patch},
			[]string{"1.0.4 patch", "0.1.2 patch"}},
		{"no version of ours", []VulnerablePackage{need("a", "latest", "2.0.0", "2.0.0")}, Policy{Level: Auto},
			[]string{"2.0.0 major"}},
	} {
		var got []string
		for _, f := range Plan(tt.needs, tt.order) {
			if f.Target == "" {
				got = append(got, f.Reason)
			} else {
				got = append(got, f.Target+" "+string(f.Step))
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// What one upgrade does not clear says what would.
func TestNotAllAtOnce(t *testing.T) {
	fixes := Plan([]VulnerablePackage{need("a", "2.0.0", "", "2.1.0"), need("a", "2.0.0", "", "2.1.0"),
		need("a", "2.0.0", "", "2.0.5", "2.9.0")}, Policy{Level: Auto})
	if fixes[0].Target != "2.9.0" || fixes[2].Target != "2.9.0" {
		t.Errorf("got %+v", fixes)
	}
	fixes = Plan([]VulnerablePackage{need("a", "2.0.0", "", "2.1.0"), need("a", "2.0.0", "", "2.1.0"),
		need("a", "2.0.0", "", "2.0.5", "3.0.0")}, Policy{Level: Minor})
	if fixes[0].Target != "2.1.0" || fixes[2].Target != "2.1.0" { // what came back would have come back in 3
		t.Errorf("got %+v", fixes)
	}
	fixes = Plan([]VulnerablePackage{need("a", "2.0.0", "", "2.1.0"), need("a", "2.0.0", "", "2.1.0"),
		need("a", "2.0.0", "", "2.0.5", "2.1.3", "3.0.0")}, Policy{Level: Patch})
	want := "2.0.5 clears it"
	if fixes[0].Target != "" || fixes[2].Target != "2.0.5" {
		t.Errorf("got %+v, want %s", fixes, want)
	}
}

func TestRoutes(t *testing.T) {
	for _, tt := range []struct {
		need VulnerablePackage
		want Fix
	}{
		{need("a", "1.0.0", "", "1.0.1"), Fix{Command: "npm install a@1.0.1"}},
		{transitive(need("a", "1.0.0", "", "1.0.1"), "express@4.0.0", "b@1.0.0"),
			Fix{Forced: true, Command: "npm pkg set 'overrides[a@1.0.0]=1.0.1' && npm install",
				Reason: "it is brought in by express@4.0.0: the command asks for 1.0.1 all the same; an upgrade " +
					"of that " +
					"package is better where there is one"}},
		{need("a'; rm -rf /", "1.0.0", "", "1.0.1"), Fix{Reason: "the line of the manifest that requires the version " +
			"is unknown: change it manually"}},
	} {
		got := Plan([]VulnerablePackage{tt.need}, Policy{Level: Auto})[0]
		tt.want.Target, tt.want.Version, tt.want.Step = "1.0.1", "1.0.1", PatchStep
		tt.want.Candidates = []Candidate{{"1.0.1", PatchStep, true}}
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(Edit{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.need.Match.Package.Name, diff)
		}
	}
	n := transitive(VulnerablePackage{Match: finding.PackageMatch{Package: seen("Maven", "g:a", "1.0",
		"gradle.lockfile"),
		Fixed: []string{"1.1"}, Upgrade: "1.1"}})
	if got := Plan([]VulnerablePackage{n}, Policy{Level: Auto})[0]; got.Target != "" || got.Reason == "" {
		t.Errorf("nothing can be done, but got %+v", got)
	}
}

func TestCommand(t *testing.T) {
	for _, tt := range []struct {
		ecosystem, path string
		dev             bool
		direct, forced  string
	}{
		{"npm", "web/yarn.lock", true, "yarn add a@2.0 --dev", "npm pkg set 'resolutions[a]=2.0' && yarn install"},
		{"npm", "pnpm-lock.yaml", false, "pnpm add a@2.0", "npm pkg set 'pnpm.overrides[a@1.0]=2.0' && pnpm install"},
		{"npm", "deno.lock", false, "deno add npm:a@2.0", ""},
		{"PyPI", "poetry.lock", true, "poetry add a@^2.0 --group dev", "poetry add a@^2.0"},
		{"PyPI", "uv.lock", false, "uv add 'a>=2.0'", "uv lock --upgrade-package a==2.0"},
		{"PyPI", "requirements.txt", false, "pip install a==2.0", "pip install a==2.0"},
		{"Go", "go.mod", false, "go get a@v2.0", "go get a@v2.0"},
		{"crates.io", "Cargo.lock", false, "cargo update -p a@1.0 --precise 2.0", "cargo update -p a@1.0 " +
			"--precise 2.0"},
		{"Packagist", "composer.lock", true, "composer require a:^2.0 --dev --with-all-dependencies",
			"composer update a --with a:^2.0"},
		{"NuGet", "a.csproj", false, "dotnet add package a --version 2.0", "dotnet add package a --version 2.0"},
		{"NuGet", "Directory.Packages.props", false, "", ""},
		{"Maven", "pom.xml", false, "mvn versions:use-dep-version -Dincludes=a -DdepVersion=2.0", ""},
		{"Maven", "gradle.lockfile", false, "", ""}, {"ConanCenter", "conan.lock", false, "", ""},
	} {
		p := seen(tt.ecosystem, "a", "1.0", tt.path)
		p.Dev = tt.dev
		direct := Command(&p, "2.0")
		p.Scope = finding.Transitive
		if forced := Command(&p, "2.0"); direct != tt.direct || !tt.dev && forced != tt.forced {
			t.Errorf("%s: got %q and %q, want %q and %q", tt.path, direct, forced, tt.direct, tt.forced)
		}
	}
	std := seen("Go", "stdlib", "1.21", "go.mod")
	if got := Command(&std, "1.21.5"); got != "go get go@1.21.5" {
		t.Errorf("got %q", got)
	}
}

func TestStepOf(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		want     Step
	}{
		{"1.2.3", "1.2.4", PatchStep}, {"1.2.3", "1.3.0", MinorStep}, {"1.2.3", "2.0.0", MajorStep},
		{"v1.2.3", "1.2.9", PatchStep}, {"1", "1.0.1", PatchStep},
		{"1.2.3.RELEASE", "1.2.4.RELEASE", PatchStep}, {"Finchley", "Greenwich", MajorStep},
		{"1!2.0", "1!2.0.1", PatchStep}, {"2.0-rc1", "2.1", MinorStep}, {"", "1", MajorStep},
	} {
		if got := StepOf(tt.from, tt.to); got != tt.want {
			t.Errorf("%s to %s: got %s, want %s", tt.from, tt.to, got, tt.want)
		}
	}
}
