package store_test

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/license"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// Packages that were stored before their licences had a column get it filled.
func TestLicensesOfEarlierPackages(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		for id, body := range map[string]string{
			"1": `{"name":"a","licenses":["MIT","ISC"]}`, "2": `{"name":"b"}`,
			"3": `{"name":"c \u0000","licenses":["MIT"]}`, "4": `{"name":"d","licenses":[]}`,
		} {
			s.exec(`INSERT INTO package (id, organization_id, project_id, branch, ecosystem, name, version, path, dependency, body, sum, first_run, created_at, updated_at)
				VALUES (?, ?, ?, 'main', 'npm', ?, '1', 'p', 0, ?, 1, 'r', 1, 1)`, id, string(s.sc.Organization), string(s.sc.Project), id, body)
		}
		text, err := os.ReadFile(filepath.Join(path.Base(t.Name()), "migrations", "0011_license.sql"))
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(text), "UPDATE package")
		update, _, _ := strings.Cut("UPDATE package"+after, ";")
		s.exec(update)
		got, err := db.LicenseCounts(t.Context(), s.sc, triage.PackageQuery{Branch: "main"})
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, c := range got {
			counts[license.Read(c.Licenses).String()] += c.Packages
		}
		none := 3 // PostgreSQL cannot read the one with a NUL
		want := map[string]int{"MIT AND ISC": 1, "": none}
		if strings.HasSuffix(t.Name(), "sqlite") {
			want = map[string]int{"MIT AND ISC": 1, "MIT": 1, "": none - 1}
		}
		if diff := cmp.Diff(want, counts); diff != "" {
			t.Errorf("licences (-want +got):\n%s", diff)
		}
	})
}

// Nobody reads or changes the licences of another organization.
func TestLicensesOfOthers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		ours, theirs := newFindingStore(t, db, clock), newFindingStore(t, db, clock)
		ours.exec(`INSERT INTO package (id, organization_id, project_id, branch, ecosystem, name, version, path, dependency, licenses, body, sum, first_run, created_at, updated_at)
			VALUES ('1', ?, ?, 'main', 'npm', 'a', '1', 'p', 0, 'MIT', '{}', 1, 'r', 1, 1)`, string(ours.sc.Organization), string(ours.sc.Project))
		ours.exec("INSERT INTO license_class (organization_id, name, spdx_id, category) VALUES (?, 'mit', "+
			"'MIT', 3)", string(ours.sc.Organization))
		mixed := ours.sc
		mixed.Organization = theirs.sc.Organization
		for _, tt := range []struct {
			name  string
			scope tenant.Scope
			want  int
		}{{"ours", ours.sc, 1}, {"theirs", theirs.sc, 0}, {"mixed", mixed, 0}} {
			_, total, err := db.LicensePackages(t.Context(), tt.scope, triage.PackageQuery{}, func([]string) bool {
				return true
			})
			if err != nil || total != tt.want {
				t.Errorf("%s: got %d packages, %v, want %d", tt.name, total, err, tt.want)
			}
		}
		ignored := true
		if err := db.DecideLicense(t.Context(), theirs.sc, "1", triage.LicenseDecision{Ignored: &ignored}); err == nil {
			t.Error("a package of another organization was decided about")
		}
		if err := db.ResetLicenses(t.Context(), theirs.sc); err != nil {
			t.Fatal(err)
		}
		classes, err := db.LicenseClasses(t.Context(), ours.sc)
		if err != nil || classes.Of("MIT").Category != license.StrongCopyleft {
			t.Errorf("got %+v, %v", classes.Own(), err)
		}
	})
}
