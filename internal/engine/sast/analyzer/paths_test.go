package analyzer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/route"
	"merlon/internal/finding"
)

// TestFileStems takes off what builds and releases add to the name of a file.
func TestFileStems(t *testing.T) {
	for name, want := range map[string]string{
		"a/app.js": "app", "app.min.js": "app", "app-1.2.3.js": "app", "app-v1.2.min.js": "app", "app.esm.js": "app",
		"app.umd.development.js": "app", "app.mjs": "app", "min.js": "min", "app-2.js": "app-2", "app.test.js": "app.test",
		"jquery-3.7.1.min.js": "jquery", "app": "app", "app.bundle.js": "app", "admin.js": "admin",
	} {
		if got := fileStem(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestBuildRoles tells what the folders of a path say of a file.
func TestBuildRoles(t *testing.T) {
	for name, want := range map[string]struct {
		roles string
		role  role
	}{
		"a.js":              {"", source},
		"src/a.js":          {"src", source},
		"lib/a.js":          {"lib", either},
		"dist/a.js":         {"dist", made},
		"src/lib/a.js":      {"src/lib", either},
		"lib/dist/esm/a.js": {"lib/dist/esm", made},
		"x/dist/y/a.js":     {"dist", made},
		"distribution/a.js": {"", source},
		"x/dist":            {"", source},
	} {
		if got := folderRolesOf(name); got != want.roles {
			t.Errorf("%s: folders %q, want %q", name, got, want.roles)
		}
		if got := buildRole(name); got != want.role {
			t.Errorf("%s: role %d, want %d", name, got, want.role)
		}
	}
}

// TestRequiredShares asks how much of two files must be the same for them to be copies.
func TestRequiredShares(t *testing.T) {
	for _, c := range []struct {
		a, b string
		most float64
		may  bool
	}{
		{"src/a.js", "dist/a.js", mostOfMade, true},
		{"src/a.js", "dist/a.min.js", mostOfMade, true},
		{"src/a.js", "dist/bundle.js", mostInBundle, true},
		{"src/a.js", "src/b.js", mostInBundle, false},
		{"src/a.js", "lib/b.js", mostInBundle, false},
		{"x/a.js", "y/a.js", mostOfCopy, false},
		{"x/a.js", "examples/a.js", mostOfCopy, true},
		{"a.js", "a.min.js", mostOfMade, true},
	} {
		most, may := requiredShare(c.a, c.b)
		if may != c.may || may && most != c.most {
			t.Errorf("%s, %s: %v %v, want %v %v", c.a, c.b, most, may, c.most, c.may)
		}
		if again, mayAgain := requiredShare(c.b, c.a); again != most || mayAgain != may {
			t.Errorf("%s, %s: the order matters", c.a, c.b)
		}
	}
}

// TestTemplates knows templates by their extensions, and program code by its language.
func TestTemplates(t *testing.T) {
	for name, want := range map[string][2]bool{
		"a.ejs": {true, false}, "a.JSP": {true, false}, "a/b.html.erb": {true, false}, "a.html": {false, false},
		"a.go": {false, true}, "a.yaml": {false, false}, "a.json": {false, false}, "Dockerfile": {false, false},
		"a.py": {false, true}, "a.tf": {false, false}, "a.unknown": {false, false}, "ejs": {false, false},
	} {
		if got := [2]bool{isTemplate(name), isProgram(name)}; got != want {
			t.Errorf("%s: template and program %v, want %v", name, got, want)
		}
	}
}

// TestShares writes shares for people. None is said to be nothing.
func TestShares(t *testing.T) {
	for want, c := range map[string][2]int64{
		"50.0 %": {1, 2}, "100.0 %": {7, 7}, "33.3 %": {1, 3}, "0.1 %": {1, 1000}, "less than 0.1 %": {1, 1001},
		"99.9 %": {9999, 10000},
	} {
		if got := percentText(c[0], c[1]); got != want {
			t.Errorf("%d of %d: %q, want %q", c[0], c[1], got, want)
		}
	}
	if got := percentText(0, 0); got != "less than 0.1 %" {
		t.Errorf("nothing of nothing: %q", got)
	}
	if got := countText(1) + ", " + countText(2); got != "1 file, 2 files" {
		t.Error(got)
	}
}

// TestEntryPoints finds the operations through which the data of a finding comes in.
func TestEntryPoints(t *testing.T) {
	const text = "handler(req) { read(req.query.q); read(req.query.r) }"
	at := func(part string) route.Place {
		start := strings.Index(text, part)
		return route.Place{Path: "a.js", Start: start, End: start + len(part)}
	}
	step := func(part string) *sast.Match {
		p := at(part)
		return &sast.Match{Steps: []sast.Step{{Path: "a.js", Start: sast.Position{Offset: p.Start},
			End: sast.Position{Offset: p.End}}}}
	}
	handler := route.Place{Path: "a.js", Start: 0, End: len(text)}
	routes := []route.Route{
		{Method: "GET", Path: "/a", Handler: handler, Parameters: []route.Parameter{
			{In: "query", Name: "q", At: at("req.query.q")}, {In: "query", Name: "r", At: at("req.query.r")}}},
		{Method: "PUT", Path: "/b", Handler: route.Place{Path: "b.js", Start: 0, End: len(text)}},
	}
	for part, want := range map[string][]finding.EntryPoint{
		"req.query.q":                          {{Method: "GET", Path: "/a", Parameter: "query:q"}},
		"handler":                              {{Method: "GET", Path: "/a"}},
		"read(req.query.q); read(req.query.r)": {{Method: "GET", Path: "/a"}}, // an object of several
	} {
		if diff := cmp.Diff(want, entryPoints(routes, step(part))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", part, diff)
		}
	}
	if got := entryPoints(routes, &sast.Match{}); got != nil {
		t.Errorf("without a path of data: %v", got)
	}
	op := operationOf(route.Route{Method: "GET", Path: "/a", Handler: handler, Parameters: []route.Parameter{
		{In: "query", Name: "q", At: at("req.query.q")}, {In: "query", Name: "q", At: at("req.query.r")}}})
	if diff := cmp.Diff([]string{"query:q"}, op.Parameters); diff != "" || op.URL != "/a" {
		t.Error(op.URL, diff)
	}
}
