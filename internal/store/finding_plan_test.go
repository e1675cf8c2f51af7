package store_test

import (
	"strings"
	"testing"

	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// TestListsReadIndexes asks SQLite how it answers the queries of lists: none may
// read a table of findings from one end to the other.
func TestListsReadIndexes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		if db.Dialect.Name() != "sqlite" {
			t.Skip("PostgreSQL rightly reads small tables as a whole; see BenchmarkList")
		}
		s := newFindingStore(t, db, clock)
		s.ingest("main", bigStream(t, 500))
		s.exec("ANALYZE")
		for _, query := range []string{
			"SELECT f.id FROM finding f WHERE f.project_id = ? AND f.organization_id = ? AND f.analysis = 1 ORDER BY " +
				"f.closed, f.severity, f.id LIMIT 100",
			"SELECT f.id FROM finding f WHERE f.project_id = ? AND f.organization_id = ? AND f.analysis = 1 ORDER BY " +
				"f.updated_at, f.id LIMIT 100",
			"SELECT id FROM finding WHERE project_id = ? AND organization_id = ? AND branch = 'main'",
			"SELECT id FROM finding WHERE project_id = ? AND organization_id = ? AND flaw = 'x'",
			"SELECT id FROM finding_history WHERE project_id = ? AND finding_id = ? AND flaw = 'x'",
			"SELECT id FROM package WHERE project_id = ? AND organization_id = ? AND branch = 'main' ORDER BY name, " +
				"version, id",
			"SELECT findings FROM branch_stats WHERE project_id = ? AND branch = ?",
			"SELECT f.rule_id, COUNT(*) FROM finding f WHERE f.project_id = ? AND f.organization_id = ? AND " +
				"f.analysis = 1 GROUP BY f.rule_id",
		} {
			rows, err := db.Query(t.Context(), "EXPLAIN QUERY PLAN "+query, string(s.sc.Project),
				string(s.sc.Organization))
			if err != nil {
				t.Fatal(err)
			}
			var plan []string
			for rows.Next() {
				var a, b, c int
				var text string
				if err := rows.Scan(&a, &b, &c, &text); err != nil {
					t.Fatal(err)
				}
				plan = append(plan, text)
			}
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(plan[0], "SEARCH") || !strings.Contains(plan[0], "project_id=?") {
				t.Errorf("%s\nis answered by %q", query, plan)
			}
			if strings.Contains(query, "f.closed") && strings.Contains(strings.Join(plan, " "), "TEMP B-TREE") {
				t.Errorf("the default order is sorted instead of read: %q", plan)
			}
		}
	})
}

// TestFindingsAreTheirProjects calls every method as somebody whose scope is
// another organization's project, and with the scope's zero value.
func TestFindingsAreTheirProjects(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		s.ingest("main", bigStream(t, 20))
		page, err := db.Findings(t.Context(), s.sc, triage.Query{Limit: 1})
		if err != nil || page.Total != 20 {
			t.Fatalf("got %d findings, %v", page.Total, err)
		}
		other := newFindingStore(t, db, clock)
		mixed := s.sc
		mixed.Organization = other.sc.Organization
		for name, sc := range map[string]tenant.Scope{"stranger": other.sc, "zero": {}, "another organization's " +
			"project": mixed} {
			ctx, ids := t.Context(), []tenant.ProjectID{s.sc.Project}
			empty := func(what string, n int, err error) {
				t.Helper()
				if err != nil || n != 0 {
					t.Errorf("%s: %s: got %d, %v; want nothing", name, what, n, err)
				}
			}
			list, err := db.Findings(ctx, sc, triage.Query{Limit: 10})
			empty("findings", len(list.Findings)+list.Total, err)
			list, err = db.Findings(ctx, sc, triage.Query{Filter: triage.Filter{Search: "value"}, Limit: 10})
			empty("search", len(list.Findings)+list.Total, err)
			groups, err := db.Groups(ctx, sc, triage.GroupQuery{Sort: triage.ByOccurrences, Limit: 10, Occurrences: 10})
			empty("groups", len(groups.Groups)+groups.Total, err)
			_, total, err := db.Packages(ctx, sc, triage.PackageQuery{Limit: 10})
			empty("packages", total, err)
			cells, err := db.ProjectCells(ctx, sc)
			empty("cells", len(cells), err)
			branches, err := db.FindingBranches(ctx, sc)
			empty("branches", len(branches), err)
			standings, err := db.Standings(ctx, sc, ids)
			if sc.Organization != s.sc.Organization {
				empty("standings", len(standings), err)
			}
			analyses, err := db.AnalysisStandings(ctx, sc, ids)
			empty("analyses", len(analyses), err)
			days, err := db.DayCounts(ctx, sc, ids, triage.OverviewFilter{Branches: []string{"main"}},
				triage.DateRange{Last: clock.Now()})
			empty("days", len(days), err)
			scan, err := db.LastScan(ctx, sc, "")
			if err != nil || scan != nil {
				t.Errorf("%s: last scan: got %v, %v", name, scan, err)
			}
			known := 0
			err = db.Known(ctx, sc, "main", func(triage.Existing) error { known++; return nil })
			empty("known", known, err)
			err = db.KnownPackages(ctx, sc, "main", func(triage.ExistingPackage) error { known++; return nil })
			empty("known packages", known, err)
			counts, err := db.OverviewCounts(ctx, sc, triage.OverviewFilter{Statuses: triage.Statuses})
			empty("overview", len(counts), err)
			if _, err := db.Finding(ctx, sc, page.Findings[0].ID); err == nil {
				t.Errorf("%s: the finding was read", name)
			}
			if _, err := db.Decide(ctx, sc, triage.Decision{Finding: page.Findings[0].ID,
				Status: triage.Ignored}); err == nil {
				t.Errorf("%s: something was decided", name)
			}
		}
		still, err := db.Findings(t.Context(), s.sc,
			triage.Query{Filter: triage.Filter{Statuses: []triage.Status{triage.ToVerify}}, Limit: 1})
		if err != nil || still.Total != 20 {
			t.Errorf("got %d findings to verify, %v; want 20", still.Total, err)
		}
	})
}
