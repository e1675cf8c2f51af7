package organizations_test

import (
	"fmt"
	"testing"
	"time"

	"merlon/internal/api"
	"merlon/internal/api/apitest"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

// TestQuotas checks what one user makes others receive or store in a day.
func TestQuotas(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock, func(c *api.Config) {
			c.Quotas = api.Quotas{UserInvitations: 3, OrganizationInvitations: 4, AddressInvitations: 2,
				UserOrganizations: 3}
		})
		ada, bob := r.Person("Ada"), r.Person("Bob")
		var orgs []string
		for range 3 {
			orgs = append(orgs, "/organization/"+
				r.As(ada).Post("/organization", apitest.NewOrganization).Want(201).Text("organizationId"))
		}
		refused := r.As(ada).Post("/organization", apitest.NewOrganization).Want(429)
		if refused.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		r.As(bob).Post("/organization", apitest.NewOrganization).Want(201) // another user's are counted apart
		invite := func(org, email string, status int) {
			t.Helper()
			r.As(ada).Post(org+"/invite", map[string]any{"email": email, "role": "member"}).Want(status)
		}
		invite(orgs[0], "x@example.com", 201)
		invite(orgs[1], "x@example.com", 201)
		invite(orgs[2], "x@example.com", 429) // the address has had enough, whatever the organization
		invite(orgs[2], "y@example.com", 201)
		invite(orgs[2], "z@example.com", 429) // the user has sent enough
		clock.Advance(48 * time.Hour)
		invite(orgs[2], "z@example.com", 201)
	})
}

// TestInvitationsCountAsMails checks that invitations count among the mails to an
// address, also where their own limit allows more.
func TestInvitationsCountAsMails(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock, func(c *api.Config) { c.Quotas = api.Quotas{AddressMails: 2} })
		ada := r.Person("Ada")
		for i, status := range []int{201, 201, 429} {
			org := "/organization/" +
				r.As(ada).Post("/organization", apitest.NewOrganization).Want(201).Text("organizationId")
			a := r.As(ada).Post(org+"/invite",
				map[string]any{"email": "X@example.com", "role": "member"}).Want(status)
			if i == 2 && a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
	})
}

// TestInvitationsOfOrganizationAreBounded sends invitations into one organization as two
// of its administrators: each of them has sent fewer than a user may.
func TestInvitationsOfOrganizationAreBounded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := apitest.Populate(t, apitest.New(t, db, clock, func(c *api.Config) {
			c.Quotas = api.Quotas{UserInvitations: 100, OrganizationInvitations: 10}
		}), "")
		invite := func(who, email string, status int) *apitest.Response {
			t.Helper()
			return w.AsPerson(who).Post(w.Organization+"/invite",
				map[string]any{"email": email, "role": "member"}).Want(status)
		}
		for i := range 3 { // beside the seven people of the world
			invite([]string{"administrator", "manager"}[i%2], fmt.Sprintf("n%d@example.com", i), 201)
		}
		for _, who := range []string{"administrator", "manager"} {
			if a := invite(who, "late@example.com", 429); a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
		other := "/organization/" + w.AsPerson("administrator").Post("/organization",
			apitest.NewOrganization).Want(201).
			Text("organizationId")
		w.AsPerson("administrator").Post(other+"/invite", map[string]any{"email": "late@example.com",
			"role": "member"}).Want(201)
		clock.Advance(48 * time.Hour)
		invite("manager", "late@example.com", 201)
	})
}
