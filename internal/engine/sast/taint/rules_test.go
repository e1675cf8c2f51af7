package taint_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"merlon/internal/engine/sast/callgraph"
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/taint"
	"merlon/internal/engine/sast/taint/rulematch"
)

// TestRulesWithPlaces runs rules with patterns of their own. A comment "found id"
// says that the rule finds its line; every other line is silent.
func TestRulesWithPlaces(t *testing.T) {
	text, err := os.ReadFile("testdata/rules/flow.yaml")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := rule.Parse("flow.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile("testdata/rules/flow.py")
	if err != nil {
		t.Fatal(err)
	}
	l := all.ForFile("flow.py")
	f, err := l.Parse("flow.py", src, cst.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	names := scope.Analyze(f, l, nil)
	file := pattern.NewFile(f, l, names)
	var list []*rulematch.Rule
	for _, r := range parsed {
		c, err := rulematch.Compile(r, pattern.Setting{Language: l, Options: r.Options})
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Match(file)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, &rulematch.Rule{Rule: r, Places: map[string]*rulematch.Places{"flow.py": p}})
	}
	graph, err := callgraph.Build(context.Background(), []*ir.File{ir.Lower(names, l, ir.Limits{})}, callgraph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found, problems, err := taint.Analyze(context.Background(), graph, nil, list, taint.Options{})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	var got, want []string
	for _, x := range found {
		got = append(got, fmt.Sprintf("%d %s", x.Sink().Line(), x.Rule.Rule.ID))
		if x.Match() == nil || x.SourceMatch() == nil {
			t.Errorf("%s at %s has no matches", x.Rule.Rule.ID, x.Sink())
		}
	}
	comment := regexp.MustCompile(`# found (\w+)`)
	for i, line := range strings.Split(string(src), "\n") {
		if m := comment.FindStringSubmatch(line); m != nil {
			want = append(want, fmt.Sprintf("%d %s", i+1, m[1]))
		}
	}
	sort.Strings(got)
	sort.Strings(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
