package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

type exportResultsIn struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Type      string `query:"type" doc:"Any of sast, sca, iac, secret, cicd, container, dast, api; all of them when missing."`
	ResultFilter
}

// exportBatch is how many findings an export reads at a time.
const exportBatch = 200

// exportResults answers every finding that the filter selects, one a line, in
// constant memory and without a ceiling: by analysis, active ones first, the
// worst before others. A finding that changes its place in this order meanwhile
// may be missed or come twice.
func (a *API) exportResults(ctx context.Context, sc tenant.Scope, in *exportResultsIn) (*huma.StreamResponse, error) {
	p, err := a.Results.Project(ctx, sc)
	if err != nil {
		return nil, err
	}
	filters, err := in.filters(p.Settings)
	if err != nil {
		return nil, err
	}
	return a.lines("results-"+string(sc.Project)+".ndjson", func(line func(any) error) error {
		for _, f := range filters {
			if err := a.exportFilter(ctx, sc, f, line); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

// filters returns one filter for each analysis.
func (in *exportResultsIn) filters(settings project.Settings) ([]triage.Filter, error) {
	var p parser
	analyses := enum(&p, "type", finding.Analyses, in.Type)
	if len(analyses) == 0 {
		analyses = finding.Analyses
	}
	var out []triage.Filter
	for _, analysis := range analyses {
		out = append(out, p.filter(&in.ResultFilter, analysis, settings))
		if err := p.err(); err != nil {
			return nil, err
		}
	}
	return out, p.err()
}

func (a *API) exportFilter(ctx context.Context, sc tenant.Scope, f triage.Filter, line func(any) error) error {
	q := triage.Query{Filter: f, Limit: exportBatch, Uncounted: true}
	for {
		page, err := a.Results.Findings(ctx, sc, q)
		if err != nil {
			return err
		}
		for i := range page.Findings {
			if err := line(viewResult(&page.Findings[i])); err != nil {
				return err
			}
		}
		if page.Next == nil {
			return nil
		}
		q.After = page.Next
	}
}
