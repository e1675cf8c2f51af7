package dependencies

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/osv-scalibr/extractor/filesystem"
)

// readNpm reads a lock file and returns its packages as lines.
func readNpm(text string) ([]string, error) {
	found, err := npmLock{}.Extract(context.Background(), &filesystem.ScanInput{
		FS: tree{fstest.MapFS{}}, Path: "package-lock.json", Reader: strings.NewReader(text),
	})
	var out []string
	for _, p := range found.Packages {
		r := p.Metadata.(*npmRole)
		out = append(out, fmt.Sprintf("%d %s@%s %s direct=%t dev=%t", p.Location.Descriptor.File.LineNumber, p.Name, p.Version, p.PURLType, r.direct, r.dev))
	}
	slices.Sort(out)
	return out, err
}

func TestNpmLock(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"version 1", `{
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
}}`, []string{
			"4 a@1.0.0 npm direct=false dev=false", "5 b@1.0.0 npm direct=false dev=false", "6 real@2.0.0 npm direct=false dev=false",
			"10 g@ git direct=false dev=false", "11 l@file:../l npm direct=false dev=false"}},
		{"version 3", `{"packages": {
"": {"dependencies": {"a": "^1"}, "devDependencies": {"@s/b": "^1"}},
"ws/one": {"name": "one", "version": "1.0.0", "dependencies": {"c": "^2"}},
"node_modules/one": {"resolved": "ws/one", "link": true},
"node_modules/a": {"version": "1.0.0"},
"node_modules/@s/b": {"version": "1.0.0", "dev": true},
"node_modules/c": {"version": "1.0.0"},
"ws/one/node_modules/c": {"version": "2.0.0"},
"node_modules/a/node_modules/c": {"version": "3.0.0"},
"node_modules/alias": {"name": "real", "version": "1.0.0"}
}}`, []string{
			"5 a@1.0.0 npm direct=true dev=false", "6 @s/b@1.0.0 npm direct=true dev=true", "7 c@1.0.0 npm direct=true dev=false",
			"8 c@2.0.0 npm direct=true dev=false", "9 c@3.0.0 npm direct=false dev=false", "10 real@1.0.0 npm direct=false dev=false"}},
		{"both: the newer form counts", `{"dependencies": {"old": {"version": "1.0.0"}}, "packages": {"node_modules/new": {"version": "1.0.0"}}}`,
			[]string{"1 new@1.0.0 npm direct=false dev=false"}},
		{"nothing", `{}`, nil},
	} {
		got, err := readNpm(test.text)
		slices.Sort(test.want)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v\ngot  %q\nwant %q", test.name, err, got, test.want)
		}
	}
}

func TestNpmLockRefuses(t *testing.T) {
	deep := strings.Repeat(`{"version":"1","dependencies":{"a":`, maxNpmDepth+1) + `{}` + strings.Repeat(`}}`, maxNpmDepth+1)
	for name, text := range map[string]string{
		"nothing":        ``,
		"a list":         `[]`,
		"null":           `null`,
		"half":           `{"packages": {"node_modules/a": {`,
		"a wrong type":   `{"packages": {"node_modules/a": {"version": 1}}}`,
		"wrong packages": `{"packages": []}`,
		"too deep":       `{"dependencies":{"a":` + deep + `}}`,
	} {
		if got, err := readNpm(text); err == nil {
			t.Errorf("%s: got %v, want an error", name, got)
		}
	}
}

func TestNpmShrinkwrapWins(t *testing.T) {
	lock := `{"packages":{"node_modules/%s":{"version":"1.0.0"}}}`
	files := fstest.MapFS{
		"package-lock.json":   {Data: fmt.Appendf(nil, lock, "ignored")},
		"npm-shrinkwrap.json": {Data: fmt.Appendf(nil, lock, "used")},
	}
	r := examine(t, files, nil)
	if len(r.packages) != 1 || !strings.Contains(r.packages[0], "used@1.0.0") {
		t.Errorf("got %v, want the package of npm-shrinkwrap.json", r.packages)
	}
}

// TestNpmLockIsLinear reads a lock file of a very large project; a reader that
// starts from the top for every package would need minutes.
func TestNpmLockIsLinear(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"packages": {`)
	const n = 60_000
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n\"node_modules/p%d\": {\"version\": \"1.0.0\", \"integrity\": \"sha512-%0100d\"}", i, i)
	}
	b.WriteString("}}")
	got, err := readNpm(b.String())
	if err != nil || len(got) != n {
		t.Fatalf("got %d packages, %v; want %d", len(got), err, n)
	}
	if want := fmt.Sprintf("%d p%d@1.0.0 npm direct=false dev=false", n+1, n-1); !slices.Contains(got, want) {
		t.Errorf("the last package is not on line %d", n+1)
	}
}
