package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"merlon/test/sast/score"
	"merlon/test/sast/tool"
)

// A ruleCase is what one rule of a corpus did in one file.
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
func ruleConformance(ctx context.Context, b *bench) ([]row, error) {
	truth, err := truthOf[score.RuleTest](b, "opengrep-rules-dev.jsonl")
	if err != nil {
		return nil, err
	}
	root, err := b.corpus("opengrep-rules")
	if err != nil {
		return nil, err
	}
	results, cost, err := b.merlon.RuleTests(ctx, root)
	if err != nil {
		return nil, err
	}
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
		if !ran {
			c.Error = "not run"
		}
		c.Pass = c.Error == "" && score.Conforms(t.Expect, r.Got)
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
	return []row{{"public rules, tests exactly equal", "≥ 92 %", fmt.Sprintf("%s (%d of %d)", percent(share), right, len(cases)),
		verdict(share >= floorRules), fmt.Sprintf("%d without the lines marked todo; %s", lenient, spent(cost))}}, nil
}

// ruleKey names a test; reports may write paths from another root.
func ruleKey(rules, id, target string) string {
	return strings.TrimPrefix(rules, "./") + "\x00" + id + "\x00" + strings.TrimPrefix(target, "./")
}

// keepRules writes the cases and how many of each language and mode were wrong,
// and returns how many were right.
func (b *bench) keepRules(name string, cases []ruleCase) (int, error) {
	var judged []score.Case
	right := 0
	for _, c := range cases {
		group := strings.TrimSpace(c.Lang + " " + c.Mode)
		if c.Error != "" {
			group += " error"
		}
		judged = append(judged, score.Case{ID: c.ID, Group: group, Real: true, Found: c.Pass})
		if c.Pass {
			right++
		}
	}
	if err := b.keep(name+".tally", judged); err != nil {
		return 0, err
	}
	return right, writeJSONL(filepath.Join(b.out, name+".jsonl"), cases)
}

// patternFolders are the folders of the pattern tests whose languages must run,
// with the ending of their files and the name of the language in rules.
var patternFolders = []struct{ dir, ending, lang string }{
	{"java", ".java", "java"}, {"js", ".js", "js"}, {"ts", ".ts", "ts"}, {"python", ".py", "python"}, {"go", ".go", "go"},
	{"php", ".php", "php"}, {"ruby", ".rb", "ruby"}, {"csharp", ".cs", "csharp"}, {"kotlin", ".kt", "kotlin"}, {"c", ".c", "c"},
	{"cpp", ".cpp", "cpp"}, {"rust", ".rs", "rust"}, {"scala", ".scala", "scala"}, {"bash", ".bash", "bash"},
	{"terraform", ".tf", "terraform"}, {"yaml", ".yaml", "yaml"}, {"json", ".json", "json"}, {"dockerfile", ".dockerfile", "dockerfile"},
	{"html", ".html", "html"}, {"xml", ".xml", "xml"}, {"generic", ".generic", "generic"},
}

// patterns runs each pattern test of the engine that defines the syntax: a
// pattern and a file whose marked lines it must match.
func patterns(ctx context.Context, b *bench) ([]row, error) {
	root, err := b.corpus("opengrep-tests", "patterns")
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "merlon-patterns")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temp) }() // what stays is small
	var tests []patternTest
	for _, folder := range patternFolders {
		targets, err := filepath.Glob(filepath.Join(root, folder.dir, "*"+folder.ending))
		if err != nil {
			return nil, err
		}
		for _, target := range targets {
			tests = append(tests, patternTest{root: root, target: target, lang: folder.lang})
		}
	}
	cases, err := each(b.jobs, tests, func(t patternTest) (ruleCase, error) { return t.run(ctx, b, temp) })
	if err != nil {
		return nil, err
	}
	right, err := b.keepRules("patterns", cases)
	if err != nil {
		return nil, err
	}
	share := float64(right) / float64(max(1, len(cases)))
	return []row{{"pattern tests of the syntax", "≥ 85 %", fmt.Sprintf("%s (%d of %d)", percent(share), right, len(cases)),
		verdict(share >= floorPatterns), "one process for each"}}, nil
}

// A patternTest is a target; its pattern has the same name with the ending
// .sgrep, beside it or in the folder of patterns that languages share.
type patternTest struct{ root, target, lang string }

func (t patternTest) run(ctx context.Context, b *bench, temp string) (ruleCase, error) {
	name := strings.TrimSuffix(filepath.Base(t.target), filepath.Ext(t.target))
	source := strings.TrimSuffix(t.target, filepath.Ext(t.target)) + ".sgrep"
	if _, err := os.Stat(source); err != nil {
		source = filepath.Join(t.root, "POLYGLOT", name+".sgrep")
	}
	pattern, err := os.ReadFile(source)
	if err != nil {
		return ruleCase{}, err
	}
	text, err := os.ReadFile(t.target)
	if err != nil {
		return ruleCase{}, err
	}
	c := ruleCase{Rules: source, ID: t.lang + "." + name, Target: t.target, Lang: t.lang, Expect: score.Marked(string(text))}
	rule, err := patternRule(c.ID, t.lang, string(pattern))
	if err != nil {
		return ruleCase{}, err
	}
	file := filepath.Join(temp, c.ID+".json") // JSON is YAML
	if err := os.WriteFile(file, rule, 0o644); err != nil {
		return ruleCase{}, err
	}
	scan, err := b.merlon.Match(ctx, t.target, file)
	if err != nil {
		c.Error = err.Error()
		return c, nil
	}
	for _, f := range scan.Findings {
		c.Got = append(c.Got, f.Line)
	}
	c.Pass = score.Conforms(c.Expect, c.Got)
	if len(scan.Degraded) > 0 {
		c.Error = strings.Join(scan.Degraded, "; ")
	}
	return c, nil
}

// patternRule writes a rule with one pattern.
func patternRule(id, lang, pattern string) ([]byte, error) {
	return json.Marshal(map[string]any{"rules": []any{map[string]any{
		"id": id, "message": id, "severity": "ERROR", "languages": []string{lang}, "pattern": pattern,
	}}})
}
