package organizations_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

func TestOrganizationIsItsMembers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		owner, stranger := r.Person("owner"), r.Person("stranger")

		r.As("").Get("/organizations").Want(401)
		id := r.As(owner).Post("/organization", apitest.NewOrganization).Want(201).Text("organizationId")
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

func TestOrganizationSettings(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		update := map[string]any{"name": "Acme 2", "industry": "finance", "country": "FR", "description": "d",
			"website": "https://acme.example",
			"email":   "Sec@Acme.example", "concurrentScanLimit": 3, "unknown": true}
		w.AsPerson("manager").Put(w.Organization, update).Want(403)
		w.AsPerson("administrator").Put(w.Organization, map[string]any{"name": "Acme 2"}).Want(400)
		w.AsPerson("administrator").Put(w.Organization, map[string]any{"name": "x", "industry": "freelance",
			"country": "FR"}).Want(400)
		w.AsPerson("administrator").Put(w.Organization, map[string]any{"name": " ", "industry": "other",
			"country": "FR"}).Want(400)
		w.AsPerson("administrator").Put(w.Organization, map[string]any{"name": "a\u0000b", "industry": "other",
			"country": "FR"}).Want(400)
		w.AsPerson("administrator").Put(w.Organization, update).Want(200)
		got := w.AsPerson("member").Get(w.Organization).Want(200)
		want := map[string]any{"id": strings.TrimPrefix(w.Organization, "/organization/"), "name": "Acme 2",
			"description": "d",
			"website":     "https://acme.example",
			"email":       "sec@acme.example", "concurrentScanLimit": 3.0, "maxTokenLifetimeDays": 0.0,
			"riskScore": nil,
			"riskLevel": nil}
		var body map[string]any
		got.Into(&body)
		if diff := cmp.Diff(want, body); diff != "" {
			t.Errorf("organization (-want +got):\n%s", diff)
		}

		w.AsPerson("manager").Get(w.Organization + "/billing/profile").Want(403)
		w.AsPerson("billing_manager").Put(w.Organization+"/billing/profile",
			map[string]any{"vatNumber": "DE1", "billingCity": "Köln"}).Want(200)
		w.AsPerson("billing_manager").Put(w.Organization+"/billing/profile",
			map[string]any{"customerType": "nobody"}).Want(400)
		billing := w.AsPerson("administrator").Get(w.Organization + "/billing/profile").Want(200)
		if got := billing.Text("vatNumber") + billing.Text("billingCity") + billing.Text("customerType") +
			billing.Text("country"); got != "DE1KölncompanyDE" {
			t.Errorf("got the profile %s", billing.Body)
		}
		w.AsPerson("billing_manager").Get(w.Project).Want(http.StatusNotFound)
	})
}
