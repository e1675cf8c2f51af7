package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"merlon/internal/codefix"
	"merlon/internal/config"
	"merlon/internal/engine/all"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/upgrade"
)

// fixCommand proposes or applies changes that fix findings: upgrades of vulnerable dependencies,
// and edits of infrastructure code and workflows.
// It works without a registry, so it needs no network and no credentials.
type fixCommand struct {
	Path string `arg:"" type:"existingdir" help:"Folder to analyze."`

	Advisories string   `type:"path" placeholder:"PATH" help:"Vulnerability records, as for scan. Without them no upgrades are proposed."`
	Level      string   `enum:"patch,minor,major,auto" default:"auto" help:"Largest allowed upgrade: patch, minor or major; auto selects the smallest upgrade that fixes the most."`
	Single     bool     `help:"Fix each vulnerability by its smallest upgrade, instead of all vulnerabilities of a package by one."`
	Only       []string `placeholder:"NAME" help:"What to fix: a package, a vulnerability, a rule, a file or a folder. May be repeated. Default: all."`
	Profile    string   `enum:"default,all" default:"default" help:"Findings of code to fix, as for scan."`
	Write      bool     `help:"Write the changes to the files. Without it they are only shown."`
}

// Help is the manual of the command.
func (fixCommand) Help() string {
	return `Shows changes that fix findings, and makes them with --write:

* upgrades of packages with known vulnerabilities, in manifests. Lock files are not
  changed: run the printed commands of the package manager. No registry is contacted,
  so an upgrade may conflict with the requirements of other packages. Of the versions
  that clear the most, the one with the smallest step is taken; a major upgrade is
  marked.
* edits of infrastructure code, API descriptions and workflows. Each edit is tried in
  a temporary copy of the folder, which is scanned again. It is refused when the
  finding is still there, when the file is not valid any more, or when a finding of
  equal or higher severity is new.

Symbolic links and files outside of the folder are never changed.

Exit codes:
  0  all vulnerabilities can be upgraded, and all edits work; findings of code without
     an edit are listed and do not count
  1  some vulnerabilities remain, or edits were refused; the reasons are printed
  2  something could not be analyzed or changed
  3  wrong flags or arguments`
}

// Run looks for changes, and shows or writes them.
func (c *fixCommand) Run(ctx context.Context, host Host) error {
	relaxCollector(host.Getenv)
	upgrades, err := c.planUpgrades(ctx, host)
	if err != nil {
		return err
	}
	code, err := codefix.Plan(ctx, codefix.Options{Root: c.Path, Analyzers: all.Analyzers,
		Analyses: []finding.Analysis{finding.IaC, finding.CICD, finding.API}, Profile: finding.Profile(c.Profile),
		Version: config.Version, Changed: upgrades.texts, Select: c.selectsCode,
		Watch: newProgressHandler(host.Stderr)})
	if err != nil {
		return err
	}
	// The files are written before the summary, so that an error is not printed below a list of
	// changes.
	if c.Write {
		if err := writeFiles(c.Path, joinTexts(upgrades, code)); err != nil {
			return err
		}
	}
	stay := 0
	if c.Advisories == "" {
		_, _ = io.WriteString(host.Stdout, "Without --advisories, only changes of infrastructure code and "+
			"workflows are "+
			"proposed.\n")
	} else {
		stay = explainFixes(host.Stdout, upgrades.list.found, upgrades.fixes, upgrades.edits)
	}
	explainCode(host.Stdout, code)
	switch {
	// What remains comes before gaps, as for merlon scan.
	case stay > 0 || len(code.Refused) > 0:
		return exit{code: ExitFindings}
	case c.Advisories != "" && !upgrades.list.Complete():
		return exitError(&upgrades.list.Summary, "none")
	case !code.Summary.Complete():
		return exitError(&code.Summary, "none")
	}
	return nil
}

// plannedUpgrades are the upgrades of the vulnerable packages of a tree.
type plannedUpgrades struct {
	list  *needs
	fixes []upgrade.Fix     // one for each of list.found, in the same order
	edits []upgrade.Edit    // by file, with lines as they were before any of them
	texts map[string]string // of the changed manifests
	read  map[string]string // their texts before
}

// planUpgrades finds the vulnerable packages and their upgrades; none without advisories.
func (c *fixCommand) planUpgrades(ctx context.Context, host Host) (*plannedUpgrades, error) {
	out := &plannedUpgrades{list: &needs{only: c.Only, advisories: map[string]*finding.Rule{}}}
	if c.Advisories == "" {
		return out, nil
	}
	advisories, err := openAdvisories(c.Advisories)
	if err != nil {
		return nil, err
	}
	defer func() { _ = advisories.Close() }() // read only
	options := scan.Options{Root: c.Path, Analyzers: all.Analyzers, Analyses: []finding.Analysis{finding.SCA},
		Profile: finding.AllProfile, Advisories: advisories, Version: config.Version}
	if err := scan.Run(ctx, options, scan.Tee(out.list, newProgressHandler(host.Stderr))); err != nil {
		return nil, fmt.Errorf("scan %s: %w", c.Path, err)
	}
	out.fixes = upgrade.Plan(out.list.found, upgrade.Policy{Level: upgrade.Level(c.Level), Single: c.Single})
	out.edits = upgrade.Edits(out.list.found, out.fixes)
	out.read, out.texts, err = applyUpgrades(c.Path, out.edits)
	return out, err
}

// selectsCode reports whether the user selected a finding of code: by its rule, its file or a
// folder. Without a selection, all are selected.
func (c *fixCommand) selectsCode(f *finding.Finding) bool {
	return len(c.Only) == 0 || slices.ContainsFunc(c.Only, func(want string) bool {
		folder := strings.TrimSuffix(strings.TrimPrefix(want, "./"), "/")
		return strings.EqualFold(want, f.RuleID) || folder == f.Location.Path ||
			strings.HasPrefix(f.Location.Path, folder+"/")
	})
}

// changedText is the text of a file before and after.
type changedText struct{ name, before, after string }

// joinTexts returns the changed files, each once: edits of code are on top of upgrades.
func joinTexts(upgrades *plannedUpgrades, code *codefix.Result) []changedText {
	index := map[string]int{}
	var out []changedText
	for _, name := range slices.Sorted(maps.Keys(upgrades.texts)) {
		index[name] = len(out)
		out = append(out, changedText{name, upgrades.read[name], upgrades.texts[name]})
	}
	for _, f := range code.Files {
		if at, ok := index[f.Path]; ok {
			out[at].after = f.After
		} else {
			out = append(out, changedText{f.Path, f.Before, f.After})
		}
	}
	return out
}

// maxByHand bounds the findings that are listed to be fixed by a person.
const maxByHand = 20

// explainCode prints the changes of code, what they clear, and what stays.
func explainCode(w io.Writer, r *codefix.Result) {
	var out strings.Builder
	for _, f := range r.Files {
		fmt.Fprintf(&out, "\n%s", escapeLines(codefix.Diff(f.Path, f.Before, f.After)))
	}
	cleared := 0
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&out, "\n%s\n  %s\n", title, strings.Join(lines, "\n  "))
		}
	}
	var lines []string
	for _, c := range r.Applied {
		cleared += len(c.Findings)
		for _, f := range c.Findings {
			lines = append(lines, describeFix(f, c.Description))
		}
	}
	section("Cleared:", lines)
	lines = nil
	refused := 0
	for _, c := range r.Refused {
		refused += len(c.Findings)
		for _, f := range c.Findings {
			lines = append(lines, describeFix(f, c.Description+": refused, because "+c.Reason))
		}
	}
	section("Not cleared:", lines)
	lines = nil
	for i, f := range r.ByHand {
		if i == maxByHand {
			lines = append(lines, fmt.Sprintf("and %d more", len(r.ByHand)-i))
			break
		}
		lines = append(lines, describeFix(f, ""))
	}
	section("By hand, because no edit is known:", lines)
	fmt.Fprintf(&out, "\nEdits clear %d of %d findings of code.\n", cleared, cleared+refused+len(r.ByHand))
	_, _ = io.WriteString(w, out.String()) // nobody is left to tell
}

// describeFix returns a line about a finding.
func describeFix(f *finding.Finding, what string) string {
	line := fmt.Sprintf("%s:%d %s (%s)", f.Location.Path, f.Location.StartLine, f.RuleID, f.Severity)
	if what != "" {
		line += ": " + what
	}
	return escapeControls(line)
}

// escapeLines makes a text of several lines safe for a terminal.
func escapeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = escapeControls(strings.TrimSuffix(lines[i], "\r"))
	}
	return strings.Join(lines, "\n")
}

// needs is a handler that keeps vulnerable packages.
// Findings of packages refer to their advisory by the rule, which arrives before them.
type needs struct {
	scan.Summary
	only       []string
	advisories map[string]*finding.Rule // rules of an advisory, by id
	found      []upgrade.VulnerablePackage
}

// Rule keeps the advisory of a rule.
func (n *needs) Rule(r *finding.Rule) error {
	if r.Advisory != nil {
		n.advisories[r.ID] = r
	}
	return nil
}

// Finding keeps a vulnerable package.
func (n *needs) Finding(f *finding.Finding) error {
	// A package of an image layer has no manifest in the folder.
	if rule := n.advisories[f.RuleID]; rule != nil && f.Package != nil && f.Package.Package.Layer == nil &&
		n.addRequirement(f.Package.Package.Name, rule.Advisory) {
		n.found = append(n.found, upgrade.VulnerablePackages(f, rule)...)
	}
	return n.Summary.Finding(f)
}

// addRequirement reports whether the user selected the package, by its name or by any alias of
// the advisory. Without a selection, all are selected.
func (n *needs) addRequirement(name string, a *finding.Advisory) bool {
	return len(n.only) == 0 || slices.ContainsFunc(n.only, func(want string) bool {
		return strings.EqualFold(want, name) || slices.ContainsFunc(a.Aliases, func(alias string) bool {
			return strings.EqualFold(want, alias)
		})
	})
}

// explainFixes prints what changes, what to run and what stays, and returns how many
// vulnerabilities stay.
func explainFixes(w io.Writer, list []upgrade.VulnerablePackage, fixes []upgrade.Fix, edits []upgrade.Edit) int {
	var out strings.Builder
	for _, r := range upgrade.JoinFixes(list, fixes) {
		fmt.Fprintf(&out, "%s\n", escapeControls(r.String()))
	}
	if len(list) > 0 {
		out.WriteByte('\n')
	}
	for _, e := range edits {
		// A minimal diff: the old and the new line, without context.
		fmt.Fprintf(&out, "%s:%d\n-%s\n+%s\n", e.Path, e.Line, escapeControls(e.Before), escapeControls(e.After))
	}
	var remarks, stays []string
	for i := range fixes {
		f, p := &fixes[i], &list[i].Match.Package
		what := escapeControls(fmt.Sprintf("%s: %s %s (%s)", p.Path, p.Name, p.Version, list[i].Advisory))
		switch {
		// An empty target is a vulnerability that no allowed upgrade fixes.
		case f.Target == "":
			stays = append(stays, what+": "+escapeControls(f.Reason))
		// A target with neither a command nor an edit is for a person, such as a version in a
		// variable.
		case f.Reason != "" && f.Command == "" && f.Edit == nil:
			remarks = append(remarks, what+": take "+f.Target+"; "+escapeControls(f.Reason))
		}
	}
	for _, part := range []struct {
		title string
		lines []string
	}{{"To bring lock files and installed packages along, run:", upgrade.Commands(list, fixes)}, {"By hand:", remarks},
		{"Not cleared:", stays}} {
		if slices.Sort(part.lines); len(part.lines) > 0 {
			fmt.Fprintf(&out, "\n%s\n  %s\n", part.title, strings.Join(slices.Compact(part.lines), "\n  "))
		}
	}
	fmt.Fprintf(&out, "\nAn upgrade is known for %d of %d vulnerabilities.\n", len(fixes)-len(stays), len(fixes))
	_, _ = io.WriteString(w, out.String()) // nobody is left to tell
	return len(stays)
}

// escapeControls makes a text of the tree safe for a terminal.
// Package names and versions come from the scanned code: escape sequences must not reach the
// terminal. 0x80 to 0x9f are the C1 controls, of which 0x9b begins a sequence like ESC [.
func escapeControls(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(text, "?"))
}

// applyUpgrades returns the texts of the manifests below the folder before and after the edits.
func applyUpgrades(dir string, edits []upgrade.Edit) (before, after map[string]string, err error) {
	// A root, so that a symbolic link in the code cannot lead outside of the folder (CWE-59).
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, errs.E(errs.Invalid, "cannot open %s: %v", dir, err)
	}
	defer func() { _ = root.Close() }() // it was only looked up
	before, after = map[string]string{}, map[string]string{}
	// Edits of one path are applied together: applied one by one, lines would have moved.
	for start := 0; start < len(edits); {
		end := start
		for end < len(edits) && edits[end].Path == edits[start].Path {
			end++
		}
		name := edits[start].Path
		old, err := fs.ReadFile(root.FS(), name)
		if err != nil {
			return nil, nil, errs.E(errs.Invalid, "cannot read %s: %v", name, err)
		}
		before[name] = string(old)
		if after[name], err = upgrade.Apply(string(old), edits[start:end]); err != nil {
			return nil, nil, err
		}
		start = end
	}
	return before, after, nil
}

// writeFiles writes changed files below the folder, after it has checked that none of them was
// changed by others meanwhile.
func writeFiles(dir string, files []changedText) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return errs.E(errs.Invalid, "cannot open %s: %v", dir, err)
	}
	defer func() { _ = root.Close() }() // it was only looked up
	for _, f := range files {
		info, err := root.Lstat(f.name)
		if err == nil && !info.Mode().IsRegular() {
			return errs.E(errs.Invalid, "%s is not a regular file: nothing was written", f.name)
		}
		text, err := fs.ReadFile(root.FS(), f.name)
		if err != nil {
			return errs.E(errs.Invalid, "cannot read %s: %v", f.name, err)
		}
		if string(text) != f.before {
			return errs.E(errs.Invalid, "%s has changed since it was analyzed: nothing was written", f.name)
		}
	}
	for _, f := range files {
		if err := replaceFile(root, f.name, f.after); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
	}
	return nil
}

// replaceFile writes a file anew beside the old one, and puts it in its place.
func replaceFile(root *os.Root, name, text string) error {
	info, err := root.Stat(name)
	if err != nil {
		return err
	}
	// O_EXCL refuses a file or link that is already there under this name.
	beside := name + ".merlon"
	f, err := root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = root.Rename(beside, name)
	}
	if err != nil {
		_ = root.Remove(beside) // the error before says more
	}
	return err
}
