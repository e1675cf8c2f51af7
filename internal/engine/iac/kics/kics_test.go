package kics

import (
	"context"
	"errors"
	"fmt"
	"path"
	"testing"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics/module"
)

// docs reads a YAML text as documents of one unit.
func docs(t *testing.T, platform document.Platform, name, text string) []*document.Document {
	t.Helper()
	trees, err := document.DecodeYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out []*document.Document
	for i, tree := range trees {
		out = append(out, &document.Document{
			Platform: platform, Format: document.YAML, Path: name, Index: i, Unit: "unit", Root: tree.Root,
			Lines: tree.Lines, Text: []byte(text),
		})
	}
	return out
}

const bucket = `Resources:
  Site:
    Type: AWS::S3::Bucket
    Properties:
      AccessControl: PublicRead
`

func TestRun(t *testing.T) {
	flaws, failures, err := Run(t.Context(), docs(t, document.CloudFormation, "stack.yaml", bucket), 2)
	if err != nil || len(failures) > 0 {
		t.Fatalf("%v, failures %v", err, failures)
	}
	found := false
	for _, f := range flaws {
		if f.Rule.ID == "iac/cloudformation/aws-s3-bucket-acl-allows-read-to-all-users" {
			found = true
			if f.Line != 5 || f.Path != "stack.yaml" || f.Kind != "AWS::S3::Bucket" || f.Expected == "" ||
				f.Actual == "" {
				t.Errorf("the flaw is %+v", f)
			}
		}
	}
	if !found {
		t.Errorf("the public bucket is not among %d flaws", len(flaws))
	}
}

// Every query of every platform can be read, and has a
// rule with all that a rule must say.
func TestLibraryIsWhole(t *testing.T) {
	l, err := sharedLibrary()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	ids := map[string]string{}
	for _, name := range document.Platforms {
		p, err := l.loadPlatform(name)
		if err != nil {
			t.Fatal(err)
		}
		if p == nil {
			continue
		}
		held := make([]bool, len(p.words))
		for i := range held {
			held[i] = true
		}
		all := p.chooseQueries(held)
		if len(all) != len(p.index.Queries) {
			t.Errorf("%s: %d of %d queries can be triggered at all", name, len(all), len(p.index.Queries))
		}
		if err := prepareQueries(t.Context(), []platformQueries{{p, all}}, 2); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		about, err := p.about()
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.index.Queries {
			overrides := []string{""}
			for o := range about[i].Override {
				overrides = append(overrides, o)
			}
			for _, o := range overrides {
				r, err := p.newRule(i, o)
				if err != nil {
					t.Fatal(err)
				}
				key := fmt.Sprint(name, p.index.Queries[i].Name, o)
				if other := ids[r.ID]; other != "" {
					t.Errorf("%s and %s are both %s", key, other, r.ID)
				}
				ids[r.ID] = key
				if r.Name == "" || r.Description == "" || len(r.CWE) == 0 || r.Severity.Rank() == 0 ||
					r.Confidence == "" || len(r.ID) > 200 {
					t.Errorf("%s: an incomplete rule: %+v", key, r)
				}
			}
		}
		count += len(p.index.Queries)
	}
	if count < 1690 {
		t.Errorf("there are %d queries, want the whole library", count)
	}
}

// What is not made ready has no results: the choice by words loses nothing.
func TestChoiceLosesNothing(t *testing.T) {
	stack := docs(t, document.CloudFormation, "stack.yaml", bucket)
	l, err := sharedLibrary()
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.loadPlatform(document.CloudFormation)
	if err != nil {
		t.Fatal(err)
	}
	held := make([]bool, len(p.words))
	for i := range held {
		held[i] = true
	}
	every, chosen := p.chooseQueries(held), p.chooseQueries(p.wordsOf(stack))
	if len(chosen) == 0 || len(chosen) > len(every)/4 {
		t.Errorf("%d of %d queries are chosen for one bucket", len(chosen), len(every))
	}
	u := &unit{platform: p, docs: stack}
	input, err := u.evaluatorInput()
	if err != nil {
		t.Fatal(err)
	}
	count := func(list []queryChoice) int {
		if err := prepareQueries(t.Context(), []platformQueries{{p, list}}, 1); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, c := range list {
			q := evaluation{unit: u, query: c.query}
			results, err := q.evaluate(t.Context(), input)
			if err != nil {
				t.Fatal(err)
			}
			n += len(results)
		}
		return n
	}
	if a, b := count(chosen), count(every); a != b || a == 0 {
		t.Errorf("the chosen queries have %d results, all have %d", a, b)
	}
}

// A query that does not end is stopped, and says so.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := Run(ctx, docs(t, document.CloudFormation, "stack.yaml", bucket), 1)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run: %v", err)
	}
}

func TestSplitBoundsUnits(t *testing.T) {
	var list []*document.Document
	for range maxUnit + 1 {
		list = append(list, &document.Document{Unit: "a"})
	}
	list = append(list, &document.Document{}, &document.Document{})
	var sizes []int
	for _, u := range splitUnits(&platform{}, list) {
		sizes = append(sizes, len(u.docs))
	}
	if fmt.Sprint(sizes) != fmt.Sprint([]int{maxUnit, 1, 1, 1}) {
		t.Errorf("units of %v documents", sizes)
	}
}

// Every section belongs to a query that there is.
func TestBenchmarksNameQueries(t *testing.T) {
	l, err := sharedLibrary()
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for _, f := range []benchmarkFamily{amazon, kubernetes, docker, azure, google} {
		for name := range f.sections {
			left[f.benchmark+" "+name] = true
		}
	}
	for _, name := range document.Platforms {
		p, err := l.loadPlatform(name)
		if err != nil {
			t.Fatal(err)
		}
		if p == nil {
			continue
		}
		for _, q := range p.index.Queries {
			delete(left, familyOf(name, q.Name).benchmark+" "+path.Base(q.Name))
		}
	}
	for name := range left {
		t.Errorf("there is no query %s", name)
	}
	if got := benchmarkText(document.Kubernetes, "container_is_privileged"); got != "\n\nReference: CIS Kubernetes "+
		"Benchmark 1.8, section 5.2.2." {
		t.Errorf("the reference is %q", got)
	}
	if got := benchmarkText(document.Ansible, "config/x"); got != "" {
		t.Errorf("the reference of a query in no benchmark is %q", got)
	}
}

func TestNeedsAreKept(t *testing.T) {
	if !isMet([][]int{{0, 1}, {2}}, []bool{false, true, true}) || isMet([][]int{{0}, {1}}, []bool{true, false}) ||
		!isMet(nil, nil) {
		t.Error("a rule is chosen when of each list one word is there")
	}
}

// Of a query the functions are read, and of the rules that yield results those that are
// chosen.
func TestRead(t *testing.T) {
	l, err := sharedLibrary()
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.loadPlatform(document.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.modules()
	if err != nil {
		t.Fatal(err)
	}
	several := false
	for i, q := range p.index.Queries {
		for _, all := range []bool{true, false} {
			c := queryChoice{query: i, rules: make([]bool, len(q.Rules))}
			chosen := 0
			for j := range c.rules {
				c.rules[j] = all || j == 0
				if c.rules[j] {
					chosen++
				}
			}
			one, err := p.readQuery(module.NewReader(m.tables), m, c)
			if err != nil {
				t.Fatal(err)
			}
			yield := 0
			for _, r := range one.Rules {
				if r.Head.Name == "CxPolicy" {
					yield++
				}
			}
			if yield != chosen || len(one.Rules)-yield != len(q.Sizes)-len(q.Rules) {
				t.Errorf("%s: %d rules of %d are chosen; %d are read, and %d functions", q.Name, chosen, len(q.Rules),
					yield, len(one.Rules)-yield)
			}
			several = several || chosen > 1
		}
	}
	if !several {
		t.Error("no query has more than one rule")
	}
}

func BenchmarkFirstFinding(b *testing.B) {
	trees, err := document.DecodeYAML([]byte(bucket))
	if err != nil {
		b.Fatal(err)
	}
	d := &document.Document{Platform: document.CloudFormation, Path: "stack.yaml", Root: trees[0].Root,
		Lines: trees[0].Lines, Text: []byte(bucket)}
	l, err := sharedLibrary()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l.mu.Lock()
		l.platforms = map[document.Platform]*platform{} // as in a new process
		l.mu.Unlock()
		if _, _, err := Run(b.Context(), []*document.Document{d}, 2); err != nil {
			b.Fatal(err)
		}
	}
}
