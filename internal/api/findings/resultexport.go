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
	"merlon/internal/report/sarif"
	"merlon/internal/scan"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// exportResultsInput selects the findings of an export and its format.
type exportResultsInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Type      string `query:"type" doc:"Analysis types: sast, sca, iac, secret, cicd, container, dast, api. Default: all."`
	Format    string `query:"format" doc:"json (one finding per line) or sarif (SARIF 2.1.0 of one branch). Default: json."`
	ResultFilter
}

// SarifType is the content type of SARIF, as IANA has it.
const SarifType = "application/sarif+json"

// exportBatch is how many findings an export reads at a time. The evidence of one finding
// can be many kilobytes, so the batch is small.
const exportBatch = 200

// ExportResults responds with every finding that the filter selects, one a line, in
// constant memory and without a ceiling: by analysis, active ones first, the
// worst before others. A finding that changes its place in this order meanwhile
// may be missed or come twice.
func (a *Handlers) ExportResults(ctx context.Context, sc tenant.Scope,
	in *exportResultsInput) (*huma.StreamResponse, error) {
	p, err := a.Results.Project(ctx, sc)
	if err != nil {
		return nil, err
	}
	var q queryParser
	formats := endpoint.Enum(&q.Parser, "format", []string{"json", "sarif"}, in.Format)
	if err := q.Err(); err != nil {
		return nil, err
	}
	// SARIF describes one run of a tool, so it is always of a single branch.
	if len(formats) > 0 && formats[0] == "sarif" {
		return a.exportSARIF(ctx, sc, in, p.Settings)
	}
	filters, err := in.parseFilters(p.Settings)
	if err != nil {
		return nil, err
	}
	coverage, err := a.CoverageFor(ctx, sc, in.Branch)
	if err != nil {
		return nil, err
	}
	return scancoverage.AddCoverageHeader(coverage, analysesOf(filters),
		a.Lines("results-"+string(sc.Project)+".ndjson",
			func(line func(any) error) error {
				for _, f := range filters {
					if err := a.exportFilter(ctx, sc, f, func(f *triage.Finding) error {
						return line(viewResult(f))
					}); err != nil {
						return err
					}
				}
				return nil
			})), nil
}

// analysesOf returns the analysis of each filter.
func analysesOf(filters []triage.Filter) []finding.Analysis {
	return endpoint.Convert(filters, func(f triage.Filter) finding.Analysis { return f.Analysis })
}

// parseFilters returns one filter for each analysis.
func (in *exportResultsInput) parseFilters(settings project.Settings) ([]triage.Filter, error) {
	var p queryParser
	analyses := endpoint.Enum(&p.Parser, "type", finding.Analyses, in.Type)
	if len(analyses) == 0 {
		analyses = finding.Analyses
	}
	var out []triage.Filter
	for _, analysis := range analyses {
		out = append(out, p.parseFilter(&in.ResultFilter, analysis, settings))
		// Errors of the shared filter are the same for each analysis: report them once.
		if err := p.Err(); err != nil {
			return nil, err
		}
	}
	return out, p.Err()
}

// exportSARIF responds with what the filter selects of one branch as the document that the
// command writes; only the rules and the compressed results are in memory. How the last scans of the
// branch went is its invocation; findings that are resolved are in it only when the
// filter names their status.
func (a *Handlers) exportSARIF(ctx context.Context, sc tenant.Scope, in *exportResultsInput,
	settings project.Settings) (*huma.StreamResponse, error) {
	if in.Branch == "" {
		var err error
		if in.Branch, err = a.Results.ReferenceBranch(ctx, sc); err != nil {
			return nil, err
		}
		if in.Branch == "" {
			return nil, errs.E(errs.NotFound, "no scan yet")
		}
	}
	filters, err := in.parseFilters(settings)
	if err != nil {
		return nil, err
	}
	statuses, latest, err := a.Numbers.LastStatuses(ctx, sc, in.Branch)
	if err != nil {
		return nil, err
	}
	// Without a scan of the branch the invocation starts now.
	if latest.IsZero() {
		latest = a.Now()
	}
	config := &scan.Config{Tool: "merlon", Version: a.Version, Started: latest}
	config.Analyses = analysesOf(filters)
	coverage, err := a.CoverageFor(ctx, sc, in.Branch)
	if err != nil {
		return nil, err
	}
	// Gaps are written with the statuses: a log without results must not read as clean when the
	// analysis failed or never ran.
	statuses = append(statuses, scancoverage.Gaps(coverage, settings, config.Analyses, in.Type == "")...)
	return scancoverage.AddCoverageHeader(coverage, config.Analyses, a.Download("results-"+string(sc.Project)+".sarif",
		SarifType,
		func(w io.Writer) error {
			report := sarif.New(w, a.Region.BaseURL)
			if err := report.Config(config); err != nil {
				return err
			}
			for _, f := range filters {
				// Ignored findings are exported with a suppression; resolved ones would reappear as
				// open in viewers that do not know baselines.
				if len(f.Statuses) == 0 {
					f.Statuses = []triage.Status{triage.ToVerify, triage.Confirmed, triage.Ignored}
				}
				if err := a.exportFilter(ctx, sc, f, func(f *triage.Finding) error {
					return writeResult(report, f)
				}); err != nil {
					return err
				}
			}
			for _, s := range statuses {
				if !slices.Contains(config.Analyses, s.Analysis) {
					continue
				}
				if err := report.Status(&s); err != nil {
					return err
				}
			}
			return report.Close()
		})), nil
}

// writeResult writes the finding with its rule.
func writeResult(report *sarif.Report, f *triage.Finding) error {
	// A rule that was written before is written only once.
	if err := report.Rule(&f.Rule); err != nil {
		return err
	}
	return report.Kept(&f.Report, sarif.Standing{ID: string(f.ID), Status: string(f.Status),
		Priority: string(f.Priority), Branch: f.Branch,
		Comment: lastComment(f), Found: f.CreatedAt, Ignored: f.Status == triage.Ignored, Gone: f.Gone ||
			f.Status == triage.Resolved})
}

// exportFilter calls each for all that the filter selects.
func (a *Handlers) exportFilter(ctx context.Context, sc tenant.Scope, f triage.Filter,
	each func(*triage.Finding) error) error {
	q := triage.Query{Filter: f, Limit: exportBatch, Uncounted: true}
	for {
		// Each batch starts after the last finding of the one before, by the values of the order.
		// An offset would skip findings when others change their status meanwhile.
		page, err := a.Results.Findings(ctx, sc, q)
		if err != nil {
			return err
		}
		for i := range page.Findings {
			if err := each(&page.Findings[i]); err != nil {
				return err
			}
		}
		if page.Next == nil {
			return nil
		}
		q.After = page.Next
	}
}
