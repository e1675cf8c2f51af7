package kics

import (
	"encoding/json"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/remedy"
	"merlon/internal/engine/iac/rules/calibration"
	"merlon/internal/finding"
)

// queryInfo describes a query, in the words of its authors.
type queryInfo struct {
	// a UUID, shared by the same query on all platforms
	ID   string `json:"id"`
	Name string `json:"queryName"`
	// CRITICAL, HIGH, MEDIUM, LOW, INFO or TRACE
	Severity string `json:"severity"`
	// one of the keys of byCategory
	Category    string `json:"category"`
	Description string `json:"descriptionText"`
	URL         string `json:"descriptionUrl"`
	// "284" or "CWE-284"; may be empty
	CWE   string `json:"cwe"`
	Cloud string `json:"cloudProvider"`
	// by the version of the format, "3.0" of OpenAPI; nil without
	Override map[string]overrides `json:"override"`
}

// overrides is what a query that covers several versions of a format says of one
// of them; empty fields hold for all.
type overrides struct {
	ID          string `json:"id"`
	Name        string `json:"queryName"`
	Severity    string `json:"severity"`
	Description string `json:"descriptionText"`
	URL         string `json:"descriptionUrl"`
}

// platformNames gives the platforms as rule identifiers and people name them.
// The identifiers are part of rule ids and thereby of fingerprints: they never change.
var platformNames = map[document.Platform]struct{ id, name string }{
	document.Ansible:         {"ansible", "Ansible"},
	document.ARM:             {"arm", "Azure Resource Manager"},
	document.Buildah:         {"buildah", "Buildah"},
	document.CICD:            {"workflow", "GitHub Actions"},
	document.CloudFormation:  {"cloudformation", "CloudFormation"},
	document.Compose:         {"compose", "Docker Compose"},
	document.Crossplane:      {"crossplane", "Crossplane"},
	document.Dockerfile:      {"dockerfile", "Dockerfile"},
	document.GoogleDeploy:    {"google-deployment", "Google Deployment Manager"},
	document.GRPC:            {"grpc", "gRPC"},
	document.Knative:         {"knative", "Knative"},
	document.Kubernetes:      {"kubernetes", "Kubernetes"},
	document.OpenAPI:         {"openapi", "OpenAPI"},
	document.Pulumi:          {"pulumi", "Pulumi"},
	document.ServerlessFrame: {"serverless", "Serverless Framework"},
	document.Terraform:       {"terraform", "Terraform"},
}

// newRule makes the rule of a query for one platform. The name of the query's folder is
// permanent, so the rule is named by it.
func (p *platform) newRule(query int, override string) (*finding.Rule, error) {
	all, err := p.about()
	if err != nil {
		return nil, err
	}
	a := all[query]
	slug := strings.NewReplacer("_", "-", "/", "-", " ", "-", ".", "-").Replace(p.index.Queries[query].Name)
	id := "iac/" + platformNames[p.name].id + "/" + strings.ToLower(slug)
	if o, ok := a.Override[override]; ok && override != "" {
		id += "-v" + strings.NewReplacer(".", "-").Replace(strings.TrimSuffix(override, ".0"))
		a.Name, a.Description = firstNonEmpty(o.Name, a.Name), firstNonEmpty(o.Description, a.Description)
		a.Severity, a.URL = firstNonEmpty(o.Severity, a.Severity), firstNonEmpty(o.URL, a.URL)
	}
	a.Name = sentenceCase(a.Name)
	severity, confidence := parseSeverity(a.Severity)
	r := &finding.Rule{
		ID: id, Analysis: finding.IaC, Name: a.Name,
		ShortDescription: endSentence(a.Name),
		Description:      endSentence(a.Description) + benchmarkText(p.name, p.index.Queries[query].Name),
		HowToPrevent:     firstNonEmpty(remedy.Text(id, a.URL), remediationText(a)),
		CWE:              listCWE(a),
		// Security Misconfiguration in both editions of the Top 10.
		OWASP:    []string{"A05:2021", "A02:2025"},
		Severity: severity, Confidence: confidence,
		Language: platformNames[p.name].name,
		Link:     a.URL,
	}
	r.AddReferences()
	calibration.Apply(r)
	return r, nil
}

// parseSeverity turns a query's severity into ours. INFO is about things to know more than
// about vulnerabilities: it is low, and unsure.
func parseSeverity(severity string) (finding.Severity, finding.Confidence) {
	switch strings.ToUpper(severity) {
	case "CRITICAL":
		return finding.Critical, finding.HighConfidence
	case "HIGH":
		return finding.High, finding.HighConfidence
	case "MEDIUM":
		return finding.Medium, finding.HighConfidence
	case "LOW":
		return finding.Low, finding.MediumConfidence
	}
	return finding.Low, finding.LowConfidence
}

// byCategory is the weakness of a query that names none.
var byCategory = map[string]string{
	"Access Control": "284", "Availability": "400", "Backup": "693", "Best Practices": "710",
	"Build Process": "1357", "Encryption": "311", "Insecure Configurations": "16", "Insecure Defaults": "1188",
	"Networking and Firewall": "668", "Observability": "778", "Resource Management": "400",
	"Secret Management": "798", "Structure and Semantics": "710", "Supply-Chain": "1357",
}

// listCWE returns the weakness that a query names, else that of its category.
func listCWE(a queryInfo) []string {
	cwe := strings.TrimPrefix(strings.TrimSpace(a.CWE), "CWE-")
	if cwe == "" {
		cwe = byCategory[a.Category]
	}
	if cwe == "" {
		return nil
	}
	return []string{"CWE-" + cwe}
}

// endSentence ends a text with a full stop.
func endSentence(s string) string {
	s = strings.TrimSpace(s)
	if s != "" && !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// firstNonEmpty returns the first text that is not empty.
func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// UnmarshalJSON takes a description whose override holds something else than
// objects: such an entry overrides nothing.
func (o *overrides) UnmarshalJSON(b []byte) error {
	type plain overrides
	var p plain
	if len(b) > 0 && b[0] == '{' {
		if err := json.Unmarshal(b, &p); err != nil {
			return err
		}
	}
	*o = overrides(p)
	return nil
}

// Rules returns the rule of every query.
func Rules() ([]*finding.Rule, error) {
	l, err := sharedLibrary()
	if err != nil {
		return nil, err
	}
	var out []*finding.Rule
	for _, name := range document.Platforms {
		p, err := l.loadPlatform(name)
		if err != nil {
			return nil, err
		}
		for i := 0; p != nil && i < len(p.index.Queries); i++ {
			r, err := p.newRule(i, "")
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
	}
	return out, nil
}
