package callgraph_test

import (
	"context"
	"slices"
	"testing"

	"merlon/internal/engine/sast/callgraph"
	"merlon/internal/engine/sast/ir"
)

// TestHierarchy asks what the classes of a program are to each other.
func TestHierarchy(t *testing.T) {
	g := build(t, []*ir.File{
		lower(t, "p/A.java", "package p; import javax.servlet.http.HttpServlet; abstract class A extends HttpServlet "+
			"{ void m(int a) {} void m(String a) {} }"),
		lower(t, "p/B.java", "package p; class B extends A implements q.I { B(String s) {} void m(String a) {} }"),
		lower(t, "q/I.java", "package q; public interface I { void m(String a); }"),
	}, callgraph.Options{})
	for _, c := range []struct {
		typ, of string
		want    bool
	}{
		{"p.B", "p.A", true}, {"p.B", "q.I", true}, {"p.B", "javax.servlet.http.HttpServlet", true},
		{"p.A", "p.B", false}, {"p.A", "q.I", false}, {"x.Y", "x.Y", true}, {"x.Y", "p.A", false},
	} {
		if got := g.IsSubtype(c.typ, c.of); got != c.want {
			t.Errorf("%s is a %s: %v, want %v", c.typ, c.of, got, c.want)
		}
	}
	var names []string
	for _, c := range g.Subtypes("javax.servlet.http.HttpServlet") {
		names = append(names, c.Qualified)
	}
	if want := []string{"p.A", "p.B"}; !slices.Equal(names, want) {
		t.Errorf("subtypes %v, want %v", names, want)
	}
	b := g.Class("p.B")
	if m := g.Method(b, "m"); len(m) != 1 || m[0].Class != b {
		t.Errorf("methods of B: %v", m)
	}
	if m := g.Method(g.Class("p.A"), "m"); len(m) != 2 {
		t.Errorf("%d methods of A, want 2", len(m))
	}
	if c := g.Constructors(b); len(c) != 1 || c[0].Kind != ir.Constructor {
		t.Errorf("constructors of B: %v", c)
	}
	if g.Class("p.C") != nil || g.Function("p.B.m") == nil || g.Function("nobody") != nil {
		t.Error("names are not found as declared")
	}
}

// TestCallees has callees before callers, and recursion in one component.
func TestCallees(t *testing.T) {
	g := build(t, []*ir.File{lower(t, "a.py", "def a(): b()\ndef b(): c(); d()\ndef c(): b()\ndef d(): pass\n")},
		callgraph.Options{})
	var order []string
	for _, scc := range g.SCCs() {
		for _, fn := range scc {
			order = append(order, fn.Name)
		}
		if len(scc) > 1 {
			order = append(order, "|")
		}
	}
	if want := []string{"<top>", "d", "b", "c", "|", "a"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

// TestEnds stops when the context ends.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := callgraph.Build(ctx, []*ir.File{lower(t, "a.py", "a = 1")}, callgraph.Options{}); err == nil {
		t.Error("no error")
	}
}
