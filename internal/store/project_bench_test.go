package store_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/store"
	"merlon/internal/store/postgres"
	"merlon/internal/store/sqlite"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// The size of the data that lists are measured on: one organization.
const (
	benchTeams    = 5_000
	benchProjects = 1_000_000
	benchUsers    = 20_000 // in five teams each
)

// estate is the data, with its people: each a member of some teams.
type estate struct {
	*apitest.Runner
	organization                      string
	few, many, administrator, unlucky tenant.UserID
}

// BenchmarkProjects measures lists of projects, and the decision about one, on
// each database. Making the estate takes longer than all of it, so this is one
// benchmark with parts.
func BenchmarkProjects(b *testing.B) {
	each := func(b *testing.B, open func(o store.Options) (*store.DB, error)) {
		clock, started := storetest.NewClock(), time.Now()
		db, err := open(store.Options{Region: storetest.Region, Now: clock.Now})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := db.Close(); err != nil {
				b.Error(err)
			}
		})
		e := &estate{Runner: apitest.New(b, db, clock)}
		e.fill(b)
		b.Logf("%d projects in %d teams made in %s", benchProjects, benchTeams, time.Since(started).Round(time.Second))
		b.Run("team", e.teamProjects)
		b.Run("organization", e.organizationProjects)
		b.Run("scope", e.scope)
	}
	b.Run("sqlite", func(b *testing.B) {
		each(b, func(o store.Options) (*store.DB, error) {
			return sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "merlon.db"), o)
		})
	})
	b.Run("postgres", func(b *testing.B) {
		each(b, func(o store.Options) (*store.DB, error) {
			return postgres.Open(b.Context(), storetest.Postgres(b), o)
		})
	})
}

// teamID is the nth team's id.
func teamID(n int) string { return fmt.Sprintf("%08x-0000-8000-8000-00000000dead", n) }

// fill makes the estate in bulk. Names are spread evenly over the teams, but for
// the last tenth of the teams, whose projects all stand at the end: the worst
// case of a walk by name.
func (e *estate) fill(b *testing.B) {
	b.Helper()
	e.administrator, e.few, e.many, e.unlucky = e.Person("administrator"), e.Person("few"), e.Person("many"),
		e.Person("unlucky")
	o, err := e.DB.CreateOrganization(b.Context(), apitest.Actor(e.administrator),
		tenant.Organization{Name: "Acme", Industry: "other", Country: "DE"})
	if err != nil {
		b.Fatal(err)
	}
	e.organization = string(o.ID)
	settings, err := json.Marshal(project.DefaultSettings(finding.Analyses))
	if err != nil {
		b.Fatal(err)
	}
	numbers := "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) "
	hex := "printf('%%08x', %s)"
	if e.DB.Dialect.Name() == "postgres" {
		numbers = "WITH n AS (SELECT generate_series(0, %d - 1)::bigint AS i) "
		hex = "lpad(to_hex((%s)::bigint), 8, '0')"
	}
	team := fmt.Sprintf(hex, "i %% 5000") + " || '-0000-8000-8000-00000000dead'"
	for _, s := range []struct {
		rows  int
		query string
		args  []any
	}{
		{benchTeams, "INSERT INTO team (id, organization_id, name, projects, created_at, updated_at) SELECT " +
			team + ", ?, 'Team ' || i, ?, 0, 0 FROM n", []any{e.organization, benchProjects / benchTeams}},
		{benchProjects, "INSERT INTO project (id, organization_id, team_id, name, settings, created_at, updated_at) " +
			"SELECT " +
			fmt.Sprintf(hex, "i") + " || '-0000-8000-8000-00000000beef', ?, " + team +
			", CASE WHEN i %% 5000 >= 4500 THEN 'zz ' ELSE '' END || 'service ' || ((i * 7919) %% 1000003), ?, 0, " +
			"0 FROM n",
			[]any{e.organization, string(settings)}},
		{benchUsers, "INSERT INTO app_user (id, email, created_at, updated_at) SELECT 'user ' || i, 'user ' || i, 0, " +
			"0 FROM n", nil},
		{benchUsers, "INSERT INTO organization_member (organization_id, user_id, role, created_at) SELECT ?, 'user ' " +
			"|| i, 'member', 0 FROM n", []any{e.organization}},
		{5 * benchUsers, "INSERT INTO team_member (team_id, user_id, role, created_at) SELECT " +
			fmt.Sprintf(hex, "(i * 31 + i / 5) %% 5000") + " || '-0000-8000-8000-00000000dead', 'user ' || (i / 5), " +
			"'developer', 0 FROM n WHERE TRUE ON CONFLICT DO NOTHING", nil},
	} {
		e.exec(b, fmt.Sprintf(numbers, s.rows)+strings.ReplaceAll(s.query, "%%", "%"), s.args...)
	}
	e.join(b, e.few, 5, func(i int) int { return i * 900 })
	e.join(b, e.many, 500, func(i int) int { return i * 9 })
	e.join(b, e.unlucky, 500, func(i int) int { return 4500 + i })
	if e.DB.Dialect.Name() == "postgres" {
		e.exec(b, "ANALYZE")
	}
}

// exec runs a statement in a transaction of its own.
func (e *estate) exec(b *testing.B, query string, args ...any) {
	b.Helper()
	err := e.DB.Tx(b.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(b.Context(), query, args...)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// join makes a person a developer in n teams.
func (e *estate) join(b *testing.B, who tenant.UserID, n int, team func(int) int) {
	b.Helper()
	e.exec(b, "INSERT INTO organization_member (organization_id, user_id, role, created_at) VALUES (?, ?, 'member', 0)",
		e.organization, who)
	for i := range n {
		e.exec(b, "INSERT INTO team_member (team_id, user_id, role, created_at) VALUES (?, ?, 'developer', 0)",
			teamID(team(i)), who)
	}
}

// measure requests addresses as a person, and reports how long the answers took.
// The floor is a 99th percentile of 5 ms on two idle cores.
func (e *estate) measure(b *testing.B, who tenant.UserID, address func(i int) string) {
	b.Helper()
	handler := e.API.Handler()
	var took []time.Duration
	one := func(i int) {
		req := httptest.NewRequestWithContext(b.Context(), "GET", address(i), nil)
		req.Header.Set("Authorization", "Bearer "+string(who))
		w := httptest.NewRecorder()
		started := time.Now()
		handler.ServeHTTP(w, req)
		took = append(took, time.Since(started))
		if w.Code != http.StatusOK {
			b.Fatalf("%s: %d %s", req.URL, w.Code, w.Body)
		}
	}
	for i := range 30 { // connections, prepared statements, pages in memory
		one(i)
	}
	took = nil
	before, i := cpu(), 0
	for b.Loop() {
		one(i)
		i++
	}
	used := cpu() - before
	slices.Sort(took)
	at := func(q float64) float64 {
		return float64(took[int(q*float64(len(took)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(at(.5), "p50-ms")
	b.ReportMetric(at(.99), "p99-ms")
	b.ReportMetric(used/float64(b.N)*1e6, "cpu-µs/op")
}

// teamProjects requests pages of the specification's list: of a random team of
// the person's, ten pages each.
func (e *estate) teamProjects(b *testing.B) {
	for _, p := range []struct {
		name string
		who  tenant.UserID
		team func() int
	}{
		{"of_5_teams", e.few, func() int { return rand.N(5) * 900 }},
		{"of_500_teams", e.many, func() int { return rand.N(500) * 9 }},
		{"administrator", e.administrator, func() int { return rand.N(benchTeams) }},
	} {
		b.Run(p.name, func(b *testing.B) {
			e.measure(b, p.who, func(i int) string {
				return fmt.Sprintf("/team/%s/projects?page=%d&pageSize=20", teamID(p.team()), i%10+1)
			})
		})
	}
	b.Run("search", func(b *testing.B) {
		e.measure(b, e.few, func(i int) string {
			return fmt.Sprintf("/team/%s/projects?page=1&pageSize=20&search=%d", teamID(rand.N(5)*900), i%100)
		})
	})
}

// organizationProjects requests pages of everything that the person may read in
// the organization.
func (e *estate) organizationProjects(b *testing.B) {
	for _, p := range []struct {
		name string
		who  tenant.UserID
	}{
		{"of_5_teams", e.few}, {"of_500_teams", e.many}, {"of_500_teams_at_the_end", e.unlucky},
		{"administrator", e.administrator},
	} {
		b.Run(p.name, func(b *testing.B) {
			e.measure(b, p.who, func(i int) string {
				return fmt.Sprintf("/organization/%s/projects?page=%d&pageSize=20", e.organization, i%10+1)
			})
		})
	}
	b.Run("administrator_page_10000", func(b *testing.B) {
		e.measure(b, e.administrator, func(int) string {
			return fmt.Sprintf("/organization/%s/projects?page=10000&pageSize=20", e.organization)
		})
	})
	b.Run("administrator_search", func(b *testing.B) {
		e.measure(b, e.administrator, func(i int) string {
			return fmt.Sprintf("/organization/%s/projects?pageSize=20&search=%d", e.organization, 1000+i%1000)
		})
	})
}

// scope decides about one project of the million.
func (e *estate) scope(b *testing.B) {
	for b.Loop() {
		n := rand.N(5)*900 + rand.N(200)*benchTeams
		target := tenant.Target{Project: tenant.ProjectID(fmt.Sprintf("%08x-0000-8000-8000-00000000beef", n))}
		if _, err := e.DB.Scope(b.Context(), apitest.Actor(e.few), target); err != nil {
			b.Fatal(err)
		}
	}
}
