package findings

import (
	"context"
	"io"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/api/endpoint"
	"merlon/internal/api/scancoverage"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/sbom"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// Content types of SBOMs, as IANA has them.
const (
	CycloneType = "application/vnd.cyclonedx+json"
	SpdxType    = "application/spdx+json"
)

// sbomInput selects the branch and the format of an SBOM.
type sbomInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Branch    string `query:"branch" maxLength:"255" doc:"Branch. Default: the reference branch, then main, then master."`
	Format    string `query:"format" doc:"cyclonedx (1.6, with vulnerabilities and their VEX analysis) or spdx (2.3). Default: cyclonedx."`
}

// batchSize is how many packages or findings are read at a time.
const batchSize = 1000

// GetSBOM responds with the packages of a branch as an SBOM. A branch of
// which no scan saw a package has none.
func (a *Handlers) GetSBOM(ctx context.Context, sc tenant.Scope, in *sbomInput) (*huma.StreamResponse, error) {
	var p queryParser
	formats := endpoint.Enum(&p.Parser, "format", []string{"cyclonedx", "spdx"}, in.Format)
	if err := p.Err(); err != nil {
		return nil, err
	}
	of, err := a.Results.Project(ctx, sc)
	if err != nil {
		return nil, err
	}
	branch := in.Branch
	if branch == "" {
		if branch, err = a.Results.ReferenceBranch(ctx, sc); err != nil {
			return nil, err
		}
	}
	coverage, err := a.CoverageFor(ctx, sc, branch)
	if err != nil {
		return nil, err
	}
	d := &sbom.Document{Subject: of.Name, Tool: "merlon", ToolVersion: a.Version, Concluded: map[int]string{}}
	if branch != "" {
		if err := a.fillSBOM(ctx, sc, branch, d); err != nil {
			return nil, err
		}
	}
	// An SBOM of a partial scan must say that it is incomplete: consumers otherwise conclude
	// that a missing package is not used (CycloneDX compositions, aggregate "incomplete").
	for _, c := range coverage {
		d.Incomplete = d.Incomplete || c.Analysis == finding.SCA && c.State != project.FullyAnalysed
	}
	if len(d.Packages) == 0 {
		return nil, errs.E(errs.NotFound, "no SBOM: no scan of the branch has found packages")
	}
	write, contentType, suffix := sbom.CycloneDX, CycloneType, ".cdx.json"
	if len(formats) > 0 && formats[0] == "spdx" {
		write, contentType, suffix = sbom.SPDX, SpdxType, ".spdx.json"
	}
	return scancoverage.AddCoverageHeader(coverage, []finding.Analysis{finding.SCA},
		a.Download("sbom-"+string(sc.Project)+suffix,
			contentType,
			func(w io.Writer) error {
				return write(w, d)
			})), nil
}

// fillSBOM reads the packages and vulnerabilities of a branch. The document is as old
// as the latest change of a package.
func (a *Handlers) fillSBOM(ctx context.Context, sc tenant.Scope, branch string, d *sbom.Document) error {
	for {
		found, total, err := a.Results.Packages(ctx, sc, triage.PackageQuery{Branch: branch, Offset: len(d.Packages),
			Limit: batchSize})
		if err != nil {
			return err
		}
		for _, k := range found {
			// The declared licence stays what the package says; the assigned one is what a person
			// concluded (SPDX PackageLicenseConcluded).
			if k.Assigned {
				d.Concluded[len(d.Packages)] = k.Package.Licenses[0]
				k.Package.Licenses = k.Declared
			}
			d.Packages = append(d.Packages, k.Package)
			if k.UpdatedAt.After(d.Created) {
				d.Created = k.UpdatedAt
			}
		}
		// An empty page ends the loop as well: packages may be removed while it runs.
		if len(found) == 0 || len(d.Packages) >= total {
			break
		}
	}
	if len(d.Packages) == 0 {
		return nil
	}
	q := triage.Query{Filter: triage.Filter{Analysis: finding.SCA, Branch: branch}, Limit: batchSize, Uncounted: true}
	for {
		page, err := a.Results.Findings(ctx, sc, q)
		if err != nil {
			return err
		}
		for i := range page.Findings {
			if f := &page.Findings[i]; f.Rule.Advisory != nil && f.Report.Package != nil {
				d.Vulnerabilities = append(d.Vulnerabilities, sbom.Vulnerability{Advisory: f.Rule.Advisory,
					Package: f.Report.Package.Package,
					Upgrade: f.Report.Package.Upgrade, State: sbomState(f.Status), Comment: lastComment(f)})
			}
		}
		if page.Next == nil {
			return nil
		}
		q.After = page.Next
	}
}

// lastComment returns what a person last said about the finding.
func lastComment(f *triage.Finding) string {
	for _, c := range slices.Backward(f.History) {
		if c.Kind == triage.CommentChange {
			return c.Value
		}
	}
	return ""
}

// sbomState says in the words of CycloneDX what was decided about a finding.
func sbomState(s triage.Status) sbom.State {
	switch s {
	case triage.Confirmed:
		return sbom.Exploitable
	case triage.Resolved:
		return sbom.Fixed
	case triage.Ignored:
		return sbom.NotAffected
	}
	return sbom.InTriage
}
