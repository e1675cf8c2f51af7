package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLabelledResources(t *testing.T) {
	got := parseResources("resource \"a\" \"pass_one\" {\n  b {\n  }\n}\n\nresource \"a\" \"other\" {\n}\nresource " +
		"a fail " +
		"{\n}\nresource \"a\" \"fail2\" {}\n")
	want := []labelled{{1, 4, false}, {8, 9, true}, {10, 10, true}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(labelled{})); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

func TestShareOfHalves(t *testing.T) {
	list := []*example{{Covered: true}, {}, {Aside: true, Covered: true}}
	if all, seen, aside := shareCovered(list, nil), shareCovered(list, new(false)),
		shareCovered(list, new(true)); all != 2.0/3 ||
		seen != 0.5 || aside != 1 {
		t.Errorf("shares %v, %v, %v", all, seen, aside)
	}
}
