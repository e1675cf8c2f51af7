package store_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"merlon/internal/errs"
	"merlon/internal/registry/credential"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// TestSaveCredential stores a credential by its name and by its identifier.
func TestSaveCredential(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		ours, _ := founded(t, db)
		ours.Team = ""
		save := func(sc tenant.Scope, id credential.ID, name, sealed string) (credential.Credential, error) {
			return db.SaveCredential(t.Context(), sc, credential.Credential{ID: id, Kind: credential.Amazon, Name: name,
				Sealed: []byte(sealed), Description: name,
				Fields: credential.Fields{AWSRegion: "eu-west-1", AWSAccountID: "123456789012"}})
		}
		must := func(c credential.Credential, err error) credential.Credential {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		list := func() (out []string) {
			found, err := db.Credentials(t.Context(), ours, credential.Amazon)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range found {
				out = append(out, fmt.Sprintf("%s %s %t", c.Name, c.Sealed, c.UpdatedAt.After(c.CreatedAt)))
			}
			return out
		}
		first, second := must(save(ours, "", "r/a", "1")), must(save(ours, "", "r/b", "2"))
		clock.Advance(1e9)
		if again := must(save(ours, "", "r/b", "3")); again.ID != second.ID {
			t.Errorf("the same name is %s, want %s", again.ID, second.ID)
		}
		if renamed := must(save(ours, first.ID, "r/c", "4")); renamed.ID != first.ID ||
			renamed.CreatedAt != first.CreatedAt {
			t.Errorf("renamed to %+v", renamed)
		}
		want := []string{"r/b 3 true", "r/c 4 true"}
		if diff := cmp.Diff(want, list()); diff != "" {
			t.Errorf("credentials (-want +got):\n%s", diff)
		}
		if _, err := save(ours, first.ID, "r/b", "5"); !errs.Is(err, errs.Conflict) {
			t.Errorf("a name that another has: %v", err)
		}
		if _, err := save(ours, credential.ID(uuid.NewString()), "r/d", "5"); !errs.Is(err, errs.NotFound) {
			t.Errorf("an identifier of nothing: %v", err)
		}
		theirs := newFindingStore(t, db, clock)
		if _, err := save(tenant.System(theirs.sc.Organization, "", ""), first.ID, "r/c", "5"); err == nil {
			t.Error("another organization replaced the secret")
		}
		if diff := cmp.Diff(want, list()); diff != "" {
			t.Errorf("credentials afterwards (-want +got):\n%s", diff)
		}
	})
}

// TestGithubCredential is every project's of its organization, and nobody else's.
func TestGithubCredential(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		ours, _ := founded(t, db)
		theirs := newFindingStore(t, db, clock)
		project := tenant.System(ours.Organization, ours.Team, theirs.newProject(ours.Organization, ours.Team))
		ours.Team = ""
		for _, k := range []credential.Kind{credential.GitHub, credential.Amazon} {
			if _, err := db.SaveCredential(t.Context(), ours,
				credential.Credential{Kind: k, Name: "n", Sealed: []byte("s")}); err != nil {
				t.Fatal(err)
			}
		}
		for name, c := range map[string]struct {
			sc   tenant.Scope
			want []credential.Kind
		}{
			"the organization": {ours, []credential.Kind{credential.Amazon, credential.GitHub}},
			"its project":      {project, []credential.Kind{credential.GitHub}},
			"another project":  {theirs.sc, nil},
			"another organization": {tenant.System(theirs.sc.Organization, "", ""),
				nil},
		} {
			found, err := db.Credentials(t.Context(), c.sc, "")
			var got []credential.Kind
			for _, f := range found {
				got = append(got, f.Kind)
			}
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%s, %v (-want +got):\n%s", name, err, diff)
			}
		}
	})
}
