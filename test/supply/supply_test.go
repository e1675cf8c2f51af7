package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRecallsCountTheMostOfEachResource(t *testing.T) {
	flaws := []flaw{
		{Scanner: "merlon", File: "a.tf", Block: 1, Rule: "x"},
		{Scanner: "merlon", File: "a.tf", Block: 1, Rule: "x"}, // told twice
		{Scanner: "trivy", File: "a.tf", Block: 1, Rule: "1"},
		{Scanner: "trivy", File: "a.tf", Block: 1, Rule: "2"},
		{Scanner: "merlon", File: "a.tf", Block: 9, Rule: "y"},
		{Scanner: "kics", File: "b.tf", Block: 0, Rule: "q"},
	}
	want := map[string]float64{"merlon": .5, "trivy": .5, "kics": .25}
	if diff := cmp.Diff(want, recallByScanner(flaws)); diff != "" {
		t.Errorf("recalls (-want +got):\n%s", diff)
	}
}

func TestPlaceFindsTheResource(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("main.tf", "resource \"a\" \"b\" {\n  x = 1\n}\nresource \"a\" \"c\" {\n  x = 2\n}\n")
	write("stack.yaml", "A: 1\nResources:\n  Bucket:\n    Type: X\n    Properties:\n      P: 1\n  Queue:\n    "+
		"Type: Y\n")
	write("pods.yaml", "kind: Pod\n---\nkind: Pod\nspec:\n  x: 1\n")
	write("Dockerfile", "FROM x\nRUN y\n")
	flaws := []flaw{{File: "main.tf", Line: 2}, {File: "main.tf", Line: 5}, {File: "stack.yaml", Line: 6},
		{File: "stack.yaml", Line: 8},
		{File: "pods.yaml", Line: 1}, {File: "pods.yaml", Line: 5}, {File: "Dockerfile", Line: 2},
		{File: "absent", Line: 3}}
	locateResources(dir, flaws)
	var got []int
	for _, f := range flaws {
		got = append(got, f.Block)
	}
	if diff := cmp.Diff([]int{1, 4, 3, 7, 0, 2, 0, 0}, got); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	var out strings.Builder
	err := runMeasures(context.Background(), []string{"-corpora", t.TempDir(), "-out", t.TempDir(), "-only", "goats"},
		&out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "| goats |  | not measured |") {
		t.Errorf("the table does not say that goats are not measured:\n%s", out.String())
	}
	if err := runMeasures(context.Background(), []string{"-corpora", t.TempDir(), "-only", "sheep"},
		&out); err == nil ||
		!strings.Contains(err.Error(), "sheep") {
		t.Errorf("an unknown measure: %v", err)
	}
}

func TestPackagesAreComparedAsOSVDoes(t *testing.T) {
	for text, want := range map[string]pkg{
		"pkg:npm/%40babel/core@7.0.0?x=y":          {"npm", "@babel/core", "7.0.0"},
		"pkg:pypi/Flask_Login@1":                   {"PyPI", "flask-login", "1"},
		"pkg:maven/org.a/b@1.0":                    {"Maven", "org.a:b", "1.0"},
		"pkg:gem/pg@1.6.3-x86_64-linux":            {"RubyGems", "pg", "1.6.3"},
		"pkg:cocoapods/AFNetworking/UIKit@2.4":     {"CocoaPods", "AFNetworking", "2.4"},
		"pkg:github/Actions/Checkout@v4":           {"GitHub Actions", "actions/checkout", "4"},
		"pkg:golang/golang.org/x/text@v0.3.0#path": {"Go", "golang.org/x/text", "0.3.0"},
	} {
		if got, ok := fromPURL(text); !ok || got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
	if got, ok := fromPURL("pkg:deb/debian/x@1"); ok {
		t.Errorf("got %v of an ecosystem that is not compared", got)
	}
}

func TestPackageRowCountsWhatIsOne(t *testing.T) {
	cases := []packageCase{
		{Package: pkg{Name: "a"}, Found: []string{"merlon", "syft"}},
		{Package: pkg{Name: "b"}, Found: []string{"merlon"}},
		{Package: pkg{Name: "c"}, Found: []string{"osv-scanner"}}, {Package: pkg{Name: "d"}, Found: []string{"syft"},
			Not: "is a workspace"},
	}
	row := packageRow("x", cases, nil)
	if row.Measured != "66.7 % of 3; 0 invented" || row.Met != "yes" {
		t.Errorf("got %+v", row)
	}
	if row := packageRow("x", cases, []string{"f:1 a"}); row.Met != "no" {
		t.Errorf("an invented package is allowed: %+v", row)
	}
}

func TestDoubtfulLooksAtTheLine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.lock"), []byte("one\nFlask_Login==1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := &report{}
	for _, p := range []struct {
		name string
		line int
	}{{"flask-login", 2}, {"flask-login", 1}, {"other", 2}, {"one", 9}} {
		r.Packages = append(r.Packages, struct {
			Ecosystem string   `json:"ecosystem"`
			Name      string   `json:"name"`
			Version   string   `json:"version"`
			Path      string   `json:"path"`
			Line      int      `json:"line"`
			Scope     string   `json:"scope"`
			Via       []string `json:"via"`
		}{Name: p.name, Path: "x.lock", Line: p.line})
	}
	want := []string{"x.lock:1 flask-login", "x.lock:2 other", "x.lock:9 one"}
	if diff := cmp.Diff(want, doubtfulLines(dir, r)); diff != "" {
		t.Errorf("doubtful (-want +got):\n%s", diff)
	}
}

func TestOwnPartsAreNoPackages(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"package.json": "{\n  \"name\": \"@a/shop\"\n}",
		"pom.xml":      "<project><parent><groupId>g</groupId></parent><artifactId>x</artifactId></project>",
		"Cargo.toml":   "[package]\nedition = \"2021\"\nname = \"me\"\n",
		"Podfile.lock": "EXTERNAL SOURCES:\n  L:\n   " +
			" :path: \"../L\"\n",
		"pubspec.lock": "packages:\n  flutter:\n    dependency: \"direct main\"\n    source: sdk\n    version: " +
			"\"0\"\n  http:\n    source: hosted\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ownParts(dir)
	want := map[string]bool{"npm @a/shop": true, "Maven g:x": true, "crates.io me": true, "CocoaPods L": true,
		"Pub flutter": true}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("own parts (-want +got): %v\n%s", err, diff)
	}
}
