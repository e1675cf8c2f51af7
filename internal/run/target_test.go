package run

import (
	"slices"
	"testing"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// TestStartTarget makes the analyses that are switched on and of use.
func TestStartTarget(t *testing.T) {
	target := Target{ID: "x", Name: "Shop", URL: "https://shop.example.org/", Profile: scan.Safe}
	both := []finding.Analysis{finding.DAST, finding.API}
	for name, tt := range map[string]struct {
		dast, api, described bool
		available            []finding.Analysis
		want                 []finding.Analysis
		kind                 errs.Kind
	}{
		"both":                  {true, true, true, both, both, 0},
		"no description":        {true, true, false, both, both[:1], 0},
		"API alone":             {false, true, true, both, both[1:], 0},
		"off":                   {false, false, true, both, nil, errs.Conflict},
		"nothing for API alone": {false, true, false, both, nil, errs.Conflict},
		"not in this build":     {true, true, true, both[:1], nil, errs.NotImplemented},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newWorld(tt.available...)
			w.settings.DASTEnabled, w.settings.APIEnabled = tt.dast, tt.api
			r, err := s.StartTarget(t.Context(), sc, Start{}, target, tt.described)
			if tt.want == nil {
				if !errs.Is(err, tt.kind) || w.run != nil {
					t.Errorf("got %v, want %s", err, tt.kind)
				}
				return
			}
			if err != nil || !slices.Equal(r.Analyses, tt.want) || w.woken != 1 || !r.NeedsMasterKey() || !r.Uploaded ||
				r.Branch != "main" || *r.Target != target {
				t.Errorf("started %+v, %v", r, err)
			}
		})
	}
}
