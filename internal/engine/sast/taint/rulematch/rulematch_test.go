package rulematch_test

import (
	"strings"
	"testing"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/lang/python"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/taint/rulematch"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/taintset"
)

// modelRule is a rule that asks for data of models.
func modelRule(sources, sinks []string) *rulematch.Rule {
	return &rulematch.Rule{Rule: &rule.Rule{ID: "a", Taint: &rule.Taint{Model: &rule.Model{Sources: sources,
		Sinks: sinks}}}}
}

func TestWants(t *testing.T) {
	asks := modelRule([]string{"remote"}, []string{"sql"})
	own := &rulematch.Rule{Rule: &rule.Rule{ID: "b", Taint: &rule.Taint{}}}
	const number = 3 // of the rule in its run
	for _, c := range []struct {
		name   string
		r      *rulematch.Rule
		source taintset.Source
		sink   summary.SinkKey
		want   bool
	}{
		{"a source and a sink of models", asks, taintset.Source{Kind: "remote", Rule: -1},
			summary.SinkKey{Kind: "sql", Rule: -1}, true},
		{"another kind of source", asks, taintset.Source{Kind: "argument", Rule: -1},
			summary.SinkKey{Kind: "sql", Rule: -1}, false},
		{"another kind of sink", asks, taintset.Source{Kind: "remote", Rule: -1},
			summary.SinkKey{Kind: "html", Rule: -1}, false},
		{"a source of the rule itself", asks, taintset.Source{Rule: number},
			summary.SinkKey{Kind: "sql", Rule: -1}, true},
		{"a sink of another rule", asks, taintset.Source{Kind: "remote", Rule: -1},
			summary.SinkKey{Rule: number + 1}, false},
		{"both of the rule itself", own, taintset.Source{Rule: number}, summary.SinkKey{Rule: number}, true},
		{"a source of another rule", own, taintset.Source{Rule: number + 1}, summary.SinkKey{Rule: number}, false},
		{"a model for a rule that asks for none", own, taintset.Source{Kind: "remote", Rule: -1},
			summary.SinkKey{Rule: number}, false},
	} {
		if got := c.r.Wants(number, &c.source, &summary.PendingSink{SinkKey: c.sink}); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWhatARuleAsksFor(t *testing.T) {
	behind := modelRule([]string{"remote"}, nil)
	behind.Rule.Taint.Model.Behind = true
	plain := &rulematch.Rule{Rule: &rule.Rule{ID: "b", Taint: &rule.Taint{Sources: []rule.Source{{}}}}}
	for _, c := range []struct {
		name      string
		got, want bool
	}{
		{"data behind something", behind.AsksForPrefix(), true},
		{"data anywhere", modelRule([]string{"remote"}, nil).AsksForPrefix(), false},
		{"callers of a library", modelRule([]string{model.Library}, nil).AsksLibrary(), true},
		{"no callers", modelRule([]string{"remote"}, nil).AsksLibrary(), false},
		{"expressions alone", modelRule([]string{model.ExponentialExpression}, nil).AsksForExpressions(), true},
		{"expressions and data", modelRule([]string{model.ExponentialExpression, "remote"}, nil).AsksForExpressions(),
			false},
		{"no model", plain.AsksForPrefix() || plain.AsksLibrary() || plain.AsksForExpressions(), false},
		{"patterns of its own", plain.HasPatterns(), true},
		{"no patterns of its own", behind.HasPatterns(), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestAppliesTo(t *testing.T) {
	l := &lang.Language{Name: "typescript", Spellings: []string{"typescript", "ts"}}
	for _, c := range []struct {
		languages []string
		want      bool
	}{
		{nil, true}, {[]string{"ts"}, true}, {[]string{"java", "typescript"}, true}, {[]string{"java"}, false},
	} {
		r := &rulematch.Rule{Rule: &rule.Rule{Languages: c.languages}}
		if got := r.AppliesTo(l); got != c.want {
			t.Errorf("a rule for %v: got %v, want %v", c.languages, got, c.want)
		}
	}
}

func TestFamily(t *testing.T) {
	r := &rulematch.Rule{Rule: &rule.Rule{ID: "a"}}
	if got := r.Family(); got != "a" {
		t.Errorf("a rule without a family: got %q, want its own name", got)
	}
	r.Rule.Metadata = map[string]any{"family": "sql"}
	if got := r.Family(); got != "sql" {
		t.Errorf("got %q, want sql", got)
	}
}

// text is a rule in the format of rule files.
const text = `rules:
  - id: own
    languages: [python]
    severity: ERROR
    message: m
    mode: taint
    pattern-sources:
      - pattern: ask()
    pattern-sinks:
      - pattern: run($X)
    pattern-sanitizers:
      - pattern: clean(...)
`

// TestMatch pins that a file with neither a source nor a sink has no places.
func TestMatch(t *testing.T) {
	rules, err := rule.Parser{}.Parse("own.yaml", []byte(text))
	if err != nil || len(rules) != 1 {
		t.Fatal(rules, err)
	}
	compiled, err := rulematch.Compile(rules[0], pattern.Setting{Language: python.Language})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		source string
		want   bool
	}{
		{"run(ask())\n", true},
		{"ask()\n", true},
		{"run(clean(a))\n", true},
		{"clean(a)\n", false}, // a sanitizer alone cleans nothing
		{"other(a)\n", false},
		{"", false},
	} {
		f, err := python.Language.Parse("a.py", []byte(c.source), cst.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		places, err := compiled.Match(pattern.NewFile(f, python.Language, scope.Analyze(f, python.Language, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if got := places != nil; got != c.want {
			t.Errorf("%q: has places: %v, want %v", strings.TrimSpace(c.source), got, c.want)
		}
	}
}
