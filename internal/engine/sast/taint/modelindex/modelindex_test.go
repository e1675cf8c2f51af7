package modelindex_test

import (
	"slices"
	"testing"

	"merlon/internal/engine/sast/frameworks"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/pcre"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/tainttest"
)

func TestMemberName(t *testing.T) {
	r := &modelindex.Index{}
	for _, c := range []struct{ owner, name, want string }{
		{"a.B", "c", "a.B.c"},
		{"", "c", ".c"},
		{"a.b.c.d.e.f.g.h.i.j.k.l.m.n", "o", ""}, // members of members without end
	} {
		for range 2 { // the second time from the cache
			if got := r.MemberName(c.owner, c.name); got != c.want {
				t.Errorf("%s of %s: got %q, want %q", c.name, c.owner, got, c.want)
			}
		}
	}
}

func TestIsReturn(t *testing.T) {
	for _, c := range []struct {
		name   string
		places []model.Place
		want   bool
	}{
		{"no place", nil, false},
		{"the result", []model.Place{{Base: model.Return}}, true},
		{"a parameter", []model.Place{{Base: model.Parameter}}, false},
		{"the result comes second", []model.Place{{Base: model.Parameter}, {Base: model.Return}}, false},
	} {
		if got := modelindex.IsReturn(c.places); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestIsHarmlessType(t *testing.T) {
	for typ, want := range map[string]bool{"int": true, "java.util.UUID": true, "float64": true,
		"java.lang.String": false, "": false, "string": false} {
		if got := (&modelindex.Index{}).IsHarmlessType(typ); got != want {
			t.Errorf("%q: got %v, want %v", typ, got, want)
		}
		if (&modelindex.Index{Plain: true}).IsHarmlessType(typ) {
			t.Errorf("%q is harmless without models", typ)
		}
	}
}

// A text of some characters does no harm where none of them can.
func TestHarmlessKinds(t *testing.T) {
	r := &modelindex.Index{Bits: map[string]uint64{"command": 1, "sql": 2, "path": 4, "html": 8, "url": 16, "log": 32}}
	for _, c := range []struct {
		expression string
		want       uint64
	}{
		{"^[a-z]+$", 1 | 2 | 4 | 8 | 16 | 32},
		{"^[a-z.]+$", 1 | 2 | 4 | 8 | 16 | 32}, // a dot without a slash leads nowhere
		{"^[a-z/]+$", 1 | 4 | 8 | 16 | 32},     // a slash without a dot stays below; "/" comments in SQL
		{"^[a-z./]+$", 1 | 8 | 16 | 32},
		{"^[a-z;]+$", 4 | 8 | 16 | 32},
		{"^[a-z<]+$", 4 | 16 | 32},
		{"^[a-z:]+$", 1 | 2 | 4 | 8 | 32},
		{`^[a-z\n]+$`, 2 | 4 | 8 | 16},
	} {
		a, ok := pcre.Admits(c.expression, 0)
		if !ok {
			t.Fatalf("%s: not understood", c.expression)
		}
		if got := r.HarmlessKinds(a); got != c.want {
			t.Errorf("%s: harmless for %06b, want %06b", c.expression, got, c.want)
		}
	}
}

// TestTypes pins what annotations, types and names of parameters say of data.
func TestTypes(t *testing.T) {
	spring := func(body string) map[string]string {
		return map[string]string{"src/main/java/App.java": `package a;
import org.springframework.web.bind.annotation.*;
@RestController
public class App {
` + body + `
}
`}
	}
	models, err := frameworks.Models()
	if err != nil || len(models) == 0 {
		t.Fatal(models, err)
	}
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"a parameter with an annotation", `
  @GetMapping("/") String f(@RequestParam String a) throws Exception {
    Runtime.getRuntime().exec(a); return "b"; }`, []string{"command"}},
		{"a number holds no command", `
  @GetMapping("/") String f(@RequestParam int a) throws Exception {
    Runtime.getRuntime().exec("ls " + a); return "b"; }`, nil},
		{"a method that no request reaches", `
  String f(String a) throws Exception { Runtime.getRuntime().exec(a); return "b"; }`, nil},
		{"a result that a browser shows", `
  @GetMapping("/") String f(@RequestParam String a) { return a; }`, []string{"html"}},
		{"a result that no browser shows as a page", `
  @GetMapping(value = "/", produces = "application/json") String f(@RequestParam String a) { return a; }`, nil},
		{"the type of a field", `
  private Runtime runtime;
  @GetMapping("/") String f(@RequestParam String a) throws Exception { runtime.exec(a); return "b"; }`,
			[]string{"command"}},
		{"a class of the program below one of the library", `
  static class Shell extends java.io.File { Shell(String s) { super(s); } }
  @GetMapping("/") String f(@RequestParam String a) throws Exception {
    new java.io.FileReader(new Shell(a)); return "b"; }`, []string{"path"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range tainttest.Analyze(t, spring(c.body), "remote") {
				if !f.Number() {
					got = append(got, f.Kind)
				}
			}
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
