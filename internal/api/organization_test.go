package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// newOrganization is the least that an organization needs.
var newOrganization = map[string]any{"name": "Acme", "industry": "software", "country": "DE", "customerType": "company"}

func TestOrganizationIsItsMembers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		owner, stranger := r.Person("owner"), r.Person("stranger")

		r.As("").Get("/organizations").Want(401)
		id := r.As(owner).Post("/organization", newOrganization).Want(201).Text("organizationId")
		want := map[string]any{"id": id, "name": "Acme", "description": "", "website": "", "email": "",
			"concurrentScanLimit": 1.0, "maxTokenLifetimeDays": 0.0}
		if diff := cmp.Diff([]any{want},
			r.As(owner).Get("/organizations").Want(200).Value("organizations")); diff != "" {
			t.Errorf("the owner's organizations (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]any{},
			r.As(stranger).Get("/organizations").Want(200).Value("organizations")); diff != "" {
			t.Errorf("the stranger's organizations (-want +got):\n%s", diff)
		}
		r.As(owner).Get("/organization/" + id).Want(200)
		r.As(stranger).Get("/organization/" + id).Want(404)
		r.As("").Get("/organization/" + id).Want(401)
		r.As(owner).Get("/organization/nonsense").Want(400)
		r.As(stranger).Delete("/organization/"+id, nil).Want(404)
		r.As(owner).Delete("/organization/"+id, nil).Want(200)
		r.As(owner).Get("/organization/" + id).Want(404)
		if _, err := db.VerifyAudit(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
