package score

import (
	"slices"
	"strings"
)

// An App is the labels of one application of the RealVuln benchmark.
type App struct {
	ID       string `json:"repo_id"`
	Findings []Flaw `json:"findings"`
}

// A Flaw is one label; IsVulnerable is false for code that only looks wrong.
type Flaw struct {
	ID           string   `json:"id"`
	IsVulnerable bool     `json:"is_vulnerable"`
	Class        string   `json:"vulnerability_class"`
	CWE          []string `json:"acceptable_cwes"`
	File         string   `json:"file"`
	Location     struct {
		Start *int `json:"start_line"`
		End   *int `json:"end_line"`
	} `json:"location"`
}

// appTolerance is how far from the labelled lines a finding may be.
const appTolerance = 10

// visible are the classes of flaws that an expression in the code shows. The
// others are the absence of something (authorization, a rate limit, a token) or
// a decision about data that no code tells.
var visible = []string{
	"arbitrary_file_write", "code_injection", "command_injection", "dom_xss", "hardcoded_credentials",
	"improper_certificate_validation", "insecure_cookie", "insecure_deserialization", "log_injection",
	"mass_assignment", "open_redirect", "path_traversal", "reflected_xss", "sql_injection", "ssrf", "ssti",
	"stored_xss", "weak_cryptography", "weak_hash", "weak_prng", "xss", "xxe",
}

// visibleSettings are the misconfigurations that one expression shows: debug
// modes and the flags of cookies.
var visibleSettings = []string{"CWE-215", "CWE-489", "CWE-614", "CWE-1004"}

// Visible reports whether code shows the flaw.
func (f Flaw) Visible() bool {
	return slices.Contains(visible, f.Class) ||
		f.Class == "security_misconfiguration" && slices.ContainsFunc(f.CWE, func(c string) bool {
			return slices.Contains(visibleSettings, c)
		})
}

// RealVuln judges an application as the benchmark's matcher does: each finding
// takes one label of its file with an accepted weakness whose lines it is at most
// ten away from, a flaw before a trap. Findings that take none are false, and are
// cases of the group "unlabelled".
//
// With visibleOnly, labels that code does not show, and findings that take one of
// them, do not count.
func RealVuln(app App, findings []Finding, visibleOnly bool) []Case {
	taken := make([][]Finding, len(app.Findings))
	var out []Case
	for _, f := range findings {
		if i := app.matchFinding(f, taken); i >= 0 {
			taken[i] = append(taken[i], f)
			continue
		}
		out = append(out, Case{ID: app.ID + "/" + f.File, Group: "unlabelled", Found: true, Rules: []string{f.Rule},
			Line: f.Line})
	}
	for i, flaw := range app.Findings {
		if visibleOnly && !flaw.Visible() {
			continue
		}
		line := 0
		if flaw.Location.Start != nil {
			line = *flaw.Location.Start
		}
		out = append(out, Case{ID: flaw.ID + " " + flaw.File, Group: flaw.Class, Real: flaw.IsVulnerable,
			Found: len(taken[i]) > 0,
			Rules: ruleNames(taken[i]), Line: line})
	}
	return out
}

// matchFinding returns the label that the finding takes, or -1.
func (a App) matchFinding(f Finding, taken [][]Finding) int {
	best := -1
	// A label is taken once, so two findings of one flaw are one found and one false, as in the
	// benchmark.
	for i, flaw := range a.Findings {
		if len(taken[i]) > 0 || cleanPath(flaw.File) != cleanPath(f.File) || !flaw.acceptsFinding(f) {
			continue
		}
		if best < 0 || flaw.IsVulnerable && !a.Findings[best].IsVulnerable {
			best = i
		}
	}
	return best
}

// acceptsFinding reports whether a finding has one of the accepted weaknesses and is near the
// labelled lines. A label without lines accepts findings anywhere in its file.
func (f Flaw) acceptsFinding(got Finding) bool {
	accepted := parseCWEs(f.CWE)
	if !slices.ContainsFunc(got.CWE, func(c int) bool { return slices.Contains(accepted, c) }) {
		return false
	}
	if f.Location.Start == nil {
		return true
	}
	end := *f.Location.Start
	if f.Location.End != nil {
		end = *f.Location.End
	}
	return *f.Location.Start-appTolerance <= got.Line && got.Line <= end+appTolerance
}

// AppName returns the folder of the application in the benchmark.
func AppName(folder string) string { return strings.TrimPrefix(folder, "realvuln-") }
