package tenant_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"merlon/internal/errs"
	"merlon/internal/tenant"
)

// An identifier says in which region it was made, so that another region can refuse it
// without asking a database.
func TestIDsCarryTheirRegion(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	id := tenant.NewID("eu", now)
	if !tenant.MadeIn(id, "eu") || tenant.MadeIn(id, "us") {
		t.Errorf("%s is not of its region alone", id)
	}
	if id == tenant.NewID("eu", now) {
		t.Error("two identifiers are equal")
	}
	if later := tenant.NewID("us", now.Add(time.Second)); id >= later {
		t.Errorf("%s does not come before %s, which is younger", id, later)
	}
	for _, other := range []string{"", "x", "018f0000-0000-7000-8000-000000000000"} {
		if tenant.MadeIn(other, "eu") {
			t.Errorf("%q is of a region", other)
		}
	}
}

func TestParseID(t *testing.T) {
	const id = "018f0a1b-0000-7000-8000-00000000000a"
	if got, err := tenant.ParseID("teamId", strings.ToUpper(id)); err != nil || got != id {
		t.Errorf("got %q, %v", got, err)
	}
	for _, bad := range []string{"", "1", "{" + id + "}", "urn:uuid:" + id, strings.ReplaceAll(id, "-", "")} {
		if _, err := tenant.ParseID("teamId", bad); !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), "teamId") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

func TestPermissionNames(t *testing.T) {
	names := tenant.AllPermissions.Names()
	all, err := tenant.ParsePermissions(names)
	if err != nil || all != tenant.AllPermissions {
		t.Errorf("got %v, %v", all, err)
	}
	if _, err := tenant.ParsePermissions([]string{names[0], "root"}); !errs.Is(err, errs.Invalid) {
		t.Errorf("an unknown permission: got %v", err)
	}
}

// A role that is given at a lower level grants nothing of a higher one.
func TestGrantedAt(t *testing.T) {
	at := func(l tenant.Level) tenant.Permissions { return tenant.AllPermissions.GrantedAt(l) }
	if at(tenant.OrganizationLevel) != tenant.AllPermissions || at("") != 0 {
		t.Error("an organization grants not all, or nowhere grants something")
	}
	for _, p := range []tenant.Permissions{tenant.OrgManage, tenant.OrgMembers, tenant.OrgBilling, tenant.OrgAudit} {
		if at(tenant.TeamLevel)&p != 0 || at(tenant.ProjectLevel)&p != 0 {
			t.Errorf("a team or a project grants %v", p.Names())
		}
	}
	if at(tenant.ProjectLevel)&tenant.TeamManage != 0 || at(tenant.ProjectLevel)&tenant.ProjectScan == 0 {
		t.Error("a project grants what is a team's, or not what is its own")
	}
}

func TestZeroScopeAllowsNothing(t *testing.T) {
	err := tenant.Scope{}.Require(tenant.ProjectRead)
	if !errs.Is(err, errs.Forbidden) || !strings.Contains(err.Error(), tenant.ProjectRead.Names()[0]) {
		t.Errorf("got %v", err)
	}
	if err := tenant.System("o", "t", "p").Require(tenant.AllPermissions); err != nil {
		t.Errorf("the system is refused: %v", err)
	}
}

// Every permission belongs to a scope of tokens; a token can do nothing without reading.
func TestTokenScopes(t *testing.T) {
	if tenant.AllPermissions.TokenScopes() != tenant.AllTokenScopes ||
		tenant.AllTokenScopes.Permissions() != tenant.AllPermissions {
		t.Error("a permission belongs to no scope")
	}
	scan, err := tenant.ParseTokenScopes([]string{"scan"})
	if err != nil || !slices.Equal(scan.Names(), []string{"read", "scan"}) {
		t.Errorf("got %v, %v", scan.Names(), err)
	}
	if p := scan.Permissions(); p&tenant.ProjectScan == 0 || p&(tenant.ProjectState|tenant.OrgManage) != 0 {
		t.Errorf("a token for scans has %v", p.Names())
	}
	if _, err := tenant.ParseTokenScopes([]string{"scan", "root"}); !errs.Is(err, errs.Invalid) {
		t.Errorf("an unknown scope: got %v", err)
	}
	if got := tenant.KnownTokenScopes([]string{"root"}); got != 0 {
		t.Errorf("only unknown scopes: got %v", got.Names())
	}
}
