package callgraph_test

import (
	"context"
	"slices"
	"testing"

	"merlon/internal/engine/sast/callgraph"
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/scope"
)

// A module shows its members, their members, and the methods of what functions make.
func TestExposed(t *testing.T) {
	sources := map[string]string{
		"one.js": `
function hidden() {}
function Box() {}
Box.prototype.open = function open() { hidden(); };
class Bag { close() {} }
const api = { box: Box, inner: { deep: function deep() {} }, Bag };
api.late = function late() {};
module.exports = (function () { return api; })();
`,
		"two.js":   "exports.a = function a() {};\nfunction b() {}\n",
		"three.js": "function c() {}\nc();\n",
	}
	var files []*ir.File
	for name, text := range sources {
		l := all.ForFile(name)
		f, err := l.Parse(name, []byte(text), cst.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, ir.Lower(scope.Analyze(f, l, nil), l, ir.Limits{}))
	}
	g, err := callgraph.Build(context.Background(), files, callgraph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for module, want := range map[string][]string{
		"one":   {"Box", "close", "deep", "late", "open"},
		"two":   nil, // it has no value of its own: its names say what it exports
		"three": nil,
		"four":  nil,
	} {
		var got []string
		for _, fn := range g.Exposed(module) {
			got = append(got, fn.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("module %s: got %v, want %v", module, got, want)
		}
	}
}
