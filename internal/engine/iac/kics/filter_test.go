package kics

import (
	"strings"
	"testing"
)

func TestFilterTree(t *testing.T) {
	for text, want := range map[string]string{
		`{$.eventName = Create}`: `{"_op":"=","_selector":"$.eventName","_value":"Create"}`,
		`{ ($.a = B) && $.c NOT EXISTS || $.d != "x \"y" }`: `{"_left":{"_left":{"_op":"=","_selector":"$.a","_value":"B"},"_op":"\u0026\u0026",` +
			`"_right":{"_op":"NOT","_selector":"$.c","_value":"EXISTS"}},"_op":"||","_right":{"_op":"!=","_selector":"$.d","_value":"\"x \\\"y\""}}`,
		`ERROR`: "", `{ $.a }`: "", `{ $.a = }`: "", `{ ($.a = b }`: "", `{ $.a = b c }`: "", `{ "open }`: "", `{}`: "",
	} {
		if want != "" {
			want = `{"_kics_filter_expr":` + want + `}`
		}
		if got, ok := filterTree(text); got != want || ok != (want != "") {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
	}
	if _, ok := filterTree("{" + strings.Repeat("(", 5000) + "}"); ok {
		t.Error("parentheses without end are read")
	}
}

func FuzzFilter(f *testing.F) {
	f.Add(`{ ($.a = B) && $.c NOT EXISTS || $.d != "x" }`)
	f.Fuzz(func(t *testing.T, text string) {
		if tree, ok := filterTree(text); ok && tree == "" {
			t.Fatal("a pattern without a tree")
		}
	})
}
