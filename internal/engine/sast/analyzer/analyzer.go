// Package analyzer is the analyzer of source code: it chooses the files of a scanned
// tree that are worth reading, has package sast check them with the rules of the
// build and those of the user, and reports what was found and what could not be
// looked at.
package analyzer

import (
	"context"
	_ "embed" // the manual
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/route"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/rules"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds flaws in source code.
var Analyzer = &scan.Analyzer{
	ID:       "sast/code",
	Version:  1,
	Analysis: finding.SAST,
	Doc:      doc,
	Rules:    listRules,
	Match: func(path string) bool {
		return (all.ForFile(path) != nil || isTemplate(path)) && lang.ThirdParty(path) == ""
	},
	Project: analyzeProject,
}

// programs is nil, as a process makes one scan: there is no second one to keep them for. Tests make
// hundreds.
var programs *sast.Programs

// analyzeProject runs the analysis of one scan: it loads the rules, reads the files that they
// concern, checks them, and reports the matches that are no copies of others, the operations, and
// what could not be analyzed.
func analyzeProject(p *scan.ProjectPass) error {
	known, err := loadRules(p.Code)
	if err != nil {
		return err
	}
	ctx := p.Context
	if p.Code.Fast > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.Code.Fast)
		defer cancel()
		p.Degrade(scan.Reason{Code: "fast", Message: fmt.Sprintf(
			"source code was analyzed file by file within %v, as requested: vulnerabilities across files were not "+
				"searched for",
			p.Code.Fast)})
	}
	if !p.Code.OnlyRules {
		reportUnread(p)
	}
	files := readFiles(p, known.wantsFile)
	kept, err := openCache(p.Code)
	if err != nil {
		return err
	}
	var routes []route.Route
	matches, problems := sast.Check(ctx, known.rules, files, sast.Options{
		Workers: p.Workers, Local: p.Code.Fast > 0, Properties: readProperties(p, files),
		Modules:  readGoModules(p, files),
		Cache:    kept,
		Progress: progressReporter(p), LeaveTests: !p.Code.OnlyRules, Routes: func(r []route.Route) { routes = r },
		Programs: programs,
	})
	if err := p.Context.Err(); err != nil {
		return err
	}
	_ = kept.Save() // without it the next scan takes longer, and says the same
	own := func(m *sast.Match) bool { return known.family[m.Rule] != "" }
	for _, j := range newCopies(files, readPackageStarts(p, files)).joinCopies(matches, known.distinctMatches(matches),
		own) {
		f := newFinding(&matches[j.match])
		f.Also, f.Entry = j.also, entryPoints(routes, &matches[j.match])
		p.Report(known.about[matches[j.match].Rule], f)
	}
	for _, r := range routes {
		p.Operation(operationOf(r))
	}
	for _, problem := range problems {
		p.Degrade(degradeReason(problem))
	}
	return nil
}

// progressReporter returns what tells the scan how far the check is. Parsing and matching is
// about as much work as following data.
func progressReporter(p *scan.ProjectPass) func(sast.Progress) {
	return func(at sast.Progress) {
		switch at.Phase {
		case sast.Matching:
			p.Progress(50*at.Done/max(at.Total, 1), fmt.Sprintf("%d of %d files parsed and matched", at.Done, at.Total))
		case sast.Joining:
			p.Progress(51, fmt.Sprintf("joining %d files to a program", at.Total))
		case sast.Following:
			p.Progress(52+48*at.Done/max(at.Total, 1), fmt.Sprintf("data followed through %d of %d parts of the "+
				"program", at.Done, at.Total))
		}
	}
}

// knowledge is the rules of one scan. Families are known of the build's rules only.
type knowledge struct {
	rules  []*rule.Rule
	about  map[*rule.Rule]*finding.Rule
	family map[*rule.Rule]string // of the rules of the build
	langs  map[string]bool       // canonical names of the rules' languages
	text   []*rule.Rule          // those that match text
}

// loadRules collects the rules: those of the build and those of the user. A fault in a rule of the
// user ends the scan: a rule that is silently left out would look like a clean result.
func loadRules(c scan.Code) (*knowledge, error) {
	k := &knowledge{about: map[*rule.Rule]*finding.Rule{}, family: map[*rule.Rule]string{}, langs: map[string]bool{}}
	if !c.OnlyRules {
		own, err := rules.Default()
		if err != nil {
			return nil, err
		}
		for _, r := range own {
			k.addRule(r.Rule, r.About)
			k.family[r.Rule] = ruleFamily(r.Rule)
		}
	}
	for _, path := range c.Rules {
		more, err := rules.Load(path)
		if err != nil {
			return nil, err
		}
		for _, r := range more {
			k.addRule(r, rules.Describe(r))
		}
	}
	return k, nil
}

// listRules returns the rules of the build. Those of the user are described when they are loaded.
// The list is what the help and the catalogue of the server show.
func listRules() ([]*finding.Rule, error) {
	own, err := rules.Default()
	if err != nil {
		return nil, err
	}
	out := make([]*finding.Rule, len(own))
	for i, r := range own {
		out[i] = r.About
	}
	return out, nil
}

// addRule enters a rule with what reports say of it. Files of a language without a rule are not
// even read. Rules for text are kept apart, since any file may be theirs.
func (k *knowledge) addRule(r *rule.Rule, about *finding.Rule) {
	k.rules = append(k.rules, r)
	k.about[r] = about
	for _, l := range r.Languages {
		k.langs[l] = true
		if l == rule.LanguageGeneric || l == rule.LanguageRegex {
			k.text = append(k.text, r)
		}
	}
}

// distinctMatches returns the matches that are flaws of their own. Rules of the build that are of
// one family (see family) tell one flaw for several kinds of data or several kinds of harm: at one
// place the worst of them counts, and of equals the first. The worst is kept, since the fix is the
// same.
func (k *knowledge) distinctMatches(matches []sast.Match) []int {
	type place struct {
		family, path string
		start        int
	}
	best := map[place]int{}
	var out []int
	for i := range matches {
		m := &matches[i]
		family := k.family[m.Rule]
		if family == "" {
			out = append(out, i)
			continue
		}
		at := place{family, m.Path, m.Start.Offset}
		if n, ok := best[at]; !ok {
			best[at] = len(out)
			out = append(out, i)
		} else if m.Rule.Severity.Rank() > matches[out[n]].Rule.Severity.Rank() {
			out[n] = i
		}
	}
	return out
}

// ruleFamily returns what a rule of the build tells one flaw with: the family that its
// metadata names, else its folder.
func ruleFamily(r *rule.Rule) string {
	if f, ok := r.Metadata["family"].(string); ok {
		return f
	}
	return r.Path
}

// wantsFile reports whether a rule speaks of the file. That its language is spoken of is
// asked first: it costs less than the paths of rules for texts.
func (k *knowledge) wantsFile(path string) bool {
	if l := all.ForFile(path); l != nil && slices.ContainsFunc(l.Spellings, func(s string) bool { return k.langs[s] }) {
		return true
	}
	return slices.ContainsFunc(k.text, func(r *rule.Rule) bool { return sast.Applies(r, path) })
}

// readFiles reads the files that rules speak of. What is left out is said. Reading in parallel
// hides the latency of the disk.
func readFiles(p *scan.ProjectPass, wants func(string) bool) []sast.Source {
	texts := make([][]byte, len(p.Files))
	slots := make(chan struct{}, max(1, p.Workers))
	var wg sync.WaitGroup
	folders := map[string]bool{}
	for i, f := range p.Files {
		if folder := lang.ThirdParty(f.Path); folder != "" {
			if !folders[folder] && wants(f.Path) {
				folders[folder] = true
				p.Degrade(scan.Reason{Code: "third-party", Message: "third-party code was skipped: the dependency " +
					"analysis covers it", Path: folder, Skipped: true})
			}
			continue
		}
		if !wants(f.Path) || p.Context.Err() != nil {
			continue
		}
		if f.Size > cst.MaxSource {
			p.Degrade(scan.Reason{Code: "too-large", Message: fmt.Sprintf("the file has %d bytes; source code is "+
				"read up to %d", f.Size, cst.MaxSource), Path: f.Path})
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			texts[i] = readFile(p, f.Path)
		})
	}
	wg.Wait()
	var out []sast.Source
	for i, t := range texts {
		if t != nil {
			out = append(out, sast.Source{Path: p.Files[i].Path, Text: t})
		}
	}
	return out
}

// readFile reads a file; nil when it is left out. Files that are left out are reported as skipped.
// A file that cannot be read is a gap of the result, and reported as one; a minified one is left
// out on purpose.
func readFile(p *scan.ProjectPass, path string) []byte {
	b, err := fs.ReadFile(p.FS, path)
	if err != nil {
		p.Degrade(scan.Reason{Code: "unreadable", Message: err.Error(), Path: path})
		return nil
	}
	if isMinified(path, b) {
		p.Degrade(scan.Reason{Code: "minified", Message: "the file was made by a program, or is a copy of a " +
			"published library, and was left out", Path: path, Skipped: true})
		return nil
	}
	return b
}

// degradeReason says what a problem kept from being looked at. The codes are those of the report
// format.
func degradeReason(p sast.Problem) scan.Reason {
	r := scan.Reason{Code: "malformed", Message: p.Err.Error(), Path: p.Path, Line: p.Line}
	switch {
	case errors.Is(p.Err, context.DeadlineExceeded), errors.Is(p.Err, cst.ErrDeadline), errors.Is(p.Err, cst.ErrSteps):
		r.Code = "timeout"
	case errors.Is(p.Err, cst.ErrMemory):
		r.Code = "memory"
	case errors.Is(p.Err, sast.ErrSkipped):
		r.Code, r.Skipped = "minified", true
	case p.Rule != "":
		r.Code, r.Message = "rule", p.Rule+": "+r.Message
	}
	return r
}

// newFinding makes a finding of a match. The steps of the data become the steps of the report. A
// match without steps is one of a search rule and has its place alone.
func newFinding(m *sast.Match) finding.Finding {
	f := finding.Finding{Message: m.Message, Location: locationOf(m.Path, m.Start, m.End),
		Confidence: matchConfidence(m)}
	for i, s := range m.Steps {
		kind := finding.Intermediate
		switch i {
		case 0:
			kind = finding.Source
		case len(m.Steps) - 1:
			kind = finding.Sink
		}
		f.Steps = append(f.Steps,
			finding.Step{Kind: kind, Message: s.Message, Location: locationOf(s.Path, s.Start, s.End)})
	}
	return f
}

// matchConfidence returns the confidence in a match of code that does not serve users, and of
// numbers: a test server that writes back what it was sent harms nobody, and there is little that
// a number can say. "" means the rule's. Such findings stay in the report but do not count for
// --fail-on by default.
func matchConfidence(m *sast.Match) finding.Confidence {
	aside := m.Number || lang.Aside(m.Path)
	if len(m.Steps) > 0 {
		aside = aside || lang.Aside(m.Steps[0].Path)
	}
	if aside {
		return finding.LowConfidence
	}
	return ""
}

// locationOf returns the location of a range of a file.
func locationOf(path string, start, end sast.Position) finding.Location {
	return finding.Location{Path: path, StartLine: start.Line, StartColumn: start.Column, EndLine: end.Line,
		EndColumn: end.Column}
}
