package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"merlon/test/process"
	"merlon/test/sast/score"
	"merlon/test/sast/tool"
	"merlon/test/table"
)

// A ruleCase is what one rule of a corpus did in one file.
// Rules is the path of the file of rules, ID the rule in it, and Target the annotated file. Mode is
// the kind of rule, such as taint, and empty for pattern tests. Expect and Got are line numbers.
type ruleCase struct {
	Rules  string `json:"rules"`
	ID     string `json:"id"`
	Target string `json:"target"`
	Lang   string `json:"lang"`
	Mode   string `json:"mode,omitempty"`
	Expect []int  `json:"expect"`
	Got    []int  `json:"got"`
	Pass   bool   `json:"pass"`
	Error  string `json:"error,omitempty"`
}

// ruleConformance runs public rules on their annotated tests in one process.
// The expected lines come from the truth and not from the report of the program under test, which
// could be wrong about both in the same way.
func ruleConformance(ctx context.Context, b *bench) ([]table.Row, error) {
	truth, err := truthOf[score.RuleTest](b, "opengrep-rules-dev.jsonl")
	if err != nil {
		return nil, err
	}
	root, err := b.corpusPath("opengrep-rules")
	if err != nil {
		return nil, err
	}
	results, cost, err := b.merlon.RuleTests(ctx, root)
	if err != nil {
		return nil, err
	}
	// Results by rule and target: one rule may have several annotated files.
	got := map[string]tool.RuleResult{}
	for _, r := range results {
		got[ruleKey(r.Rules, r.ID, r.Target)] = r
	}
	var cases []ruleCase
	lenient := 0
	for _, t := range truth {
		lang := score.Language(t.Langs)
		if lang == "" {
			continue // a language of which nothing is promised
		}
		c := ruleCase{Rules: t.Rules, ID: t.ID, Target: t.Target, Lang: lang, Mode: t.Mode, Expect: t.Expect}
		r, ran := got[ruleKey(t.Rules, t.ID, t.Target)]
		c.Got, c.Error = r.Got, r.Error
		// A test that is in the truth and not in the report counts as failed.
		if !ran {
			c.Error = "not run"
		}
		c.Pass = c.Error == "" && score.Conforms(t.Expect, r.Got)
		// Lines marked todo are those that the authors of a rule want found and their own engine
		// misses; the note counts a test that finds them as right.
		if c.Error == "" && score.Conforms(t.Expect, score.Without(r.Got, t.Todo)) {
			lenient++
		}
		cases = append(cases, c)
	}
	right, err := b.keepRules("rules", cases)
	if err != nil {
		return nil, err
	}
	share := float64(right) / float64(max(1, len(cases)))
	return []table.Row{{Measure: "public rules, tests exactly equal", Floor: "≥ 92 %",
		Measured: fmt.Sprintf("%s (%d of %d)", table.Percent(share), right, len(cases)),
		Met:      table.Verdict(share >= floorRules), Note: fmt.Sprintf("%d without the lines marked todo; %s", lenient,
			table.Spent(cost))}}, nil
}

// ruleKey names a test; reports may write paths from another root.
// NUL cannot be part of a path, so two different tests never have the same key.
func ruleKey(rules, id, target string) string {
	return strings.TrimPrefix(rules, "./") + "\x00" + id + "\x00" + strings.TrimPrefix(target, "./")
}

// keepRules writes the cases and how many of each language and mode were wrong,
// and returns how many were right.
func (b *bench) keepRules(name string, cases []ruleCase) (int, error) {
	var judged []score.Case
	right := 0
	for _, c := range cases {
		// Tests that could not be run are a group of their own: they need other work than wrong
		// lines do.
		group := strings.TrimSpace(c.Lang + " " + c.Mode)
		if c.Error != "" {
			group += " error"
		}
		// Each test is a case that is real, so that a failed one counts as a false negative of its
		// group.
		judged = append(judged, score.Case{ID: c.ID, Group: group, Real: true, Found: c.Pass})
		if c.Pass {
			right++
		}
	}
	if err := b.writeCases(name+".tally", judged); err != nil {
		return 0, err
	}
	return right, table.Keep(filepath.Join(b.out, name+".jsonl"), cases)
}

// patternFolders are the folders of the pattern tests whose languages must run,
// with the ending of their files and the name of the language in rules.
// Languages that the engine searches by patterns only are included. A new language is a row here.
var patternFolders = []struct{ dir, ending, lang string }{
	{"java", ".java", "java"}, {"js", ".js", "js"}, {"ts", ".ts", "ts"}, {"python", ".py", "python"},
	{"go", ".go", "go"},
	{"php", ".php", "php"}, {"ruby", ".rb", "ruby"}, {"csharp", ".cs", "csharp"}, {"kotlin", ".kt", "kotlin"},
	{"c", ".c", "c"},
	{"cpp", ".cpp", "cpp"}, {"rust", ".rs", "rust"}, {"scala", ".scala", "scala"}, {"bash", ".bash", "bash"},
	{"terraform", ".tf", "terraform"}, {"yaml", ".yaml", "yaml"}, {"json", ".json", "json"},
	{"dockerfile", ".dockerfile", "dockerfile"},
	{"html", ".html", "html"}, {"xml", ".xml", "xml"}, {"generic", ".generic", "generic"},
}

// measurePatterns runs the pattern tests of the engine that defines the syntax: a pattern
// and a file whose marked lines it must match. The tests of a language run in one
// process, each rule on its own file.
// The folder is the language's name in that test suite, ending selects the targets, and lang is the
// name that rule files use.
func measurePatterns(ctx context.Context, b *bench) ([]table.Row, error) {
	root, err := b.corpusPath("opengrep-tests", "patterns")
	if err != nil {
		return nil, err
	}
	var cases []ruleCase
	var total process.Cost
	for _, folder := range patternFolders {
		targets, err := filepath.Glob(filepath.Join(root, folder.dir, "*"+folder.ending))
		if err != nil {
			return nil, err
		}
		// A folder that has no targets is one that a newer or older checkout does not have.
		if len(targets) == 0 {
			continue
		}
		got, cost, err := b.patternsOf(ctx, root, folder.lang, targets)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", folder.dir, err)
		}
		cases = append(cases, got...)
		total.Add(cost)
	}
	right, err := b.keepRules("patterns", cases)
	if err != nil {
		return nil, err
	}
	share := float64(right) / float64(max(1, len(cases)))
	return []table.Row{{Measure: "pattern tests of the syntax", Floor: "≥ 85 %",
		Measured: fmt.Sprintf("%s (%d of %d)", table.Percent(share), right, len(cases)),
		Met:      table.Verdict(share >= floorPatterns), Note: table.Spent(total)}}, nil
}

// patternsOf runs the tests of one language on copies of their targets, so that
// only targets with a pattern are looked at.
// Without copies each scan would read the whole folder again, with the files of tests that another
// rule is for.
func (b *bench) patternsOf(ctx context.Context, root, lang string, targets []string) ([]ruleCase, process.Cost, error) {
	temp, err := os.MkdirTemp("", "merlon-patterns")
	if err != nil {
		return nil, process.Cost{}, err
	}
	defer func() { _ = os.RemoveAll(temp) }() // what stays is small
	code := filepath.Join(temp, "code")
	if err := os.Mkdir(code, 0o755); err != nil {
		return nil, process.Cost{}, err
	}
	var cases []ruleCase
	var rules []any
	for _, target := range targets {
		c, rule, err := patternTest(root, lang, target)
		if err != nil {
			return nil, process.Cost{}, err
		}
		text, err := os.ReadFile(target)
		if err != nil {
			return nil, process.Cost{}, err
		}
		if err := os.WriteFile(filepath.Join(code, filepath.Base(target)), text, 0o644); err != nil {
			return nil, process.Cost{}, err
		}
		// The targets mark the lines that must match with "ERROR:" or "MATCH:" on the line before.
		c.Expect = score.Marked(string(text))
		cases, rules = append(cases, c), append(rules, rule)
	}
	cost, err := b.runRules(ctx, code, cases, rules)
	return cases, cost, err
}

// runRules runs the rules of the cases together, or, when one of them is refused and
// all with it, halves of them, down to the one that is at fault.
// One invalid pattern makes the whole file of rules invalid. Halving costs 2·log2(n) more runs per
// invalid rule, against n runs when each rule had a process of its own.
func (b *bench) runRules(ctx context.Context, code string, cases []ruleCase, rules []any) (process.Cost, error) {
	file, err := json.Marshal(map[string]any{"rules": rules}) // JSON is YAML
	if err != nil {
		return process.Cost{}, err
	}
	name := code + ".json"
	if err := os.WriteFile(name, file, 0o644); err != nil {
		return process.Cost{}, err
	}
	scan, err := b.merlon.Match(ctx, code, name)
	if err == nil {
		for i := range cases {
			cases[i].readResults(scan)
		}
		return scan.Cost, nil
	}
	// A canceled context is the error of the run; anything else is the result of this one case.
	if len(cases) == 1 {
		cases[0].Error = err.Error()
		return process.Cost{}, ctx.Err()
	}
	half := len(cases) / 2
	cost, err := b.runRules(ctx, code, cases[:half], rules[:half])
	if err != nil {
		return cost, err
	}
	more, err := b.runRules(ctx, code, cases[half:], rules[half:])
	cost.Add(more)
	return cost, err
}

// patternTest returns the test of a target, and the rule of its pattern: that has
// the same name with the ending .sgrep, beside it or in the folder of patterns
// that languages share.
// The folder POLYGLOT has patterns such as "foo(...)" that mean the same in many languages.
func patternTest(root, lang, target string) (ruleCase, any, error) {
	name := strings.TrimSuffix(filepath.Base(target), filepath.Ext(target))
	source := strings.TrimSuffix(target, filepath.Ext(target)) + ".sgrep"
	if _, err := os.Stat(source); err != nil {
		source = filepath.Join(root, "POLYGLOT", name+".sgrep")
	}
	pattern, err := os.ReadFile(source)
	if err != nil {
		return ruleCase{}, nil, err
	}
	c := ruleCase{Rules: source, ID: lang + "." + name, Target: target, Lang: lang}
	return c, map[string]any{
		"id": c.ID, "message": c.ID, "severity": "ERROR", "languages": []string{lang}, "pattern": string(pattern),
		// Limits the rule to its own target: the others are in the same folder.
		"paths": map[string]any{"include": []string{filepath.Base(target)}},
	}, nil
}

// readResults takes from a scan what the rule of the test reported in its target.
func (c *ruleCase) readResults(scan *tool.Scan) {
	for _, f := range scan.Findings {
		if f.Rule == c.ID && f.File == filepath.Base(c.Target) {
			c.Got = append(c.Got, f.Line)
		}
	}
	// A rule that the engine could not run is recorded as a coverage gap that begins with its id.
	for _, reason := range scan.Degraded {
		if strings.Contains(reason, c.ID+":") {
			c.Error = reason
		}
	}
	c.Pass = score.Conforms(c.Expect, c.Got)
}
