package taintset

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"merlon/internal/engine/sast/ir"
)

// origins returns the texts of the origins of a taint, with what they are clean for.
func origins(t Set) []string {
	var out []string
	for _, e := range t {
		s := strconv.Itoa(int(e.Origin.In.Kind)) + strconv.Itoa(int(e.Origin.In.Index)) + e.Origin.Path
		if e.Origin.Deep {
			s += "**"
		}
		out = append(out, s+" "+strconv.FormatUint(e.Clean, 10)+" "+strconv.Itoa(int(e.Trace.Length())))
	}
	return out
}

// randomTaint returns a taint of a few inputs and their parts.
func randomTaint(r *Origins, rnd *rand.Rand, fn *ir.Function) Set {
	var t Set
	for range 1 + rnd.IntN(8) {
		k := OriginKey{In: Input{Kind: inputKind(rnd.IntN(4)), Index: int32(rnd.IntN(2))}, Deep: rnd.IntN(3) == 0}
		for range rnd.IntN(3) {
			k.Path += Separator + string(rune('a'+rnd.IntN(3)))
		}
		e := Element{Origin: r.Intern(k), Clean: uint64(rnd.IntN(4))}
		for n := range rnd.IntN(3) {
			e.Trace = Extend(e.Trace, fn, int32(n), nil)
		}
		t = t.Union(Set{e})
	}
	return t
}

// A mix says what unions of the same taints say, in whatever order they come.
func TestMixIsUnion(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	fn := &ir.Function{}
	r := &Origins{}
	for range 2000 {
		var want, backward Set
		m := &Builder{}
		list := make([]Set, 1+rnd.IntN(6))
		for i := range list {
			list[i] = randomTaint(r, rnd, fn)
		}
		for i := range list {
			want = want.Union(list[i])
			backward = backward.Union(list[len(list)-1-i])
			m.Add(list[i], 0, NextStep{})
		}
		if diff := cmp.Diff(origins(want), origins(m.Set())); diff != "" {
			t.Fatalf("mix (-union +mix):\n%s", diff)
		}
		if slices.ContainsFunc(want, func(e Element) bool { return e.Origin.IsGlobal() }) {
			continue // which of too many globals stay hangs on the order
		}
		if !slices.EqualFunc(want, backward, func(a, b Element) bool { return a.Origin == b.Origin }) {
			t.Fatalf("the order of unions matters: %v, backward %v", origins(want), origins(backward))
		}
		if !want.Covers(list[0]) {
			t.Fatalf("%v does not cover its part %v", origins(want), origins(list[0]))
		}
	}
}

// The step of a way is added to every way, and kinds are added to those it is clean for.
func TestMixWay(t *testing.T) {
	r, fn := &Origins{}, &ir.Function{}
	at := r.Intern(OriginKey{In: Input{Kind: Parameter}})
	inner := Extend(nil, fn, 7, nil)
	m := &Builder{}
	m.Add(Set{{Origin: at, Clean: 1, Trace: Extend(nil, fn, 1, nil)}}, 2, NextStep{fn, 3, inner})
	got := m.Set()
	if diff := cmp.Diff([]string{"00 3 3"}, origins(got)); diff != "" {
		t.Error(diff)
	}
	if s := got[0].Trace; s.Node != 3 || s.Inner != inner || s.Previous.Node != 1 {
		t.Errorf("the way is %+v", s)
	}
}

// An input with all of its parts stands for the parts, unless they are less clean.
func TestTaintAbsorbs(t *testing.T) {
	r := &Origins{}
	key := func(path string, deep bool) OriginKey {
		return OriginKey{In: Input{Kind: Parameter}, Path: path, Deep: deep}
	}
	whole := Set{{Origin: r.Intern(key(Separator+"a", true)), Clean: 1}}
	for _, c := range []struct {
		name string
		part Element
		want int
	}{
		{"a part", Element{Origin: r.Intern(key(Separator+"a"+Separator+"b", false)), Clean: 1}, 1},
		{"a part with its parts", Element{Origin: r.Intern(key(Separator+"a"+Separator+"b", true)), Clean: 3}, 1},
		{"a part that is less clean", Element{Origin: r.Intern(key(Separator+"a"+Separator+"b", false))}, 2},
		{"another with the same beginning", Element{Origin: r.Intern(key(Separator+"ab", false)), Clean: 1}, 2},
		{"the input itself", Element{Origin: r.Intern(key(Separator+"a", false)), Clean: 1}, 2},
	} {
		if got := whole.Union(Set{c.part}); len(got) != c.want {
			t.Errorf("%s: %v", c.name, origins(got))
		}
	}
}

// Globals do not crowd out other origins.
func TestTaintGlobals(t *testing.T) {
	r := &Origins{}
	var all Set
	for i := range 40 {
		all = all.Union(Set{{Origin: r.Intern(OriginKey{In: Input{Kind: Global}, Path: Separator +
			string(rune('A'+i))})}})
	}
	if len(all) != maxGlobalTaint {
		t.Errorf("%d globals", len(all))
	}
	p := Element{Origin: r.Intern(OriginKey{In: Input{Kind: Parameter}})}
	if got := all.Union(Set{p}); len(got) != maxGlobalTaint+1 {
		t.Errorf("%v", origins(got))
	}
	if !all.Covers(Set{{Origin: r.Intern(OriginKey{In: Input{Kind: Global}, Path: Separator + "z"})}}) {
		t.Error("a taint full of globals would grow by one more")
	}
}
