// Package tainttest follows data through short programs: the tests of the packages below
// taint say with it what each of them contributes.
package tainttest

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/callgraph"
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/frameworks"
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/taint"
	"merlon/internal/engine/sast/taint/findings"
	"merlon/internal/engine/sast/taint/rulematch"
)

// A Host is a program around the body of a case: a handler of requests in which x is a
// parameter of the request.
type Host struct {
	path, before, after, indent string
}

// The hosts.
var (
	// Flask is a view of Flask; os is imported.
	Flask = Host{path: "app.py", indent: "    ", before: `import os
import re
from flask import Flask, request
app = Flask(__name__)
%s
@app.route("/")
def view():
    x = request.args["x"]
`, after: ""}
	// Express is a handler of Express; exec runs a command.
	Express = Host{path: "app.js", indent: "  ", before: `const express = require("express")
const { exec } = require("child_process")
const app = express()
%s
app.get("/", async (req, res) => {
  const x = req.query.x
`, after: "})\n"}
	// Servlet is a method of a servlet; run runs a command.
	Servlet = Host{path: "App.java", indent: "    ", before: `import java.util.*;
import javax.servlet.http.*;
public class App extends HttpServlet {
  void run(String command) throws Exception { Runtime.getRuntime().exec(command); }
%s
  protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
    String x = request.getParameter("x");
`, after: "  }\n}\n"}
	// Handler is a handler of net/http; run runs a command.
	Handler = Host{path: "app.go", indent: "\t", before: `package main
import ("fmt"; "net/http"; "os/exec"; "strings"; "strconv")
func run(command string) { exec.Command("sh", "-c", command).Run() }
func main() { http.HandleFunc("/", handle); http.ListenAndServe(":80", nil) }
%s
func handle(w http.ResponseWriter, r *http.Request) {
	x := r.FormValue("x")
`, after: "}\n"}
)

// program returns the source with the code of a case at its places.
func (h Host) program(top, body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, h.before, strings.Trim(top, "\n"))
	for line := range strings.Lines(strings.Trim(body, "\n")) {
		b.WriteString(h.indent + line)
	}
	return b.String() + "\n" + h.after
}

// A Case is the code of a program. A comment "want command" says that data of the request
// reaches a sink of the kind on its line; every other line must stay silent.
type Case struct {
	Name string
	Top  string // declarations before the handler
	Body string // statements of the handler
}

// Run follows data through the program of each case.
func Run(t *testing.T, h Host, cases []Case) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			source := h.program(c.Top, c.Body)
			var got []string
			for _, f := range Analyze(t, map[string]string{h.path: source}, "remote") {
				got = append(got, fmt.Sprintf("%s %s", f.Sink(), f.Kind))
			}
			sort.Strings(got)
			if diff := cmp.Diff(wanted(h.path, source), slices.Compact(got)); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, source)
			}
		})
	}
}

// want matches the comments that name the kinds of sinks that data reaches on their lines.
var want = regexp.MustCompile(`(?://|#) want ([a-z ]+)`)

// wanted returns the findings that the comments of a source want, sorted.
func wanted(path, source string) []string {
	var list []string
	for i, line := range strings.Split(source, "\n") {
		if m := want.FindStringSubmatch(line); m != nil {
			for _, kind := range strings.Fields(m[1]) {
				list = append(list, fmt.Sprintf("%s:%d %s", path, i+1, kind))
			}
		}
	}
	sort.Strings(list)
	return list
}

// Analyze follows data of the kinds of sources ("remote", "argument", model.Library) through
// files, by their paths, with a rule for each kind of sinks.
func Analyze(t *testing.T, files map[string]string, sources ...string) []*findings.Finding {
	t.Helper()
	models, err := frameworks.Models()
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := model.Kinds(models)
	if err != nil {
		t.Fatal(err)
	}
	var rules []*rulematch.Rule
	for _, k := range kinds {
		rules = append(rules, &rulematch.Rule{Rule: &rule.Rule{ID: k, Taint: &rule.Taint{
			Model: &rule.Model{Sources: sources, Sinks: []string{k}}}}})
	}
	graph, err := callgraph.Build(t.Context(), lower(t, files, models), callgraph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found, problems, err := taint.Analyze(t.Context(), graph, models, rules, taint.Options{Workers: 1})
	if err != nil || len(problems) > 0 {
		t.Fatalf("problems %v, error %v", problems, err)
	}
	return found
}

// lower returns the intermediate form of the sources, in the order of their paths.
func lower(t *testing.T, sources map[string]string, models []*model.Model) []*ir.File {
	t.Helper()
	var paths []string
	for path := range sources {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	var files []*ir.File
	for _, path := range paths {
		l := all.ForFile(path)
		f, err := l.Parse(path, []byte(sources[path]), cst.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Unknown) > 0 {
			t.Fatalf("%s: not understood at line %d:\n%s", path, f.Line(f.Unknown[0].Start), sources[path])
		}
		files = append(files, ir.Lower(scope.Analyze(f, l, model.NewSet(l.Name, models).Known), l, ir.Limits{}))
	}
	return files
}
