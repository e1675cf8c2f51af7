package inventory

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"merlon/internal/engine/sca/inventory/lock"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// take takes the inventory of files, as lines, with the reasons.
func take(t *testing.T, files map[string]string) (packages, reasons []string) {
	t.Helper()
	tree := fstest.MapFS{}
	in := Tree{Context: t.Context(), FS: tree, Degrade: func(r scan.Reason) {
		reasons = append(reasons, r.Path+" "+r.Code)
	}}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
		in.Files = append(in.Files, scan.File{Path: name, Size: int64(len(text))})
	}
	slices.SortFunc(in.Files, func(a, b scan.File) int { return strings.Compare(a.Path, b.Path) })
	list, err := Take(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		line := fmt.Sprintf("%s:%d %s@%s", p.Path, p.Line, p.Name, p.Version)
		if p.Manifest != nil {
			line += fmt.Sprintf(" %s:%d", p.Manifest.Path, p.Manifest.Line)
		}
		packages = append(packages, line)
	}
	return packages, reasons
}

func check(t *testing.T, files map[string]string, packages, reasons []string) {
	t.Helper()
	got, said := take(t, files)
	if !slices.Equal(got, packages) || !slices.Equal(said, reasons) {
		t.Errorf("got %q\nand %q\nwant %q\nand %q", got, said, packages, reasons)
	}
}

func TestWorkflow(t *testing.T) {
	check(t, map[string]string{
		".github/workflows/a.yml": `on: push
jobs:
  one:
    steps:
      - uses: actions/checkout@v4
      - uses: "owner/repo/sub@0123456789012345678901234567890123456789" # v1.2.3
      - uses: owner/other@0123456789012345678901234567890123456789 # pinned on Monday
      - uses: owner/third@0123456789012345678901234567890123456789 # owner/third@v2
      - uses: ./local
      - uses: docker://alpine:3
      - uses: ${{ matrix.action }}@v1
      - run: |
          - uses: not/this@v1
  two:
    uses: org/flows/.github/workflows/build.yml@v2
`,
		"tools/action.yaml":         "runs:\n  steps:\n    - uses: a/b@v1\n",
		"other/workflows/a.yml":     "jobs: {x: {steps: [{uses: no/no@v1}]}}\n",
		".github/workflows/bad.yml": "a: [\n",
	}, []string{
		".github/workflows/a.yml:5 actions/checkout@v4", ".github/workflows/a.yml:15 org/flows@v2",
		".github/workflows/a.yml:7 owner/other@0123456789012345678901234567890123456789", ".github/workflows/a.yml:6 " +
			"owner/repo@v1.2.3",
		".github/workflows/a.yml:8 owner/third@v2", "tools/action.yaml:3 a/b@v1",
	}, []string{".github/workflows/bad.yml malformed"})
}

// TestWorkspaces tells neither the project nor its parts, and gives each lock file
// the manifests that belong to it.
func TestWorkspaces(t *testing.T) {
	check(t, map[string]string{
		"package.json":     "{\n\"workspaces\":[\"w/*\"],\n\"dependencies\":{\"a\":\"^1\"}}",
		"w/x/package.json": "{\"name\":\"x\",\n\"dependencies\":{\"b\":\"^1\",\"y\":\"workspace:*\"}}",
		"yarn.lock": "# yarn lockfile v1\n\na@^1:\n  version \"1.0.0\"\n\nb@^1:\n  version " +
			"\"1.1.0\"\n",
		"own/package.json":            "{\"dependencies\":{\"b\":\"^1\"}}",
		"own/yarn.lock":               "b@^1:\n  version \"1.2.0\"\n",
		"node_modules/a/package.json": "{\"dependencies\":{\"c\":\"1.0.0\"}}",
	}, []string{
		"own/yarn.lock:1 b@1.2.0 own/package.json:1", "yarn.lock:3 a@1.0.0 package.json:3",
		"yarn.lock:6 b@1.1.0 w/x/package.json:2",
	}, nil)
}

func TestShrinkwrapWins(t *testing.T) {
	lock := `{"packages":{"node_modules/%s":{"version":"1.0.0"}}}`
	check(t, map[string]string{"package-lock.json": fmt.Sprintf(lock, "ignored"),
		"npm-shrinkwrap.json": fmt.Sprintf(lock, "used")},
		[]string{"npm-shrinkwrap.json:1 used@1.0.0"}, nil)
}

func TestInstalledPython(t *testing.T) {
	metadata := "Metadata-Version: 2.1\nName: a\nVersion: 1.0\n"
	check(t, map[string]string{
		"venv/site-packages/a-1.0.dist-info/METADATA": metadata,
		"venv/site-packages/b.egg-info/PKG-INFO":      strings.Replace(metadata, "Name: a", "Name: b", 1),
		"src/own.egg-info/PKG-INFO":                   strings.Replace(metadata, "Name: a", "Name: own", 1),
		"opt/c-1.0-py3.8.egg-info/PKG-INFO":           strings.Replace(metadata, "Name: a", "Name: c", 1),
		"opt/d-1.0.egg/EGG-INFO/PKG-INFO":             strings.Replace(metadata, "Name: a", "Name: d", 1),
		"lib/python3/dist-packages/e.egg-info":        strings.Replace(metadata, "Name: a", "Name: e", 1),
	}, []string{
		"lib/python3/dist-packages/e.egg-info:2 e@1.0", "opt/c-1.0-py3.8.egg-info/PKG-INFO:2 c@1.0",
		"opt/d-1.0.egg/EGG-INFO/PKG-INFO:2 d@1.0",
		"venv/site-packages/a-1.0.dist-info/METADATA:2 a@1.0", "venv/site-packages/b.egg-info/PKG-INFO:2 b@1.0",
	}, nil)
}

// A module that only go.sum names stands there, and a comment may touch a version.
func TestPlaces(t *testing.T) {
	check(t, map[string]string{
		"go.mod": "module m\n\ngo 1.16\n\nrequire example.org/a v1.0.0\n",
		"go.sum": "example.org/a v1.0.0 h1:x=\nexample.org/a v1.0.0/go.mod h1:x=\nexample.org/b v2.0.0+incompatible " +
			"h1:x=\n",
	}, []string{"go.mod:5 example.org/a@1.0.0", "go.mod:3 stdlib@1.16", "go.sum:3 example.org/b@2.0.0+incompatible"},
		nil)
	check(t, map[string]string{"requirements.txt": "a==1.0#one\nb==2.0 # two\n"},
		[]string{"requirements.txt:1 a@1.0", "requirements.txt:2 b@2.0"}, nil)
	check(t, map[string]string{"requirements.txt": "\xff\xfea\x00=\x00=\x001\x00.\x000\x00\r\x00\n\x00b\x00=\x00=\x002\x00.\x000\x00"}, []string{"requirements.txt:1 a@1.0", "requirements.txt:2 b@2.0"}, nil)
	check(t, map[string]string{"mix.lock": "%{\n  \"a\": {:hex, :a, \"1.0.0\", \"h\", [:mix], [], \"hexpm\"},\n  " +
		"\"b\": {:odd},\n}\n"}, []string{"mix.lock:2 a@1.0.0"}, []string{"mix.lock malformed"})
}

// TestCompiled reads the comments of pip-compile and uv.
func TestCompiled(t *testing.T) {
	text := "# This file is autogenerated by pip-compile\nclick==8.1.3\n    # via Flask\nflask[async]==2.0.0 \\\n    " +
		"--hash=sha256:abc\n    # via\n    #   -r requirements.in\n    #   other\nother==1.0  # via shop " +
		"(pyproject.toml)\nalone==3.0\n"
	g := lock.Requirements("requirements.txt", []byte(text))
	var got []string
	for _, p := range g.Packages() {
		got = append(got, fmt.Sprintf("%d %s@%s %s %v", p.Line, p.Name, p.Version, p.Scope, p.Via))
	}
	want := []string{"2 click@8.1.3 transitive [flask@2.0.0]", "4 flask@2.0.0 direct []", "9 other@1.0 direct []",
		"10 alone@3.0 transitive []"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if lock.Requirements("requirements.txt", []byte("flask==2.0.0\n")) != nil {
		t.Error("a file without comments has a graph")
	}
	tree := fstest.MapFS{"requirements.txt": {Data: []byte(text)}}
	list, err := Take(Tree{Context: t.Context(), FS: tree, Files: []scan.File{{Path: "requirements.txt"}},
		Degrade: func(scan.Reason) {}})
	if err != nil || len(list) != 4 || list[1].Name != "click" || list[1].Scope != finding.Transitive ||
		len(list[1].Via) != 1 {
		t.Errorf("got %+v, %v", list, err)
	}
}

// TestCopies leaves out what copied packages ask for.
func TestCopies(t *testing.T) {
	check(t, map[string]string{
		"vendor/composer/installed.json": `{"packages":[]}`, "vendor/a/b/composer.json": `{"require":{"c/d":"1.0.0"}}`,
		"rust/vendor/x/.cargo-checksum.json": `{}`, "rust/vendor/x/Cargo.toml": "[dependencies]\ny = \"=1.0.0\"\n",
		"ios/Pods/Manifest.lock": "PODS:\n", "ios/Pods/Z/Podfile": "pod 'A', '1.0.0'\n",
		"own/vendor/composer.json": `{"require":{"e/f":"1.0.0"}}`,
	}, []string{"own/vendor/composer.json:1 e/f@1.0.0"}, []string{"own/vendor/composer.json no-lock-file"})
}

// Any file of YAML may be a manifest that names images.
func TestWanted(t *testing.T) {
	for file, want := range map[string]bool{
		"a/pom.xml": true, "build.gradle.kts": true, "x.csproj": true, ".github/workflows/a.yml": true,
		"yarn.lock": true, "requirements-dev.txt": true,
		"node_modules/a/package.json": false, "a.go": false, "src/main.yml": true, "Dockerfile": true, "values.yaml": true, "gradle/libs.versions.toml": true,
		"libman.json": true,
	} {
		if Wanted(file) != want {
			t.Errorf("%s: got %t", file, !want)
		}
	}
}

// unreadable is a tree whose files cannot be read.
type unreadable struct{ fs.FS }

func TestUnreadable(t *testing.T) {
	var said []string
	in := Tree{Context: t.Context(), FS: unreadable{fstest.MapFS{}}, Degrade: func(r scan.Reason) {
		said = append(said, r.Path+" "+r.Code)
	}}
	for _, name := range []string{"pom.xml", "yarn.lock", "x.csproj", "go.mod", "composer.json"} {
		in.Files = append(in.Files, scan.File{Path: name})
	}
	if _, err := Take(in); err != nil {
		t.Fatal(err)
	}
	for _, f := range in.Files {
		if !slices.Contains(said, f.Path+" unreadable") {
			t.Errorf("nothing is said of %s: %v", f.Path, said)
		}
	}
}
