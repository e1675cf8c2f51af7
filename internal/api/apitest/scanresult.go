package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// Statuses is the stream of a scan that found nothing and ended with the statuses.
func Statuses(t testing.TB, list ...scan.Status) []byte {
	t.Helper()
	var b bytes.Buffer
	h := scan.Encode(&b)
	c := &scan.Config{}
	for _, s := range list {
		c.Analyzers = append(c.Analyzers, s.Analyzer)
	}
	err := h.Config(c)
	for _, s := range list {
		if s.Reasons == nil {
			s.Reasons = []scan.Reason{}
		}
		if err == nil {
			err = h.Status(&s)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// InImage reports a vulnerable package of an image's distribution.
func (s *ScanResult) InImage(severity finding.Severity, cve, name, version string) *ScanResult {
	s.AddRule(&finding.Rule{ID: "container/" + cve, Analysis: finding.Container, Name: cve, Severity: severity,
		Advisory: &finding.Advisory{ID: cve, CVE: cve, Aliases: []string{cve}, Summary: cve}})
	p := finding.Package{Ecosystem: "Debian:12", Name: name, Version: version, PURL: "pkg:deb/debian/" + name + "@" +
		version, Path: "var/lib/dpkg/status",
		Layer: &finding.Layer{Index: 0, Digest: "sha256:base", Base: true}}
	s.Packages = append(s.Packages, &p)
	s.Findings = append(s.Findings, &finding.Finding{RuleID: "container/" + cve, Severity: severity, Message: name +
		" is affected", Layer: p.Layer,
		Location: finding.Location{Path: p.Path}, Package: &finding.PackageMatch{Package: p}})
	return s
}

// Library reports a package of a language in an image, without a vulnerability.
func (s *ScanResult) Library(name string) *ScanResult {
	s.Packages = append(s.Packages, &finding.Package{Ecosystem: "npm", Name: name, Version: "1.0.0", PURL: "pkg:npm/" +
		name, Path: "app/package.json",
		Layer: &finding.Layer{Index: 1}})
	return s
}

// ImageFinding reports another finding of an image, such as a secret or a misconfiguration.
func (s *ScanResult) ImageFinding(severity finding.Severity, rule, path string,
	secret *finding.SecretMatch) *ScanResult {
	s.AddRule(&finding.Rule{ID: rule, Analysis: finding.Container, Name: rule, Severity: severity,
		Language: "dockerfile"})
	s.Findings = append(s.Findings, &finding.Finding{RuleID: rule, Severity: severity, Message: rule,
		Language: "dockerfile",
		Location: finding.Location{Path: path}, Secret: secret, Layer: &finding.Layer{Index: 1}})
	return s
}

// NoResults is a scan that finds nothing.
func NoResults() *ScanResult { return &ScanResult{} }

// ScanImage applies a scan of an image of docker.io/acme to a branch.
func (w *World) ScanImage(branch, name string, s *ScanResult) run.Outcome {
	w.T.Helper()
	repository, tag, _ := strings.Cut("docker.io/acme/"+name, ":")
	image := &run.Image{Reference: repository + ":" + tag, Repository: repository}
	var b bytes.Buffer
	h := scan.Encode(&b)
	must := func(err error) {
		if err != nil {
			w.T.Fatal(err)
		}
	}
	const analyzer = "container/image"
	must(h.Config(&scan.Config{Analyses: []finding.Analysis{finding.Container}, Analyzers: []string{analyzer},
		Image: &scan.Image{Name: name, Digest: "sha256:" + tag, Platform: "linux/amd64", Layers: 2, Size: 2048}}))
	for _, r := range s.Rules {
		must(h.Rule(r))
	}
	for _, p := range s.Packages {
		p.Path = image.Root() + p.Path
		must(h.Package(p))
	}
	for _, f := range s.Findings {
		f.Analyzer, f.Analysis = analyzer, finding.Container
		f.Fingerprint = finding.NewFingerprint(f.RuleID, f.Location.Path, f.Message, 0).InComponent(image.Root())
		f.Location.Path = image.Root() + f.Location.Path
		must(h.Finding(f))
	}
	system := &scan.OS{}
	if len(s.Packages) > 0 {
		system = &scan.OS{ID: "debian", Version: "12", Name: "Debian GNU/Linux 12 (bookworm)"}
	}
	must(h.Status(&scan.Status{Analyzer: analyzer, Analysis: finding.Container, State: scan.Succeeded,
		Reasons: []scan.Reason{}, Root: image.Root(), OS: system}))
	return w.Apply(branch, image, b.Bytes())
}

// A ScanResult is what a scan of a test reports.
type ScanResult struct {
	Rules    []*finding.Rule
	Findings []*finding.Finding
	Packages []*finding.Package
}

// Code reports a finding of source code.
func (s *ScanResult) Code(analysis finding.Analysis, severity finding.Severity, rule, path string,
	line int) *ScanResult {
	id := string(analysis) + "/" + rule
	s.AddRule(&finding.Rule{
		ID: id, Analysis: analysis, Name: "Rule " + rule, ShortDescription: "short", Description: "What and why.",
		HowToPrevent: "How to fix.",
		CWE:          []string{"CWE-89"}, OWASP: []string{"A03:2021"}, Severity: severity, Language: "java",
	})
	snippet := &finding.Snippet{StartLine: line, Lines: []string{"query(" + rule + ")", "next"}}
	f := &finding.Finding{
		RuleID: id, Analyzer: string(analysis) + "/test", Analysis: analysis, Severity: severity,
		Message: "message of " + rule, Language: "java",
		Location: finding.Location{Path: path, StartLine: line, EndLine: line}, Snippet: snippet,
		Steps: []finding.Step{
			{Kind: finding.Source, Message: "from", Location: finding.Location{Path: path, StartLine: line},
				Snippet: snippet},
			{Kind: finding.Sink, Message: "to", Location: finding.Location{Path: path, StartLine: line}},
		},
	}
	f.Fingerprint = finding.NewFingerprint(id, path, fmt.Sprint(rule, line), 0)
	s.Findings = append(s.Findings, f)
	return s
}

// Copy adds a second location to the last finding, and a rule that is equivalent to its own.
func (s *ScanResult) Copy(path string, line int) *ScanResult {
	f := s.Findings[len(s.Findings)-1]
	f.Also, f.EquivalentRules = append(f.Also, finding.Location{Path: path, StartLine: line, EndLine: line}),
		[]string{"sast/other"}
	return s
}

// Vulnerable reports a dependency with an advisory.
func (s *ScanResult) Vulnerable(cve, name, version string, scope finding.Dependency) *ScanResult {
	s.AddRule(&finding.Rule{
		ID: "sca/" + cve, Analysis: finding.SCA, Name: cve, Severity: finding.High,
		Advisory: &finding.Advisory{
			ID: cve, CVE: cve, GHSA: "GHSA-x", Aliases: []string{cve, "GHSA-x"}, Summary: "summary of " + cve,
			Details: "details", CWE: []string{"CWE-400"},
			Severities: []finding.AdvisorySeverity{{Type: "CVSS_V3", Score: "CVSS:3.1/…"}},
			References: []finding.AdvisoryReference{{Type: "WEB", URL: "https://example.test"}},
			CVSS:       8.1,
		},
	})
	p := finding.Package{Ecosystem: "npm", Name: name, Version: version, Path: "package-lock.json", Scope: scope,
		Via: []string{"root@1.0.0"}}
	s.Packages = append(s.Packages, &p)
	f := &finding.Finding{
		RuleID: "sca/" + cve, Analyzer: "sca/test", Analysis: finding.SCA, Severity: finding.High, Message: name +
			" is vulnerable", Language: "javascript",
		Location: finding.Location{Path: p.Path, StartLine: 3, EndLine: 3},
		Package: &finding.PackageMatch{Package: p, Introduced: "0", Fixed: []string{"0.0.1", "9.9.9"},
			Upgrade: "9.9.9"},
	}
	f.Fingerprint = finding.NewFingerprint(f.RuleID, p.Path, name+version, 0)
	s.Findings = append(s.Findings, f)
	return s
}

// AddRule declares a rule once.
func (s *ScanResult) AddRule(r *finding.Rule) {
	for _, known := range s.Rules {
		if known.ID == r.ID {
			return
		}
	}
	s.Rules = append(s.Rules, r)
}

// Stream returns the messages of the scan. Every analyzer succeeded.
func (s *ScanResult) Stream(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	h := scan.Encode(&b)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	config := &scan.Config{Analyses: finding.Analyses}
	for _, a := range finding.Analyses {
		config.Analyzers = append(config.Analyzers, string(a)+"/test")
	}
	must(h.Config(config))
	for _, r := range s.Rules {
		must(h.Rule(r))
	}
	for _, p := range s.Packages {
		must(h.Package(p))
	}
	for _, f := range s.Findings {
		must(h.Finding(f))
	}
	for _, a := range finding.Analyses {
		must(h.Status(&scan.Status{Analyzer: string(a) + "/test", Analysis: a, State: scan.Succeeded,
			Reasons: []scan.Reason{}}))
	}
	return b.Bytes()
}

// Scan applies a scan to a branch of the world's project.
func (w *World) Scan(branch string, s *ScanResult) run.Outcome {
	w.T.Helper()
	return w.Apply(branch, nil, s.Stream(w.T))
}

// Apply applies the messages of a scan, of source code or of an image.
func (w *World) Apply(branch string, image *run.Image, stream []byte) run.Outcome {
	w.T.Helper()
	// Two scans at the same moment would have no order.
	w.Clock.Advance(time.Minute)
	project := tenant.ProjectID(strings.TrimPrefix(w.Project, "/project/"))
	org := tenant.OrganizationID(strings.TrimPrefix(w.Organization, "/organization/"))
	sc := tenant.System(org, tenant.TeamID(strings.TrimPrefix(w.Team, "/team/")), project)
	r := &run.Run{ID: run.ID(tenant.NewID(storetest.Region, w.Clock.Now())), OrganizationID: org, ProjectID: project,
		Branch: branch, Source: "cli",
		Attempt: 1, CreatedAt: w.Clock.Now(), Image: image}
	err := w.DB.Tx(w.T.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(w.T.Context(), `INSERT INTO run (id, organization_id, project_id, branch, source, private, analyses, initiator, state,
			upload_expires_at, attempt, step, created_at, updated_at) VALUES (?, ?, ?, ?, 'cli', FALSE, '[]', '', 'running', 0, 1, '', ?, ?)`,
			string(r.ID), string(org), string(project), branch, w.Clock.Now().UnixMilli(), w.Clock.Now().UnixMilli())
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	out, err := triage.New(w.DB).Ingest(w.T.Context(), sc, r, func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(stream)), nil
	})
	if err != nil {
		w.T.Fatal(err)
	}
	outcome, err := json.Marshal(out)
	if err == nil {
		err = w.DB.Tx(w.T.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(w.T.Context(), "UPDATE run SET outcome = ? WHERE id = ?", string(outcome), string(r.ID))
			return err
		})
	}
	if err != nil {
		w.T.Fatal(err)
	}
	return out
}

// SomeResults is a scan with findings of all severities.
func SomeResults() *ScanResult {
	s := &ScanResult{}
	s.Code(finding.SAST, finding.Low, "d", "src/D.java", 4).Code(finding.SAST, finding.Critical, "a", "src/A.java", 1).
		Code(finding.SAST, finding.Medium, "c", "test/C.java", 3).Code(finding.SAST, finding.High, "b", "src/B.java",
		2).
		Code(finding.SAST, finding.Critical, "a", "src/A.java", 100)
	s.Code(finding.IaC, finding.High, "open", "main.tf", 7).Code(finding.Secret, finding.Critical, "key", ".env", 1)
	s.Vulnerable("CVE-2026-1", "left-pad", "1.0.0", finding.Direct).Vulnerable("CVE-2026-1", "right-pad", "1.0.0",
		finding.Transitive).
		Vulnerable("CVE-2026-2", "left-pad", "1.0.0", finding.Direct)
	return s
}

// Live reports a finding of a running application whose flaw in the source code is known.
func (s *ScanResult) Live(analysis finding.Analysis, rule, address string) *ScanResult {
	id := string(analysis) + "/" + rule
	s.AddRule(&finding.Rule{ID: id, Analysis: analysis, Name: "Rule " + rule, Severity: finding.High,
		CWE: []string{"CWE-89"}})
	f := &finding.Finding{
		RuleID: id, Analyzer: string(analysis) + "/test", Analysis: analysis, Severity: finding.High,
		Message:  "It is part of a statement.",
		Location: finding.Location{Path: strings.TrimPrefix(address, "http://")},
		Live: &finding.Live{URL: address, Method: "POST", Parameter: "q", In: "form", Payload: "'",
			Proof: []string{"an error"}, Curl: "curl " + address,
			Exchanges: []finding.Exchange{{Request: "POST /search HTTP/1.1\r\nHost: " +
				"shop.example\r\n\r\nq=%27", Response: "HTTP/1.1 500 Internal Server Error\r\nX-A: " +
				"1\r\n\r\nsyntax error"}},
			Code: &finding.Code{Handler: finding.Location{Path: "app.py", StartLine: 2, EndLine: 9},
				Flaw: &finding.CodeFinding{RuleID: "sast/sql", Location: finding.Location{Path: "app.py", StartLine: 4,
					EndLine: 4}}}},
	}
	f.Fingerprint = finding.NewFingerprint(id, f.Location.Path, rule, 0)
	s.Findings = append(s.Findings, f)
	return s
}

// LongText is a description as long as those of real rules.
var LongText = strings.Repeat("Data of a request reaches a statement of the database without being bound as a "+
	"parameter. ",
	9)

// LongResults are findings with long texts, code and flows.
func LongResults() *ScanResult {
	s := &ScanResult{}
	s.Code(finding.SAST, finding.High, "java/sql-injection",
		"src/main/java/org/example/shop/orders/OrderRepository.java", 120)
	f := s.Findings[0]
	f.Severity, f.Message = finding.Medium, "The parameter q of GET /orders reaches the statement in findOrders "+
		"without being bound."
	for range 6 {
		f.Steps = append(f.Steps, f.Steps[0])
	}
	for _, r := range s.Rules {
		r.Description, r.HowToPrevent, r.ShortDescription = LongText, LongText, "SQL statement built from data of a "+
			"request"
	}
	for _, a := range []finding.Analysis{finding.IaC, finding.CICD, finding.Secret} {
		s.Code(a, finding.Critical, "a-rule", "deploy/overlays/production/web/settings.yaml", 1204)
		f, r := s.Findings[len(s.Findings)-1], s.Rules[len(s.Rules)-1]
		f.Message, r.Description, r.HowToPrevent = LongText, LongText, LongText
		r.Name, r.OWASP = "GitHub personal access token", []string{"A05:2021"}
	}
	s.Findings[len(s.Findings)-1].Secret = &finding.SecretMatch{Kind: "GitHub personal access token",
		Redacted: "ghp_…(40)"}
	s.Vulnerable("CVE-2026-1", "left-pad", "1.0.0", finding.Direct)
	for _, r := range s.Rules {
		if r.Advisory != nil {
			r.Advisory.Details, r.Advisory.Summary = LongText, "left-pad reads beyond the end of its input"
			for range 12 {
				r.Advisory.References = append(r.Advisory.References,
					finding.AdvisoryReference{Type: "WEB",
						URL: "https://example.test/advisories/with/a/long/address"})
			}
		}
	}
	return s
}
