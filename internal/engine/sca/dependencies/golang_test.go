package dependencies

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"merlon/internal/advisory"
	"merlon/internal/finding"
)

// summaries returns the findings of a tree as lines: severity, points, place and message; those
// that only auditors see have their points.
func summaries(t *testing.T, tree fstest.MapFS, advisories *advisory.File) []string {
	t.Helper()
	var out []string
	for _, f := range examine(t, tree, advisories).reported {
		points := 0
		for _, term := range f.Terms {
			points += term.Points
		}
		out = append(out, fmt.Sprintf("%s%+d %s:%d %s", f.Severity, points, f.Location.Path, f.Location.StartLine,
			f.Message))
	}
	slices.Sort(out)
	return out
}

// goRecords are two vulnerabilities of the standard library: one of net/http, and one that a
// later line fixes.
func goRecords(t *testing.T) *advisory.File {
	t.Helper()
	record := func(id, symbol, fixed string) string {
		return fmt.Sprintf(`{"id":%q,"modified":"2026-01-01T00:00:00Z","affected":[{"package":{"ecosystem":"Go","name":`+
			`"stdlib"},"database_specific":{"severity":"HIGH"},"ecosystem_specific":{"imports":[{"path":"net/http",`+
			`"symbols":[%q]}]},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":%q}]}]}]}`, id, symbol, fixed)
	}
	return openAdvisories(t, record("GO-1", "Get", "1.26.3"), record("GO-2", "Other", "1.26.5"))
}

// The toolchain decides about the standard library, and all its vulnerabilities are one finding.
func TestStandardLibrary(t *testing.T) {
	const module = "module m\n\ngo 1.26.1\n"
	hidden := []string{
		"high-4 go.mod:3 stdlib 1.26.1 is affected by GO-1 (fixed in 1.26.3)",
		"high-4 go.mod:3 stdlib 1.26.1 is affected by GO-2 (fixed in 1.26.5)",
	}
	main := "package main\n\nimport \"net/http\"\n\nfunc main() { http.Get(\"\") }\n"
	for _, test := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"only a minimum", nil, []string{"low+0 go.mod:3 The minimum Go version 1.26.1 allows a standard library with 2 " +
			"known vulnerabilities (1 called by the program); build with Go 1.26.5 or later"}},
		{"an image with one", map[string]string{"Dockerfile": "FROM golang:1.26.4\n"}, []string{
			"medium+0 Dockerfile:1 Go 1.26.4, by the image golang:1.26.4, builds go.mod with 1 known vulnerability in the " +
				"standard library; build with Go 1.26.5 or later"}},
		{"an image with one that is called", map[string]string{"Dockerfile": "FROM golang:1.26.2\n"}, []string{
			"high+0 Dockerfile:1 Go 1.26.2, by the image golang:1.26.2, builds go.mod with 2 known vulnerabilities (1 called " +
				"by the program) in the standard library; build with Go 1.26.5 or later"}},
		{"an older image", map[string]string{"Dockerfile": "FROM golang:1.25.0\n"}, []string{
			"low+0 go.mod:3 The minimum Go version 1.26.1 allows a standard library with 2 known vulnerabilities (1 called " +
				"by the program); build with Go 1.26.5 or later"}},
		{"a fixed image", map[string]string{"Dockerfile": "FROM golang:1.26.5\n"}, nil},
		{"an image of the line", map[string]string{"Dockerfile": "FROM golang:1.26-alpine\n"}, nil},
		{"stable", map[string]string{".github/workflows/a.yml": "jobs: {a: {steps: [{uses: actions/setup-go@v5, with: " +
			"{go-version: stable}}]}}\n"}, nil},
		{"the toolchain line", map[string]string{"go.mod": module + "toolchain go1.26.4\n"}, []string{
			"medium+0 go.mod:4 Go 1.26.4, by the toolchain line, builds go.mod with 1 known vulnerability in the standard " +
				"library; build with Go 1.26.5 or later"}},
	} {
		tree := fstest.MapFS{"go.mod": {Data: []byte(module)}, "main.go": {Data: []byte(main)}}
		for name, text := range test.files {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
		var got []string
		for _, line := range summaries(t, tree, goRecords(t)) {
			// GitHub Actions and Docker have no records here.
			if !slices.Contains(hidden, line) && !strings.Contains(line, "stdlib 1.26.4 is affected") {
				got = append(got, line)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
}

// Images of well-known software are judged by the version that their tag names.
func TestImages(t *testing.T) {
	record := func(id, name, severity, events string) string {
		return fmt.Sprintf(`{"id":%q,"modified":"2026-01-01T00:00:00Z","affected":[{"package":{"ecosystem":"Bitnami","name":`+
			`%q},"database_specific":{"severity":%q},"ranges":[{"type":"SEMVER","events":[%s]}]}]}`, id, name, severity, events)
	}
	advisories := openAdvisories(t,
		record("CVE-2020-1000", "redis", "critical", `{"introduced":"0"},{"fixed":"6.2.5"}`),
		record("CVE-2020-2000", "redis", "low", `{"introduced":"0"},{"fixed":"6.2.7"}`),
		record("CVE-2020-3000", "redis", "critical", `{"introduced":"0"}`),
		record("CVE-2020-4000", "python", "high", `{"introduced":"0"},{"fixed":"3.9.2"}`),
		record("CVE-2020-5000", "postgresql", "medium", `{"introduced":"14.0"},{"fixed":"14.3"}`))
	got := summaries(t, fstest.MapFS{"compose.yml": {Data: []byte(`services:
  a: {image: "redis:6.2.1-alpine"}
  b: {image: "docker.io/bitnami/redis:6.2.7-debian-10-r3"}
  c: {image: "redis:6.2.6"}
  d: {image: "redis:latest"}
  e: {image: "postgres:14.2"}
  f: {image: "postgres:14"}
  g: {image: "example.com/redis:6.2.1"}
`)}, "Dockerfile": {Data: []byte("FROM python:3.8-slim\nFROM python:3.9\n")}}, advisories)
	want := []string{
		"critical-1 compose.yml:2 redis:6.2.1-alpine is redis 6.2.1 with 2 known vulnerabilities, the worst CVE-2020-1000 " +
			"(critical); use 6.2.5 or later",
		"high-2 Dockerfile:1 python:3.8-slim: no release of python 3.8 fixes 1 known vulnerability, the worst " +
			"CVE-2020-4000 (high); use 3.9.2 or later",
		"low-1 compose.yml:4 redis:6.2.6 is redis 6.2.6 with 1 known vulnerability, the worst CVE-2020-2000 (low); use 6.2.7 " +
			"or later",
		"medium-1 compose.yml:6 postgres:14.2 is postgresql 14.2 with 1 known vulnerability, the worst CVE-2020-5000 " +
			"(medium); use 14.3 or later",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// How a package is used changes its severity; nothing lowers a malicious one.
func TestContextTerms(t *testing.T) {
	for _, test := range []struct {
		name string
		m    match
		want int
	}{
		{"nothing known", match{}, 0},
		{"development", match{pkg: finding.Package{Dev: true}}, -1},
		{"called", match{reach: &finding.Reach{Verdict: finding.Reachable}}, 1},
		{"by tests", match{reach: &finding.Reach{Verdict: finding.Imported, TestsOnly: true}}, -1},
		{"indirect", match{pkg: finding.Package{Ecosystem: "Go", Scope: finding.Transitive},
			reach: &finding.Reach{Verdict: finding.UnknownReach}}, -1},
		{"unknown in another ecosystem", match{pkg: finding.Package{Ecosystem: "npm"},
			reach: &finding.Reach{Verdict: finding.UnknownReach}}, 0},
		{"of tests", match{pkg: finding.Package{Path: "test/go.mod"}}, -1},
		{"imported", match{reach: &finding.Reach{Verdict: finding.Imported}}, 0},
		{"not imported", match{pkg: finding.Package{Dev: true}, reach: &finding.Reach{Verdict: finding.NotFound}}, -2},
	} {
		test.m.Advisory, test.m.Upgrade = &finding.Advisory{}, "2.0.0"
		for _, change := range []func(*finding.Advisory){
			func(*finding.Advisory) {}, func(a *finding.Advisory) { a.Malicious = true },
			func(a *finding.Advisory) { a.KEV = &finding.KEV{} }} {
			change(test.m.Advisory)
			want := test.want
			if test.m.Advisory.Malicious || test.m.Advisory.KEV != nil {
				want = 0
			}
			got := 0
			for _, term := range test.m.contextTerms() {
				got += term.Points
			}
			if got != want {
				t.Errorf("%s: got %d, want %d", test.name, got, want)
			}
		}
	}
}
