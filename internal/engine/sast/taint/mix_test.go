package taint

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/ir"
)

// origins returns the texts of the origins of a taint, with what they are clean for.
func origins(t taint) []string {
	var out []string
	for _, e := range t {
		s := itoa(int32(e.atom.in.kind)) + itoa(e.atom.in.index) + e.atom.path
		if e.atom.deep {
			s += "**"
		}
		out = append(out, s+" "+itoa(int32(e.clean))+" "+itoa(e.trace.length()))
	}
	return out
}

// randomTaint returns a taint of a few inputs and their parts.
func randomTaint(r *run, rnd *rand.Rand, fn *ir.Function) taint {
	var t taint
	for range 1 + rnd.IntN(8) {
		k := atomKey{in: input{kind: inputKind(rnd.IntN(4)), index: int32(rnd.IntN(2))}, deep: rnd.IntN(3) == 0}
		for range rnd.IntN(3) {
			k.path += separator + string(rune('a'+rnd.IntN(3)))
		}
		e := elem{atom: r.atom(k), clean: uint64(rnd.IntN(4))}
		for n := range rnd.IntN(3) {
			e.trace = then(e.trace, fn, int32(n), nil)
		}
		t = t.union(taint{e})
	}
	return t
}

// A mix says what unions of the same taints say, in whatever order they come.
func TestMixIsUnion(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	fn := &ir.Function{}
	r := &run{}
	for range 2000 {
		var want, backward taint
		m := &mix{}
		list := make([]taint, 1+rnd.IntN(6))
		for i := range list {
			list[i] = randomTaint(r, rnd, fn)
		}
		for i := range list {
			want = want.union(list[i])
			backward = backward.union(list[len(list)-1-i])
			m.add(list[i], 0, way{})
		}
		if diff := cmp.Diff(origins(want), origins(m.taint())); diff != "" {
			t.Fatalf("mix (-union +mix):\n%s", diff)
		}
		if slices.ContainsFunc(want, func(e elem) bool { return e.atom.global() }) {
			continue // which of too many globals stay hangs on the order
		}
		if !slices.EqualFunc(want, backward, func(a, b elem) bool { return a.atom == b.atom }) {
			t.Fatalf("the order of unions matters: %v, backward %v", origins(want), origins(backward))
		}
		if !want.covers(list[0]) {
			t.Fatalf("%v does not cover its part %v", origins(want), origins(list[0]))
		}
	}
}

// The step of a way is added to every way, and kinds are added to those it is clean for.
func TestMixWay(t *testing.T) {
	r, fn := &run{}, &ir.Function{}
	at := r.atom(atomKey{in: input{kind: inParam}})
	inner := then(nil, fn, 7, nil)
	m := &mix{}
	m.add(taint{{atom: at, clean: 1, trace: then(nil, fn, 1, nil)}}, 2, way{fn, 3, inner})
	got := m.taint()
	if diff := cmp.Diff([]string{"00 3 3"}, origins(got)); diff != "" {
		t.Error(diff)
	}
	if s := got[0].trace; s.node != 3 || s.inner != inner || s.prev.node != 1 {
		t.Errorf("the way is %+v", s)
	}
}

// An input with all of its parts stands for the parts, unless they are less clean.
func TestTaintAbsorbs(t *testing.T) {
	r := &run{}
	key := func(path string, deep bool) atomKey { return atomKey{in: input{kind: inParam}, path: path, deep: deep} }
	whole := taint{{atom: r.atom(key(separator+"a", true)), clean: 1}}
	for _, c := range []struct {
		name string
		part elem
		want int
	}{
		{"a part", elem{atom: r.atom(key(separator+"a"+separator+"b", false)), clean: 1}, 1},
		{"a part with its parts", elem{atom: r.atom(key(separator+"a"+separator+"b", true)), clean: 3}, 1},
		{"a part that is less clean", elem{atom: r.atom(key(separator+"a"+separator+"b", false))}, 2},
		{"another with the same beginning", elem{atom: r.atom(key(separator+"ab", false)), clean: 1}, 2},
		{"the input itself", elem{atom: r.atom(key(separator+"a", false)), clean: 1}, 2},
	} {
		if got := whole.union(taint{c.part}); len(got) != c.want {
			t.Errorf("%s: %v", c.name, origins(got))
		}
	}
}

// Globals do not crowd out other origins.
func TestTaintGlobals(t *testing.T) {
	r := &run{}
	var all taint
	for i := range 40 {
		all = all.union(taint{{atom: r.atom(atomKey{in: input{kind: inGlobal}, path: separator +
			string(rune('A'+i))})}})
	}
	if len(all) != maxGlobalTaint {
		t.Errorf("%d globals", len(all))
	}
	p := elem{atom: r.atom(atomKey{in: input{kind: inParam}})}
	if got := all.union(taint{p}); len(got) != maxGlobalTaint+1 {
		t.Errorf("%v", origins(got))
	}
	if !all.covers(taint{{atom: r.atom(atomKey{in: input{kind: inGlobal}, path: separator + "z"})}}) {
		t.Error("a taint full of globals would grow by one more")
	}
}
