package endpoint

import (
	"context"
	"net/http"

	"merlon/internal/errs"
	"merlon/internal/identity"
	"merlon/internal/tenant"
)

// This file holds what is done about callers who ask for what they may not have,
// or too often.

// reportRefusal records in the audit log a request that was not admitted, or that the
// handler found a permission to be missing for. A request without any token is
// none of somebody who tries one.
func (a *Server) reportRefusal(r Route, sc tenant.Scope, presented bool, err error) {
	if a.Refused == nil {
		return
	}
	kind := errs.KindOf(err)
	switch {
	case kind == errs.Unauthenticated && presented:
		a.Refused("", sc.Actor, r.id, http.StatusUnauthorized)
	case kind == errs.Forbidden:
		a.Refused(sc.Organization, sc.Actor, r.id, http.StatusForbidden)
	case kind == errs.NotFound && sc.Actor.UserID != "" && sc.Organization == "" && r.method != http.MethodGet:
		// The caller names something that exists for others, or for nobody.
		a.Refused("", sc.Actor, r.id, http.StatusNotFound)
	}
}

// reportMiss records in the audit log a read of something that the caller does not see. It does
// the same whether there is such a thing or not, so that the caller cannot tell.
func (a *Server) reportMiss(r Route, actor tenant.Actor, target tenant.Target, err error) {
	if a.Missed != nil && r.method == http.MethodGet && actor.UserID != "" && target != (tenant.Target{}) &&
		errs.Is(err, errs.NotFound) {
		a.Missed(actor, r.id, target)
	}
}

// Quotas bound what one caller makes others receive or store. Each is per 24 hours;
// 0 is no limit.
type Quotas struct {
	UserInvitations         int // invitations by one user
	OrganizationInvitations int // invitations into one organization
	AddressInvitations      int // invitations to one address, by anybody
	UserOrganizations       int // organizations that one user makes
	AddressMails            int // mails to one address that others can ask for, invitations among them
}

// CountQuotas counts one hit for each name and key whose limit is set.
func (a *Server) CountQuotas(ctx context.Context, by tenant.Actor, quotas ...Quota) error {
	if a.Allow == nil {
		return nil
	}
	var hits []identity.Hit
	for _, q := range quotas {
		// A limit of 0 is switched off and counts nothing.
		if q.Most > 0 {
			hits = append(hits, identity.Limit{Max: q.Most, Window: identity.QuotaWindow}.Hit(q.Name, q.Key))
		}
	}
	if len(hits) == 0 {
		return nil
	}
	return a.Allow(ctx, by, hits...)
}

// A Quota is one limit and what it counts. Name tells what is counted and Key for whom: hits
// of the same name and key share one counter.
type Quota struct {
	Name, Key string
	Most      int
}
