package findings_test

import (
	"fmt"
	"slices"
	"sort"
	"testing"

	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/tainttest"
)

// TestOneFindingForEachSink pins that the ways to a sink make one finding, with the path
// of one of them, and that sinks on two lines make two.
func TestOneFindingForEachSink(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []int // lines of sinks
	}{
		{"two ways from one source", `
    y = request.args["x"]
    z = y + "a"
    os.system(y + z)`, []int{9}},
		{"two sources", `
    os.system(request.args["a"] + request.form["b"])`, []int{7}},
		{"two sinks", `
    y = request.args["x"]
    os.system(y)
    os.system(y + "a")`, []int{8, 9}},
		{"a loop", `
    for y in request.args.getlist("x"):
        os.system(y)`, []int{8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := "import os\nfrom flask import Flask, request\napp = Flask(__name__)\n@app.route('/')\n" +
				"def view():" + "\n" + c.body + "\n"
			var got []int
			for _, f := range tainttest.Analyze(t, map[string]string{"app.py": source}, "remote") {
				got = append(got, f.Path[len(f.Path)-1].Line())
			}
			sort.Ints(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("sinks on lines %v, want %v", got, c.want)
			}
		})
	}
}

// TestPath pins that a path begins at the source, passes the calls and assignments between
// and ends at the sink, also across files.
func TestPath(t *testing.T) {
	files := map[string]string{
		"store.py": "import os\n\ndef save(name):\n    text = 'ls ' + name\n    os.system(text)\n",
		"app.py": "from flask import Flask, request\nimport store\napp = Flask(__name__)\n@app.route('/')\n" +
			"def view():\n    name = request.args['a']\n    store.save(name)\n",
	}
	found := tainttest.Analyze(t, files, "remote")
	if len(found) != 1 {
		t.Fatalf("%d findings, want one", len(found))
	}
	var path []string
	for _, p := range found[0].Path {
		path = append(path, p.String())
	}
	path = slices.Compact(path)
	first, last := "app.py:6", "store.py:5"
	if path[0] != first || path[len(path)-1] != last || !slices.Contains(path, "app.py:7") {
		t.Errorf("the path is %v, want one from %s by app.py:7 to %s", path, first, last)
	}
}

// TestLibrary pins what counts as the interface of a package that others use: parameters of
// exported functions are sources there, and not in a program that handles requests itself.
func TestLibrary(t *testing.T) {
	const lib = "const { exec } = require('child_process')\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"an exported function", map[string]string{
			"index.js": lib + "exports.run = name => exec('ls ' + name)\n"},
			[]string{"index.js:2 command"}},
		{"a function that is not exported", map[string]string{
			"index.js": lib + "const run = name => exec('ls ' + name)\nexports.a = 1\n"}, nil},
		{"a method of an exported class", map[string]string{
			"index.js": lib + "class A { run(name) { exec('ls ' + name) } }\nmodule.exports = A\n"},
			[]string{"index.js:2 command"}},
		{"a function that an exported one calls", map[string]string{
			"index.js": lib + "function run(name) { exec('ls ' + name) }\nexports.go = n => run(n)\n"},
			[]string{"index.js:2 command"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range tainttest.Analyze(t, c.files, "remote", model.Library) {
				got = append(got, fmt.Sprintf("%s %s", f.Sink(), f.Kind))
			}
			sort.Strings(got)
			if got = slices.Compact(got); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
