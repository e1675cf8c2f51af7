package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"merlon/test/process"
	"merlon/test/table"
)

// This file measures workflows on the test files of zizmor. What is expected is
// taken from the outputs that its tests demand (snapshots.go): the audit and the
// lines of each finding, in any of its modes. A finding of merlon counts when its
// rule is of that kind and its line is within those lines. For the other scanners
// any finding on such a line counts, whatever it says, and one without a line
// counts for all missing or too broad permissions of its file: their number is an
// upper bound.
//
// A file whose test expects nothing of its audit is a negative case: any finding
// of that kind is wrong, except one of low confidence where only zizmor's normal
// mode is silent, which says nothing of its own findings of low confidence. Kinds
// that the file tells zizmor to leave out in a comment do not count.
//
// The files are divided by a hash of their names. Rules are made on one half only.

// kinds names the rules of merlon that speak of the same thing as an audit.
// An audit without an entry counts as missed. To add a rule, append its id, without the prefix,
// to its audit.
var kinds = map[string][]string{
	"template-injection": {"template-injection", "expression-in-script"}, "dangerous-triggers": {"dangerous-trigger"},
	"excessive-permissions": {"excessive-permissions", "missing-permissions"}, "artipacked": {"persisted-credentials"},
	"unpinned-uses": {"unpinned-uses"}, "unpinned-images": {"unpinned-image"}, "unpinned-tools": {"unpinned-tool"},
	"archived-uses": {"archived-action"}, "known-vulnerable-actions": {"known-vulnerable-action"},
	"typosquat-uses":      {"typosquat-uses"},
	"superfluous-actions": {"superfluous-action"}, "adhoc-packages": {"adhoc-packages"},
	"cache-poisoning": {"cache-poisoning"},
	"github-env":      {"environment-injection"}, "insecure-commands": {"insecure-commands"},
	"bot-conditions":    {"spoofable-actor"},
	"unsound-condition": {"unsound-condition"}, "unsound-contains": {"unsound-contains"},
	"unsound-ternary": {"unsound-ternary"},
	"secrets-inherit": {"secrets-inherit"}, "overprovisioned-secrets": {"overprovisioned-secrets"},
	"unredacted-secrets":              {"unredacted-secret"},
	"secrets-outside-env":             {"secrets-outside-environment"},
	"hardcoded-container-credentials": {"container-credentials"},
	"self-hosted-runner":              {"self-hosted-runner"}, "use-trusted-publishing": {"use-trusted-publishing"},
	"obfuscation":          {"obfuscation"},
	"anonymous-definition": {"anonymous-definition"}, "undocumented-permissions": {"undocumented-permission"},
	"concurrency-limits": {"missing-concurrency"}, "dependabot-cooldown": {"dependabot-cooldown"},
	"dependabot-execution": {"dependabot-execution"},
	"misfeature":           {"misfeature"}, "github-app": {"github-app"}, "self-repository": {"workspace-action"},
	"insecure-url-scheme": {"insecure-url"},
}

// A spot is a finding of any scanner in a case.
// Rule is the last part of the id for merlon, and the id as reported for the others.
type spot struct {
	Rule string `json:"rule"`
	Path string `json:"path"` // below the case's input; "" when that is a file
	Line int    `json:"line"` // 0 when it has none
	Low  bool   `json:"low"`  // of low confidence
}

// measurePipelines scans the workflows of zizmor's test suite, whose snapshots state the
// expected findings of each audit.
// The snapshots are read and not run: zizmor itself is not needed.
func measurePipelines(ctx context.Context, b *bench) ([]table.Row, error) {
	tests := filepath.Join(b.corpora, "zizmor", "crates", "zizmor", "tests", "integration")
	if _, err := os.Stat(tests); err != nil {
		return nil, err
	}
	snapshots, err := readSnapshots(tests)
	if err != nil {
		return nil, err
	}
	// One file is used by several tests; it is scanned once.
	all := joinRuns(snapshots)
	tree := filepath.Join(b.out, "pipelines")
	layout, err := layOut(filepath.Join(tests, "test-data"), tree, all)
	if err != nil {
		return nil, err
	}
	ours, err := merlonSpots(ctx, b, tree, layout)
	if err != nil {
		return nil, err
	}
	peers, err := peerSpots(ctx, b, tree, layout)
	if err != nil {
		return nil, err
	}
	return pipelineRows(b, filepath.Join(tests, "test-data"), all, ours, peers)
}

// layOut copies the cases below tree, each a repository of its own for merlon,
// and all of them in one for the others. It returns the case by path of each file.
// A folder of a test is copied with its structure. The old tree is removed, so that a file of
// another version of the tests is not scanned.
func layOut(from, tree string, all []*workflowCase) (map[string]spotAt, error) {
	layout := map[string]spotAt{}
	if err := os.RemoveAll(tree); err != nil {
		return nil, err
	}
	for n, c := range all {
		src := filepath.Join(from, filepath.FromSlash(strings.TrimSuffix(c.file, "/")))
		err := filepath.WalkDir(src, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(src, name)
			if err != nil {
				return err
			}
			at := spotAt{c: c, path: filepath.ToSlash(rel)}
			base := path.Base(filepath.ToSlash(name))
			// rel is "." where the test has a single file.
			if rel == "." {
				at.path = ""
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			// One case for each folder keeps merlon from relating workflows of different cases.
			for _, to := range []string{merlonPath(n, at.path, base), peerPath(n, at.path, base)} {
				layout[to] = at
				if err := writeFile(filepath.Join(tree, filepath.FromSlash(to)), text); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return layout, nil
}

// A spotAt is the case and the path in it that a laid out file stands for.
type spotAt struct {
	c    *workflowCase
	path string
}

// merlonPath is the path of a workflow in the tree that merlon scans.
// The kind of a file follows from its path and name: actions and pre-commit files at the root of
// a repository, settings of Dependabot in .github, all others as workflows.
func merlonPath(n int, rel, base string) string {
	root := fmt.Sprintf("merlon/%03d/", n)
	switch {
	case strings.Contains(rel, ".github/"):
		return root + rel
	case strings.HasPrefix(base, "dependabot."):
		return root + ".github/" + base
	case strings.HasPrefix(base, "action.") || strings.HasPrefix(base, ".pre-commit"):
		return root + base
	}
	return root + ".github/workflows/" + base
}

// peerPath is the path of a workflow in the tree of the other scanners, which read only
// .github/workflows.
func peerPath(n int, rel, base string) string {
	switch {
	case strings.HasPrefix(base, "action.") || strings.HasPrefix(base, ".pre-commit") ||
		strings.HasPrefix(base, "dependabot."):

		return fmt.Sprintf("peers/%03d/%s", n, base)
	}
	// The number of the case keeps files of the same name apart.
	return fmt.Sprintf("peers/.github/workflows/%03d-%s", n, strings.ReplaceAll(path.Join(path.Dir(rel), base), "/",
		"-"))
}

// writeFile writes a file and the folders above it.
func writeFile(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// merlonSpots scans the workflows with merlon, and returns the findings of each case.
func merlonSpots(ctx context.Context, b *bench, tree string,
	layout map[string]spotAt) (map[*workflowCase][]spot, error) {
	r, _, err := b.scanTarget(ctx, filepath.Join(tree, "merlon"), "--analyses", "cicd")
	if err != nil {
		return nil, err
	}
	out := map[*workflowCase][]spot{}
	confidence := map[string]string{}
	for _, rule := range r.Rules {
		confidence[rule.ID] = rule.Confidence
	}
	// Findings in files that are not laid out, such as the repository as a whole, are not
	// counted.
	for _, f := range r.Findings {
		for _, l := range append([]place{f.Location}, f.Also...) { // places of one cause
			at, ok := layout["merlon/"+l.Path]
			if ok {
				out[at.c] = append(out[at.c], spot{Rule: path.Base(f.RuleID), Path: at.path, Line: l.StartLine,
					Low: cmp.Or(f.Confidence, confidence[f.RuleID]) == "low"})
			}
		}
	}
	return out, nil
}

// peerSpots runs the other scanners. Neither reaches the network.
func peerSpots(ctx context.Context, b *bench, tree string,
	layout map[string]spotAt) (map[string]map[*workflowCase][]spot, error) {
	dir := filepath.Join(tree, "peers")
	// actionlint is a linter and poutine a scanner; both read a git repository.
	out := map[string]map[*workflowCase][]spot{"actionlint": {}, "poutine": {}}
	add := func(scanner, rule, file string, line int) {
		if at, ok := layout["peers/"+filepath.ToSlash(file)]; ok {
			out[scanner][at.c] = append(out[scanner][at.c], spot{Rule: rule, Path: at.path, Line: line})
		}
	}
	// Author and e-mail are given on the command line, so that no configuration of the machine is
	// needed.
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A", "-f"},
		{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "cases"}} {
		got, err := process.Command{Args: append([]string{"git"}, args...), Dir: dir, Timeout: b.timeout}.Run(ctx)
		if err != nil {
			return nil, err
		}
		if got.Code != 0 {
			return nil, fmt.Errorf("git %s: %s", args[0], process.Tail(got.Stderr))
		}
	}
	// Without shellcheck and pyflakes, which would find errors in scripts that are no security
	// flaws.
	lint, err := process.Command{Args: []string{filepath.Join(b.peers, "actionlint"), "-shellcheck=", "-pyflakes=",
		"-format", "{{json .}}"}, Dir: dir, Timeout: b.timeout}.Run(ctx)
	if err != nil {
		return nil, err
	}
	var faults []struct {
		Kind     string
		Filepath string
		Line     int
	}
	if err := json.Unmarshal(lint.Stdout, &faults); err != nil {
		return nil, fmt.Errorf("actionlint: decode report: %w: %s", err, process.Tail(lint.Stderr))
	}
	for _, f := range faults {
		add("actionlint", f.Kind, f.Filepath, f.Line)
	}
	pou, err := process.Command{Args: []string{filepath.Join(b.peers, "poutine"), "analyze_local", ".", "-f", "json",
		"-q"}, Dir: dir, Timeout: b.timeout}.Run(ctx)
	if err != nil {
		return nil, err
	}
	var report struct {
		Findings []struct {
			RuleID string `json:"rule_id"`
			Meta   struct {
				Path string `json:"path"`
				Line int    `json:"line"`
			} `json:"meta"`
		} `json:"findings"`
	}
	// A decoder reads the first JSON value only: poutine writes text after it.
	if err := json.NewDecoder(bytes.NewReader(pou.Stdout)).Decode(&report); err != nil {
		return nil, fmt.Errorf("poutine: decode report: %w: %s", err, process.Tail(pou.Stderr))
	}
	for _, f := range report.Findings {
		add("poutine", f.RuleID, f.Meta.Path, f.Meta.Line)
	}
	return out, nil
}

// A pipelineResult is what one case got, for a developer to read.
// Each entry of Found, Missed and Wrong is "audit path:first-last", for Wrong with the rule.
type pipelineResult struct {
	File    string   `json:"file"`
	Half    string   `json:"half"` // "develop" or "test"
	Found   []string `json:"found"`
	Missed  []string `json:"missed"`
	Wrong   []string `json:"wrong"` // findings on negative cases
	Ours    []spot   `json:"ours"`
	Related []string `json:"related"` // what the other scanners found
}

// A tally counts expected findings, who found them, and negative cases.
// joined counts findings that at least one of the other scanners reports. negatives are audits
// with a negative case, broken those of them with a finding.
type tally struct {
	expected, ours, lint, poutine, joined, negatives, broken int
}

// pipelineRows compares the findings of the scanners with the expected ones, for each half and
// kind of audit.
func pipelineRows(b *bench, data string, all []*workflowCase, ours map[*workflowCase][]spot,
	peers map[string]map[*workflowCase][]spot) ([]table.Row, error) {
	counts := map[string]*tally{"develop": {}, "test": {}}
	byKind := map[string]*tally{}
	var results []pipelineResult
	for _, c := range all {
		// The half "develop" was used to write rules; only "test" is an unbiased number.
		half := "test"
		if c.isDevelopment() {
			half = "develop"
		}
		r := pipelineResult{File: c.file, Half: half, Ours: ours[c]}
		t := counts[half]
		for _, e := range c.finds {
			k := byKind[e.audit]
			if k == nil {
				k = &tally{}
				byKind[e.audit] = k
			}
			lint, pou := anyAt(peers["actionlint"][c], e), anyAt(peers["poutine"][c], e)
			// The kind has to match for us, and only the line for the others, in their favour.
			found := slices.ContainsFunc(ours[c], func(s spot) bool {
				return slices.Contains(kinds[e.audit], s.Rule) && withinSpot(s, e)
			})
			for _, x := range []*tally{t, k} {
				x.countCase(found, lint, pou)
			}
			text := fmt.Sprintf("%s %s:%d-%d", e.audit, e.path, e.start, e.end)
			if found {
				r.Found = append(r.Found, text)
			} else {
				r.Missed = append(r.Missed, text)
			}
			if lint || pou {
				r.Related = append(r.Related, text)
			}
		}
		wrong, err := falsePositives(data, c, ours[c])
		if err != nil {
			return nil, err
		}
		t.negatives += len(wrong)
		for audit, spots := range wrong {
			for _, s := range spots {
				r.Wrong = append(r.Wrong, fmt.Sprintf("%s %s:%d %s", audit, s.Path, s.Line, s.Rule))
			}
			if len(spots) > 0 {
				t.broken++
			}
		}
		results = append(results, r)
	}
	rows := make([]table.Row, 0, 2)
	for _, half := range []string{"develop", "test"} {
		rows = append(rows, counts[half].tallyRow(half))
	}
	return rows, keepPipelines(b, results, byKind)
}

// countCase counts an expected finding, by the scanners that report it.
func (t *tally) countCase(found, lint, poutine bool) {
	for _, x := range []struct {
		yes bool
		n   *int
	}{{true, &t.expected}, {found, &t.ours}, {lint, &t.lint}, {poutine, &t.poutine}, {lint || poutine, &t.joined}} {
		if x.yes {
			*x.n++
		}
	}
}

// tallyRow returns the row of a half of the cases.
func (t *tally) tallyRow(half string) table.Row {
	of := func(n int) string { return table.Percent(float64(n) / float64(max(t.expected, 1))) }
	return table.Row{
		Measure: "zizmor's test workflows, " + half + " half: recall",
		Floor:   "≥ poutine and actionlint together (" + of(t.joined) + "); silent on negative cases",
		Measured: fmt.Sprintf("%s (%d of %d); %d of %d negative cases silent", of(t.ours), t.ours, t.expected,
			t.negatives-t.broken, t.negatives),
		Met:  table.Verdict(t.ours >= t.joined, t.broken == 0),
		Note: fmt.Sprintf("actionlint %s, poutine %s, counted generously", of(t.lint), of(t.poutine)),
	}
}

// anyAt reports whether another scanner says anything there.
// A missing permissions block has no line in other scanners, so a finding for the file counts
// there.
func anyAt(spots []spot, e expected) bool {
	return slices.ContainsFunc(spots, func(s spot) bool {
		return withinSpot(s, e) || s.Line == 0 && s.Path == e.path && e.audit == "excessive-permissions"
	})
}

// withinSpot reports whether the finding covers the expected line.
func withinSpot(s spot, e expected) bool {
	return s.Path == e.path && s.Line >= e.start && s.Line <= e.end
}

// falsePositives returns, for each audit that the case is a negative one of, what was
// found of that kind all the same.
func falsePositives(data string, c *workflowCase, ours []spot) (map[string][]spot, error) {
	out := map[string][]spot{}
	for m := range c.modules {
		if slices.ContainsFunc(c.finds, func(e expected) bool { return e.audit == m }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(data, filepath.FromSlash(c.file)))
		// A folder has no text of its own, and no comment that leaves an audit out.
		if err != nil { // a folder
			text = nil
		}
		if strings.Contains(string(text), "zizmor: ignore["+m) {
			continue
		}
		out[m] = nil
		for _, s := range ours {
			// A regular run of zizmor does not show its own findings of low confidence, so ours
			// do not count there.
			if slices.Contains(kinds[m], s.Rule) && (!s.Low || c.runs["pedantic"] || c.runs["auditor"]) {
				out[m] = append(out[m], s)
			}
		}
	}
	return out, nil
}

// keepPipelines writes what each case got, and a table by kind.
func keepPipelines(b *bench, results []pipelineResult, byKind map[string]*tally) error {
	var text bytes.Buffer
	for _, r := range results {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		text.Write(append(line, '\n'))
	}
	if err := writeFile(filepath.Join(b.out, "pipelines.jsonl"), text.Bytes()); err != nil {
		return err
	}
	text.Reset()
	audits := make([]string, 0, len(byKind))
	for a := range byKind {
		audits = append(audits, a)
	}
	slices.Sort(audits)
	for _, a := range audits {
		k := byKind[a]
		fmt.Fprintf(&text, "%-32s expected %3d  merlon %3d  actionlint %3d  poutine %3d\n", a, k.expected, k.ours,
			k.lint, k.poutine)
	}
	return writeFile(filepath.Join(b.out, "pipelines-kinds.txt"), text.Bytes())
}
