package projects

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"merlon/internal/project"
	"merlon/internal/store/coverage"
	"merlon/internal/store/findings"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// recent is how far back "recent" goes in the totals: the contract's seven days.
const recent = 7 * 24 * time.Hour

// Totals of many projects are added up at most once in totalsLife for the same
// reach, and kept: of a million projects that takes about a second. manyProjects
// is from when on, maxTotals how many are kept.
const (
	totalsLife   = 30 * time.Second
	manyProjects = 2_000
	maxTotals    = 1_000
)

// A totalsCache keeps totals by reach.
type totalsCache struct {
	mu      sync.Mutex
	entries map[string]*keptTotals
}

// keptTotals are totals of a reach, or about to be: done is closed when they are
// there.
type keptTotals struct {
	done   chan struct{}
	at     time.Time
	totals project.Totals
	err    error
}

// sumTotals adds up how the projects of the reach stand on their reference branches.
func (db *Store) sumTotals(ctx context.Context, sc tenant.Scope, r reach) (project.Totals, error) {
	if r.inTeam+len(r.single) < manyProjects && (!r.all || r.total < manyProjects) {
		return db.addUp(ctx, sc, r)
	}
	for {
		k, mine := db.cache.claimTotals(r.cacheKey(sc), db.Timestamp())
		if mine {
			k.totals, k.err = db.addUp(ctx, sc, r)
			close(k.done)
			if k.err != nil {
				db.cache.dropTotals(r.cacheKey(sc), k)
			}
			return k.totals, k.err
		}
		select {
		case <-k.done:
		case <-ctx.Done():
			return project.Totals{}, ctx.Err()
		}
		if k.err == nil { // else whoever added up failed or went away: do it here
			return k.totals, nil
		}
	}
}

// Totals returns the numbers of all projects of the scope's organization that the caller
// may read, which for many projects may be some seconds old.
func (db *Store) Totals(ctx context.Context, sc tenant.Scope) (project.Totals, error) {
	r, err := db.ReadableProjects(ctx, sc)
	if err != nil {
		return project.Totals{}, fmt.Errorf("read what is readable: %w", db.Classify(err))
	}
	return db.sumTotals(ctx, sc, r)
}

// cacheKey names the reach: who reads the same projects shares the totals.
func (r reach) cacheKey(sc tenant.Scope) string {
	if r.all {
		return string(sc.Organization)
	}
	teams, single := slices.Sorted(slices.Values(r.teams)), slices.Sorted(slices.Values(r.single))
	sum := sha256.Sum256([]byte(strings.Join(teams, ",") + ";" + strings.Join(single, ",")))
	return string(sc.Organization) + string(sum[:])
}

// claimTotals returns the totals under the key, or new ones that the caller adds up.
func (c *totalsCache) claimTotals(key string, now time.Time) (k *keptTotals, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.entries[key]; k != nil && now.Sub(k.at).Abs() < totalsLife {
		return k, false
	}
	if c.entries == nil || len(c.entries) >= maxTotals {
		c.entries = map[string]*keptTotals{} // rare, and all of it can be added up again
	}
	k = &keptTotals{done: make(chan struct{}), at: now}
	c.entries[key] = k
	return k, true
}

// dropTotals forgets totals that could not be added up.
func (c *totalsCache) dropTotals(key string, k *keptTotals) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[key] == k {
		delete(c.entries, key)
	}
}

func (db *Store) addUp(ctx context.Context, sc tenant.Scope, r reach) (t project.Totals, err error) {
	t.Projects = r.inTeam + len(r.single)
	if r.all {
		t.Projects = r.total
		err = db.addTotals(ctx, &t, "project_stats s WHERE s.organization_id = ?", []any{sc.Organization})
		return t, err
	}
	for _, a := range db.ByTeam(sc, r, "") {
		if err := db.addTotals(ctx, &t, "project_stats s JOIN (SELECT p.id FROM "+a.From+") mine ON mine.id = "+
			"s.project_id", a.Args); err != nil {
			return t, err
		}
	}
	return t, nil
}

// addTotals adds the numbers of the rows of project_stats, named s in from.
func (db *Store) addTotals(ctx context.Context, t *project.Totals, from string, args []any) error {
	since := db.Timestamp().Add(-recent)
	critical, high := sqldb.EnumCode(triage.RiskLevels, triage.CriticalRisk),
		sqldb.EnumCode(triage.RiskLevels, triage.HighRisk)
	var n project.Totals
	err := db.QueryRow(ctx, `SELECT
		COUNT(CASE WHEN s.risk_level = ? THEN 1 END), COUNT(CASE WHEN s.risk_level = ? AND s.level_since >= ? THEN 1 END),
		COUNT(CASE WHEN s.risk_level = ? THEN 1 END), COUNT(CASE WHEN s.risk_level = ? AND s.level_since >= ? THEN 1 END),
		CAST(COALESCE(SUM(s.critical), 0) AS BIGINT), CAST(COALESCE(SUM(s.high), 0) AS BIGINT),
		CAST(COALESCE(SUM(s.medium), 0) AS BIGINT), CAST(COALESCE(SUM(s.low), 0) AS BIGINT),
		COUNT(CASE WHEN s.branch <> '' THEN 1 END), CAST(COALESCE(MAX(s.risk_score), 0) AS BIGINT) FROM `+from,
		append([]any{critical, critical, sqldb.Millis(since), high, high, sqldb.Millis(since)}, args...)...).
		Scan(&n.CriticalRisk, &n.CriticalRiskRecent, &n.HighRisk, &n.HighRiskRecent, &n.Critical, &n.High, &n.Medium,
			&n.Low, &n.Scanned, &n.Risk)
	if err != nil {
		return fmt.Errorf("add up how projects stand: %w", db.Classify(err))
	}
	err = db.QueryRow(ctx, `SELECT CAST(COALESCE(SUM(d.opened), 0) AS BIGINT), CAST(COALESCE(SUM(d.solved), 0) AS BIGINT),
		CAST(COALESCE(SUM(CASE WHEN d.day > ? THEN d.opened END), 0) AS BIGINT),
		CAST(COALESCE(SUM(CASE WHEN d.day > ? THEN d.solved END), 0) AS BIGINT)
		FROM branch_daily d JOIN (SELECT s.project_id, s.branch, s.hidden FROM `+from+`) mine ON mine.project_id = d.project_id AND mine.branch = d.branch
		WHERE `+findings.ShownDays("mine"),
		append([]any{sqldb.DayNumber(since), sqldb.DayNumber(since)}, args...)...).Scan(&n.New, &n.Solved, &n.NewRecent,
		&n.SolvedRecent)
	if err != nil {
		return fmt.Errorf("add up what was found and solved: %w", db.Classify(err))
	}
	query, old := coverage.New(db.DB).CountQuery("(SELECT s.project_id, '' AS team_id, "+coverage.ReferenceCondition+
		" AS branch FROM "+from+")",
		"c.branch = mine.branch")
	rows, err := db.Query(ctx, query, append([]any{old}, args...)...)
	if n.Coverage, err = sqldb.Collect(rows, err, coverage.ScanCount); err != nil {
		return fmt.Errorf("add up what was looked at: %w", err)
	}
	t.Add(n)
	return nil
}
