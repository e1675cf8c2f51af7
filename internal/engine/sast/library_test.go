package sast_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/sast"
)

// What only tests call is there for callers outside of the program, nobody outside
// calls a test, and what a test puts in the place of a class is not what users meet.
func TestLibraryAndTests(t *testing.T) {
	rules := parseRules(t, "rules:\n- id: a\n  message: m\n  severity: ERROR\n  languages: [go]\n  mode: taint\n  "+
		"model: {sources: [library], sinks: [path]}\n")
	files := []sast.Source{
		{Path: "store/fake_test.go", Text: []byte("package store\n\nimport \"os\"\n\ntype fake struct{}\n\nfunc " +
			"(fake) Put(name string) { os.Remove(name) }\n")},
		{Path: "store/put.go", Text: []byte("package store\n\ntype Putter interface{ Put(name string) }\n\nfunc " +
			"Save(p Putter, name string) { p.Put(name) }\n")},
		{Path: "store/store.go", Text: []byte("package store\n\nimport \"os\"\n\nfunc Load(name string) ([]byte, " +
			"error) { return os.ReadFile(name) }\n")},
		{Path: "store/store_test.go", Text: []byte("package store\n\nimport \"os\"\n\nfunc write(name string) { " +
			"os.Remove(name) }\n\nfunc check() { Load(\"a\") }\n")},
	}
	matches, _ := sast.Check(context.Background(), rules, files, sast.Options{LeaveTests: true})
	var got []string
	for _, m := range matches {
		got = append(got, m.Path)
	}
	if want := []string{"store/store.go"}; !slices.Equal(got, want) {
		t.Errorf("got findings in %v, want %v", got, want)
	}
}

// Data that comes in as a number is said to.
func TestNumber(t *testing.T) {
	rules := parseRules(t, "rules:\n- id: a\n  message: m\n  severity: ERROR\n  languages: [java]\n  mode: taint\n  "+
		"model: {sources: [remote], sinks: [path]}\n")
	const code = `package org.acme;
import java.io.FileInputStream;
import org.springframework.web.bind.annotation.*;
@RestController
class Files {
  @GetMapping("/a") void a(@RequestParam int n) throws Exception { new FileInputStream("page" + n); }
  @GetMapping("/b") void b(@RequestParam Long n) throws Exception { new FileInputStream("page" + n); }
  @GetMapping("/c") void c(@RequestParam String n) throws Exception { new FileInputStream("page" + n); }
}
`
	matches, _ := sast.Check(context.Background(), rules, []sast.Source{{Path: "Files.java", Text: []byte(code)}},
		sast.Options{})
	var got []bool
	for _, m := range matches {
		got = append(got, m.Number)
	}
	if want := []bool{true, true, false}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A framework calls what overrides its methods.
func TestLibraryAndFrameworks(t *testing.T) {
	rules := parseRules(t, "rules:\n- id: a\n  message: m\n  severity: ERROR\n  languages: [java]\n  mode: taint\n  "+
		"model: {sources: [library], sinks: [path]}\n")
	const code = `package org.acme;
import java.io.FileInputStream;
import org.other.Listener;
interface Store { void put(String name) throws Exception; }
public class Files implements Store, Listener {
  @Override public void started(String name) throws Exception { new FileInputStream(name); }
  @Override public void put(String name) throws Exception { new FileInputStream(name); } // found
  public void load(String name) throws Exception { new FileInputStream(name); } // found
}
`
	matches, _ := sast.Check(context.Background(), rules, []sast.Source{{Path: "Files.java", Text: []byte(code)}},
		sast.Options{})
	var got []int
	for _, m := range matches {
		got = append(got, m.Start.Line)
	}
	if want := []int{7, 8}; !slices.Equal(got, want) {
		t.Errorf("got findings in lines %v, want %v", got, want)
	}
}

// A file that is followed as if it were alone is not a library: the rest of the
// program calls it.
func TestLibraryInFastMode(t *testing.T) {
	rules := parseRules(t, "rules:\n- id: a\n  message: m\n  severity: ERROR\n  languages: [python]\n  mode: taint\n "+
		" model: {sources: [remote, library], sinks: [command]}\n")
	files := []sast.Source{
		{Path: "app.py", Text: []byte("import os\nfrom flask import request\nfrom run import run\ndef f():\n    " +
			"run(request.args['q'])\n    os.system(request.args['q'])\n")},
		{Path: "run.py", Text: []byte("import os\ndef run(x):\n    os.system(x)\n")},
	}
	for local, want := range map[bool][]string{false: {"app.py", "run.py"}, true: {"app.py"}} {
		matches, _ := sast.Check(t.Context(), rules, files, sast.Options{Local: local})
		var got []string
		for _, m := range matches {
			got = append(got, m.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("local %v: got findings in %v, want %v", local, got, want)
		}
	}
}

// A program that reads what requests bring at some places is an application, unless
// nearly all of it is something else.
func TestLibraryWithHandlers(t *testing.T) {
	rules := parseRules(t, "rules:\n- id: a\n  message: m\n  severity: ERROR\n  languages: [java]\n  mode: taint\n  "+
		"model: {sources: [remote, library], sinks: [path]}\n")
	var web, rest strings.Builder
	web.WriteString("package org.acme;\nimport javax.servlet.http.HttpServletRequest;\nclass Web {\n")
	for i := range 5 {
		fmt.Fprintf(&web, "  String read%d(HttpServletRequest r) { return r.getParameter(\"a\"); }\n", i)
	}
	web.WriteString("}\n")
	rest.WriteString("package org.acme;\npublic class Rest {\n")
	for i := range 600 {
		fmt.Fprintf(&rest, "  public int count%d() { return %d; }\n", i, i)
	}
	rest.WriteString("}\n")
	files := []sast.Source{
		{Path: "Files.java", Text: []byte("package org.acme;\nimport java.io.FileInputStream;\npublic class Files { " +
			"public void load(String name) throws Exception { new FileInputStream(name); } }\n")},
		{Path: "Web.java", Text: []byte(web.String())},
	}
	for _, test := range []struct {
		name  string
		files []sast.Source
		want  int
	}{
		{"an application", files, 0},
		{"a library with handlers",
			append(slices.Clone(files), sast.Source{Path: "Rest.java", Text: []byte(rest.String())}), 1},
	} {
		matches, _ := sast.Check(context.Background(), rules, test.files, sast.Options{})
		if len(matches) != test.want {
			t.Errorf("%s: got %d findings, want %d: %v", test.name, len(matches), test.want, matches)
		}
	}
}
