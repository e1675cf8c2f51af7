package javascript

import (
	"strings"
	"testing"
)

func TestScriptsOfComponents(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"vue": {"<template><p>a</p></template>\n<script>\nlet a = '<b>'\n</script>\n", "let a = '<b>'"},
		"setup": {"<script setup lang=\"ts\">\nlet a: T\n</script>\n<script>export let " +
			"b</script>", "let a: T\n export let b"},
		"attribute": {"<script generic=\"T extends A<B>\" lang='ts'>a()</script>", "a()"},
		"comment":   {"<!-- <script>a()</script> --><SCRIPT>b()</SCRIPT>", "b()"},
		"style":     {"<style>a::before{content:'<script>'}</style><script>b()</script>", "b()"},
		"other language": {"<script lang=\"coffee\">a = -> 1</script><script type=\"application/ld+json\">{}</script>",
			""},
		"empty element":  {"<script src=\"a.js\" /><script>b()</script>", "b()"},
		"not closed":     {"<script>a()", "a()"},
		"tag not closed": {"<script lang=\"ts", ""},
		"letters":        {"<p>äöü€</p><script>a('ß')</script>", "a('ß')"},
		"mark-up only":   {"<template><p v-html=\"a\"/></template>", ""},
	} {
		got := extractScripts("c.vue", []byte(c.src))
		if len(got) != len(c.src) || strings.Count(string(got), "\n") != strings.Count(c.src, "\n") {
			t.Errorf("%s: bytes or lines moved: %q", name, got)
		}
		if text := strings.Join(strings.Fields(string(got)), " "); text != strings.Join(strings.Fields(c.want), " ") {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
	astro := "---\nconst a = Astro.url\n---\n<p>{a}</p>\n<script>b()</script>\n"
	if got := strings.Fields(string(extractScripts("c.astro", []byte(astro)))); strings.Join(got,
		" ") != "const a = Astro.url b()" {
		t.Errorf("astro: got %q", got)
	}
	if got := strings.TrimSpace(string(extractScripts("c.astro", []byte("<p>\n---\na\n---\n")))); got != "" {
		t.Errorf("astro without code: got %q", got)
	}
}

func FuzzScriptsOfComponents(f *testing.F) {
	f.Add("c.vue", "<template/><script lang=ts>let a: T</script>")
	f.Add("c.astro", "---\na\n---\n<!-- <script> --><style></style>")
	f.Fuzz(func(t *testing.T, name, src string) {
		got := extractScripts(name, []byte(src))
		if len(got) != len(src) {
			t.Fatalf("%d bytes of %d", len(got), len(src))
		}
		for i := range got {
			if got[i] != src[i] && got[i] != ' ' || src[i] == '\n' && got[i] != '\n' {
				t.Fatalf("byte %d is %q, was %q", i, got[i], src[i])
			}
		}
	})
}
