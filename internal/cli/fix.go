package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"merlon/internal/config"
	"merlon/internal/engine/all"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/upgrade"
)

// fixCommand proposes or applies upgrades that fix vulnerable dependencies.
// It works without a registry, so it needs no network and no credentials.
type fixCommand struct {
	Path string `arg:"" type:"existingdir" help:"Folder to analyze."`

	Advisories string   `required:"" type:"path" placeholder:"PATH" help:"Vulnerability records, as for scan."`
	Level      string   `enum:"patch,minor,major,auto" default:"auto" help:"Largest allowed upgrade: patch, minor or major; auto selects the smallest upgrade that fixes the most."`
	Single     bool     `help:"Fix each vulnerability by its smallest upgrade, instead of all vulnerabilities of a package by one."`
	Only       []string `placeholder:"NAME" help:"Package or vulnerability to fix. May be repeated. Default: all."`
	Write      bool     `help:"Write the changes to the manifests. Without it they are only shown."`
}

// Help is the manual of the command.
func (fixCommand) Help() string {
	return `Finds packages with known vulnerabilities and shows the changes to manifests that
upgrade them to fixed versions. Lock files are not changed: run the printed commands
of the package manager. No registry is contacted, so an upgrade may conflict with the
requirements of other packages.

Exit codes:
  0  no vulnerable packages, or all of them can be upgraded
  1  some vulnerabilities remain; the reasons are printed
  2  something could not be analyzed or changed
  3  wrong flags or arguments`
}

// Run looks for upgrades, and shows or writes them.
func (c *fixCommand) Run(ctx context.Context, host Host) error {
	relaxCollector(host.Getenv)
	advisories, err := openAdvisories(c.Advisories)
	if err != nil {
		return err
	}
	defer func() { _ = advisories.Close() }() // read only
	list := &needs{only: c.Only, advisories: map[string]*finding.Rule{}}
	// Only packages are analyzed: upgrades need no other findings.
	options := scan.Options{Root: c.Path, Analyzers: all.Analyzers, Analyses: []finding.Analysis{finding.SCA},
		Profile: finding.AllProfile, Advisories: advisories, Version: config.Version}
	if err := scan.Run(ctx, options, scan.Tee(list, newProgressHandler(host.Stderr))); err != nil {
		return fmt.Errorf("scan %s: %w", c.Path, err)
	}
	// fixes has one entry for each of list.found, in the same order.
	fixes := upgrade.Plan(list.found, upgrade.Policy{Level: upgrade.Level(c.Level), Single: c.Single})
	// Edits of one file are next to each other, with lines as they were before any of them.
	edits := upgrade.Edits(list.found, fixes)
	// The files are written before the summary, so that an error is not printed below a list of
	// changes.
	if c.Write {
		if err := writeEdits(c.Path, edits); err != nil {
			return err
		}
	}
	stay := explainFixes(host.Stdout, list.found, fixes, edits)
	switch {
	// Remaining vulnerabilities come before gaps, as for merlon scan.
	case stay > 0:
		return exit{code: ExitFindings}
	case !list.Complete():
		return exitError(&list.Summary, "none")
	}
	return nil
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

// writeEdits changes files below the folder: all of them are read and changed before
// the first is written.
func writeEdits(dir string, edits []upgrade.Edit) error {
	// A root, so that a symbolic link in the code cannot lead a write outside of the folder
	// (CWE-59).
	root, err := os.OpenRoot(dir)
	if err != nil {
		return errs.E(errs.Invalid, "cannot open %s: %v", dir, err)
	}
	defer func() { _ = root.Close() }() // it was only looked up
	changed := map[string]string{}
	var order []string
	// Edits of one path are applied together: applied one by one, lines would have moved.
	for start := 0; start < len(edits); {
		end := start
		for end < len(edits) && edits[end].Path == edits[start].Path {
			end++
		}
		name := edits[start].Path
		old, err := fs.ReadFile(root.FS(), name)
		if err != nil {
			return errs.E(errs.Invalid, "cannot read %s: %v", name, err)
		}
		if changed[name], err = upgrade.Apply(string(old), edits[start:end]); err != nil {
			return err
		}
		order, start = append(order, name), end
	}
	// All changes have succeeded in memory; only now files are written.
	for _, name := range order {
		if err := replaceFile(root, name, changed[name]); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
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
