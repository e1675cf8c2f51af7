package tenant

import (
	"math/bits"
	"slices"
	"time"

	"merlon/internal/errs"
)

// This file says what a token may be used for: the scopes of access tokens, and
// the organizations and projects that a personal access token is limited to. A
// token never grants more than the roles of its owner; it can grant less.

// TokenScopes is a set of scopes of an access token.
type TokenScopes uint8

const (
	ReadScope       TokenScopes = 1 << iota // see organizations, teams, projects, scans and findings
	ScanScope                               // start and cancel scans
	TriageScope                             // decide about findings
	AdministerScope                         // everything that changes the rest, and the account itself
	numTokenScopes  = iota
)

// AllTokenScopes holds every scope.
const AllTokenScopes TokenScopes = 1<<numTokenScopes - 1

// tokenScopeNames gives the wire name of each scope, in order.
var tokenScopeNames = [numTokenScopes]string{"read", "scan", "triage", "administer"}

// permissionScopes says which scope a permission belongs to. A permission that is
// missing here makes every route that needs it fail when the program starts.
var permissionScopes = map[Permissions]TokenScopes{
	OrgRead:         ReadScope,
	OrgManage:       AdministerScope,
	OrgMembers:      AdministerScope,
	OrgIntegrations: AdministerScope,
	OrgBilling:      AdministerScope,
	OrgTeams:        AdministerScope,
	OrgAudit:        AdministerScope,
	TeamRead:        ReadScope,
	TeamManage:      AdministerScope,
	ProjectRead:     ReadScope,
	ProjectUpdate:   AdministerScope,
	ProjectScan:     ScanScope,
	ProjectResults:  ReadScope,
	ProjectState:    TriageScope,
	ProjectReport:   ReadScope,
}

// TokenScopes returns the scopes that the permissions belong to; none when one of
// them belongs to no scope.
func (p Permissions) TokenScopes() TokenScopes {
	var set TokenScopes
	for rest := p & AllPermissions; rest != 0; rest &= rest - 1 {
		one := permissionScopes[1<<bits.TrailingZeros64(uint64(rest))]
		if one == 0 {
			return 0
		}
		set |= one
	}
	return set
}

// Permissions returns every permission that belongs to one of the scopes.
func (s TokenScopes) Permissions() Permissions {
	var set Permissions
	for p, scope := range permissionScopes {
		if scope&s != 0 {
			set |= p
		}
	}
	return set
}

// Whole returns the scopes with what they need: nothing can be done without
// reading.
func (s TokenScopes) Whole() TokenScopes {
	if s != 0 {
		s |= ReadScope
	}
	return s
}

// Names returns the wire names of the scopes in the set, in fixed order.
func (s TokenScopes) Names() []string {
	names := []string{}
	for i, name := range tokenScopeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// KnownTokenScopes returns the set of the named scopes, with what they need.
// Names of other scopes are left out.
func KnownTokenScopes(names []string) TokenScopes {
	var set TokenScopes
	for i, name := range tokenScopeNames {
		if slices.Contains(names, name) {
			set |= 1 << i
		}
	}
	return set.Whole()
}

// ParseTokenScopes returns the set of the named scopes, with what they need; an
// unknown name is an Invalid error.
func ParseTokenScopes(names []string) (TokenScopes, error) {
	for _, name := range names {
		if !slices.Contains(tokenScopeNames[:], name) {
			return 0, errs.E(errs.Invalid, "there is no scope %q", name)
		}
	}
	return KnownTokenScopes(names), nil
}

// TokenLimits are the limits of a token. A nil pointer to it has none.
type TokenLimits struct {
	Scopes        TokenScopes
	Organizations []OrganizationID // the only ones that it reaches; empty for all
	Projects      []ProjectID      // the only ones that it reaches inside of those; empty for all
	// Of a personal access token: when it ends, zero for never, and how old it is.
	// Both are zero for other tokens.
	ExpiresAt time.Time
	Age       time.Duration
}

// Permissions returns what the scopes let through.
func (l *TokenLimits) Permissions() Permissions {
	if l == nil {
		return AllPermissions
	}
	return l.Scopes.Permissions()
}

// Reaches reports whether the limits let the organization through.
func (l *TokenLimits) Reaches(id OrganizationID) bool {
	return l == nil || len(l.Organizations) == 0 || slices.Contains(l.Organizations, id)
}

// ReachesProject reports whether the limits let the project through, in an
// organization that they reach.
func (l *TokenLimits) ReachesProject(id ProjectID) bool {
	return !l.OnlyProjects() || slices.Contains(l.Projects, id)
}

// OnlyProjects reports whether only some projects are let through, and of their
// teams and organization only what leads to them.
func (l *TokenLimits) OnlyProjects() bool { return l != nil && len(l.Projects) > 0 }

// Restricted reports whether only some organizations or projects are let through.
func (l *TokenLimits) Restricted() bool {
	return l != nil && len(l.Organizations)+len(l.Projects) > 0
}

// Cover reports whether other reaches no organization and no project that l does
// not reach. Scopes are not compared.
func (l *TokenLimits) Cover(other TokenLimits) bool {
	if l == nil {
		return true
	}
	if len(l.Organizations) > 0 && (len(other.Organizations) == 0 ||
		slices.ContainsFunc(other.Organizations, func(id OrganizationID) bool { return !l.Reaches(id) })) {
		return false
	}
	return !l.OnlyProjects() || len(other.Projects) > 0 &&
		!slices.ContainsFunc(other.Projects, func(id ProjectID) bool { return !l.ReachesProject(id) })
}

// CodeScopeMissing is the code of an error about a scope that a token lacks. The
// member "scope" of the error names it.
const CodeScopeMissing = "insufficient_scope"

// Require returns an error that says which scope is missing, or nil.
func (l *TokenLimits) Require(s TokenScopes) error {
	if l == nil {
		return nil
	}
	missing := s &^ l.Scopes
	if missing == 0 {
		return nil
	}
	names := missing.Names()
	return &errs.Error{
		Kind: errs.Forbidden, Code: CodeScopeMissing, Members: map[string]string{"scope": names[0]},
		Message: "the access token lacks the scope " + names[0] + ": use a token that has it",
	}
}
