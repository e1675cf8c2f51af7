// Package codefix applies the fixes of findings in infrastructure code and workflows, and accepts
// only those that work. Each fix is tried in a copy of the tree, which is scanned again: a fix
// after which the finding is still there, the file is not valid any more, or a finding of equal or
// higher severity is new, is refused. The tree itself is never written to.
package codefix

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// Limits of the work for one tree.
const (
	// Fixes of the same lines need a scan after each other. A file with more of them is rare; what
	// is left over is found by the next call.
	maxRounds = 20
	// When fixes that were applied together do not work, each is tried alone, with a scan of the
	// tree for each.
	maxTrials = 100
)

// Options say what to fix.
type Options struct {
	Root      string // a folder
	Analyzers []*scan.Analyzer
	Analyses  []finding.Analysis
	Profile   finding.Profile
	Version   string
	Changed   map[string]string           // texts of files that are different from those of the folder, by path
	Select    func(*finding.Finding) bool // findings to fix; nil: all
	Watch     scan.Handler                // receives the messages of every scan, for progress; may be nil
}

// A Change is a fix with the findings that it removes.
type Change struct {
	Description string
	Path        string
	Findings    []*finding.Finding // the most severe first
	Reason      string             // why it is refused; empty for an applied one

	edits []finding.Edit
}

// A File is a changed file.
type File struct {
	Path   string
	Before string
	After  string
}

// A Result says what the fixes make of the tree.
type Result struct {
	Files   []File   // by path
	Applied []Change // in the order of application
	Refused []Change
	ByHand  []*finding.Finding // selected findings that have no fix
	Summary scan.Summary       // of the first scan, for its coverage gaps
}

// Plan finds out which fixes work, and returns the changed files. An error means that the folder
// cannot be read or scanned.
func Plan(ctx context.Context, o Options) (*Result, error) {
	copied, err := newOverlay(ctx, o.Root)
	if err != nil {
		return nil, err
	}
	defer copied.remove()
	for name, text := range o.Changed {
		if _, err := copied.read(name); err != nil {
			return nil, err
		}
		if err := copied.write(name, text); err != nil {
			return nil, err
		}
	}
	p := &planner{Options: o, overlay: copied, original: map[string]string{}, tried: map[string]bool{}}
	if p.state, err = p.scanCopy(ctx); err != nil {
		return nil, err
	}
	p.result.Summary = p.state.Summary
	for _, f := range p.state.found {
		if f.Fix == nil && p.selects(f) {
			p.result.ByHand = append(p.result.ByHand, f)
		}
	}
	for round := 0; ; round++ {
		batch, postponed := p.nextBatch()
		if len(batch) == 0 {
			break
		}
		if round == maxRounds {
			p.refuse(slices.Concat(batch, postponed), "there are too many fixes of the same lines: run the "+
				"command again")
			break
		}
		if err := p.tryBatch(ctx, batch); err != nil {
			return nil, err
		}
	}
	return p.finish()
}

// A planner tries fixes.
type planner struct {
	Options
	overlay  *overlay
	original map[string]string // texts of files before the first change, by path
	state    *treeState        // of the copy as it is
	tried    map[string]bool   // fixes that were applied or refused, by key
	trials   int
	result   Result
}

// selects reports whether the finding is to be fixed.
func (p *planner) selects(f *finding.Finding) bool { return p.Select == nil || p.Select(f) }

// nextBatch returns the fixes of the present findings that were not tried yet: those that can be
// applied together, and those that overlap with them. The most severe come first, then by path and
// line, so that the result does not depend on the order of the scan.
func (p *planner) nextBatch() (batch, postponed []Change) {
	var changes []Change
	index := map[string]int{}
	for _, f := range p.state.found {
		if f.Fix == nil || !p.selects(f) || p.tried[keyOf(f)] {
			continue
		}
		edits, err := json.Marshal(f.Fix.Edits)
		if err != nil { // numbers and text only
			continue
		}
		same := f.Fix.Path + "\x00" + string(edits)
		if at, ok := index[same]; ok { // one edit for several findings
			changes[at].Findings = append(changes[at].Findings, f)
			continue
		}
		index[same] = len(changes)
		changes = append(changes, Change{Description: f.Fix.Description, Path: f.Fix.Path,
			Findings: []*finding.Finding{f}, edits: f.Fix.Edits})
	}
	for i := range changes {
		slices.SortStableFunc(changes[i].Findings, compareFindings)
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return compareFindings(a.Findings[0], b.Findings[0]) })
	taken := map[string][]finding.Edit{}
	for _, c := range changes {
		if conflict(taken[c.Path], c.edits) {
			postponed = append(postponed, c)
			continue
		}
		taken[c.Path] = append(taken[c.Path], c.edits...)
		batch = append(batch, c)
	}
	return batch, postponed
}

// compareFindings orders findings by severity, place and rule.
func compareFindings(a, b *finding.Finding) int {
	return cmp.Or(cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(a.Location.Path, b.Location.Path),
		cmp.Compare(a.Location.StartLine, b.Location.StartLine), cmp.Compare(a.RuleID, b.RuleID),
		cmp.Compare(a.Message, b.Message))
}

// keyOf identifies the fix of a finding across scans of the changed tree: lines move, so they do
// not count.
func keyOf(f *finding.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\x00%s\x00%s\x00%s", f.RuleID, f.Fingerprint.Place, f.Fix.Path, f.Fix.Description)
	for _, e := range f.Fix.Edits {
		fmt.Fprintf(&b, "\x00%d\x00%s", e.EndLine-e.StartLine, strings.Join(e.Lines, "\n"))
	}
	return b.String()
}

// tryBatch applies fixes that do not overlap. Those that may be the cause of a failure are tried
// again one by one, on top of the others.
func (p *planner) tryBatch(ctx context.Context, batch []Change) error {
	for _, c := range batch {
		for _, f := range c.Findings {
			p.tried[keyOf(f)] = true
		}
	}
	texts, batch, err := p.readTexts(batch)
	if err != nil {
		return err
	}
	accepted, suspects, err := p.trySubset(ctx, texts, batch)
	if err != nil {
		return err
	}
	for _, c := range suspects {
		if len(batch) == 1 || p.trials == maxTrials {
			if p.trials == maxTrials && len(batch) > 1 {
				c.Reason += " (applied together with others)"
			}
			p.result.Refused = append(p.result.Refused, c)
			continue
		}
		p.trials++
		reason, err := p.tryOne(ctx, texts, accepted, c)
		if err != nil {
			return err
		}
		if c.Reason = reason; reason != "" {
			p.result.Refused = append(p.result.Refused, c)
			continue
		}
		accepted = append(accepted, c)
	}
	p.result.Applied = append(p.result.Applied, accepted...)
	return nil
}

// readTexts returns the present texts of the files that the fixes change, and the fixes without
// those whose file cannot be read or whose edits do not fit.
func (p *planner) readTexts(batch []Change) (map[string]string, []Change, error) {
	texts := map[string]string{}
	var usable []Change
	for _, c := range batch {
		text, err := p.overlay.read(c.Path)
		if err == nil {
			_, err = Apply(text, c.edits)
		}
		if err != nil {
			p.refuse([]Change{c}, err.Error())
			continue
		}
		texts[c.Path] = text
		if _, ok := p.original[c.Path]; !ok {
			p.original[c.Path] = text
		}
		usable = append(usable, c)
	}
	return texts, usable, nil
}

// refuse records fixes that are not applied.
func (p *planner) refuse(list []Change, reason string) {
	for _, c := range list {
		c.Reason = reason
		p.result.Refused = append(p.result.Refused, c)
	}
}

// trySubset applies all fixes, and then those that seem to work. It returns these, and the others
// with the reason. The copy and the state are those after the first.
func (p *planner) trySubset(ctx context.Context, texts map[string]string, all []Change) (good, bad []Change,
	err error) {
	before := p.state
	for subset := all; len(subset) > 0; {
		after, reasons, err := p.tryTogether(ctx, texts, before, subset, subset)
		if err != nil {
			return nil, nil, err
		}
		var rest []Change
		for i, c := range subset {
			if c.Reason = reasons[i]; c.Reason != "" {
				bad = append(bad, c)
			} else {
				rest = append(rest, c)
			}
		}
		if len(rest) == len(subset) {
			p.state = after
			return subset, bad, nil
		}
		subset = rest
	}
	p.state = before
	return nil, bad, p.writeTexts(texts, nil)
}

// tryOne applies a fix on top of accepted ones, and returns why it is refused. A refused one
// leaves the copy as it was.
func (p *planner) tryOne(ctx context.Context, texts map[string]string, accepted []Change, c Change) (string, error) {
	all := append(slices.Clone(accepted), c)
	after, reasons, err := p.tryTogether(ctx, texts, p.state, all, []Change{c})
	if err != nil {
		return "", err
	}
	if reasons[0] != "" {
		return reasons[0], p.writeTexts(texts, accepted)
	}
	p.state = after
	return "", nil
}

// tryTogether writes the files with the applied fixes, scans the copy, and returns for each judged
// fix why it is refused.
func (p *planner) tryTogether(ctx context.Context, texts map[string]string, before *treeState, applied,
	judged []Change) (*treeState, []string, error) {
	reasons := make([]string, len(judged))
	changed, err := applyChanges(texts, applied)
	if err != nil {
		return nil, nil, err
	}
	valid := true
	for i, c := range judged {
		if err := breaksSyntax(c.Path, texts[c.Path], changed[c.Path]); err != nil {
			reasons[i], valid = "the file is not valid after it: "+strings.Join(strings.Fields(err.Error()), " "), false
		}
	}
	if !valid {
		return nil, reasons, nil
	}
	if err := p.writeTexts(texts, applied); err != nil {
		return nil, nil, err
	}
	after, err := p.scanCopy(ctx)
	if err != nil {
		return nil, nil, err
	}
	return after, judgeChanges(before, after, judged), nil
}

// writeTexts writes the files with the fixes.
func (p *planner) writeTexts(texts map[string]string, changes []Change) error {
	changed, err := applyChanges(texts, changes)
	if err != nil {
		return err
	}
	for name, text := range changed {
		if err := p.overlay.write(name, text); err != nil {
			return err
		}
	}
	return nil
}

// applyChanges returns the texts with the fixes, which do not overlap.
func applyChanges(texts map[string]string, changes []Change) (map[string]string, error) {
	edits := map[string][]finding.Edit{}
	for _, c := range changes {
		edits[c.Path] = joinEdits(edits[c.Path], c.edits)
	}
	out := map[string]string{}
	for name, text := range texts {
		out[name] = text
		if len(edits[name]) == 0 {
			continue
		}
		changed, err := Apply(text, edits[name])
		if err != nil {
			return nil, fmt.Errorf("change %s: %w", name, err)
		}
		out[name] = changed
	}
	return out, nil
}

// finish reads the changed files.
func (p *planner) finish() (*Result, error) {
	for name, before := range p.original {
		after, err := p.overlay.read(name)
		if err != nil {
			return nil, err
		}
		if after != before {
			p.result.Files = append(p.result.Files, File{Path: name, Before: before, After: after})
		}
	}
	slices.SortFunc(p.result.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortStableFunc(p.result.ByHand, compareFindings)
	return &p.result, nil
}
