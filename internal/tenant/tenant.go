// Package tenant says who asks, and inside which tenant: the identifiers of
// users, organizations, teams and projects, the permissions and the roles that
// grant them, and the Scope that every store call of a person's request carries.
package tenant

import (
	"strings"
	"time"

	"merlon/internal/errs"
)

// Identifiers are UUIDs in lower-case text. Each has its own type, so that two
// of them cannot be exchanged. NewID makes the value of the tenant ones.
type (
	UserID         string
	OrganizationID string
	TeamID         string
	ProjectID      string
	RoleID         string // a built-in role's name, or the UUID of a custom role
)

// An Organization is a tenant: nothing inside it is seen from another one.
type Organization struct {
	ID                  OrganizationID
	Name                string
	Description         string
	Website             string
	Email               string
	Industry            string
	Country             string
	ConcurrentScanLimit int // scans that may run at the same time; at least 1
	MaxTokenDays        int // how old a personal access token may be; 0 for no limit
	Billing             BillingProfile
	CreatedAt           time.Time
	UpdatedAt           time.Time
}

// A BillingProfile is whom an organization's invoices go to. Every field may be
// empty but CustomerType, which is "individual" or "company".
type BillingProfile struct {
	CustomerType string `json:"customerType"`
	Country      string `json:"country"`
	FirstName    string `json:"firstName"`
	LastName     string `json:"lastName"`
	CompanyName  string `json:"companyName"`
	VATNumber    string `json:"vatNumber"`
	AddressLine1 string `json:"billingAddressLine1"`
	AddressLine2 string `json:"billingAddressLine2"`
	City         string `json:"billingCity"`
	PostalCode   string `json:"billingPostalCode"`
	Region       string `json:"billingRegion"`
}

// A Team owns projects; its members' roles hold for all of them.
type Team struct {
	ID             TeamID
	OrganizationID OrganizationID
	Name           string
	Description    string
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// A Member is a user together with the role that user has in an organization, a
// team or a project.
type Member struct {
	UserID    UserID
	FirstName string
	LastName  string
	Email     string
	Picture   string
	Role      RoleID
	Service   bool // a service account
	CreatedAt time.Time
}

// A MemberQuery selects a page of members.
type MemberQuery struct {
	Search string // part of a name or address, case ignored; empty for everybody
	Page   int    // from 1
	Size   int
}

// A MemberPage is a page of members, ordered by address.
type MemberPage struct {
	Members        []Member
	Total          int // on all pages
	Administrators int // of an organization, whatever the search
}

// An Invitation asks somebody by e-mail to join an organization.
type Invitation struct {
	ID               string
	OrganizationID   OrganizationID
	OrganizationName string
	Email            string
	Role             RoleID
	Teams            []TeamAssignment
	Status           InvitationStatus
	InvitedBy        UserID
	CreatedAt        time.Time
	ExpiresAt        time.Time
}

// A TeamAssignment is a team that an invited person joins, and in which role.
type TeamAssignment struct {
	TeamID TeamID `json:"teamId"`
	Role   RoleID `json:"role"`
}

// An InvitationStatus is the state of an invitation.
type InvitationStatus string

const (
	InvitationPending   InvitationStatus = "pending"
	InvitationAccepted  InvitationStatus = "accepted"
	InvitationCancelled InvitationStatus = "cancelled"
	InvitationExpired   InvitationStatus = "expired" // computed from ExpiresAt, never stored
)

// An Actor is an authenticated caller. Its zero value is nobody.
type Actor struct {
	UserID    UserID
	Service   bool   // a service account
	ClientID  string // the application the caller's token was made for
	IP        string // for the audit log
	UserAgent string // for the audit log
	// Limits are those of the token by which the caller is authenticated; nil for the
	// program's own work. The API refuses a caller without them.
	Limits *TokenLimits
}

// A RequestKey is what a client calls a request, so that sending it twice does
// it once: an Idempotency-Key, which counts for one caller and one operation.
type RequestKey struct {
	Actor UserID
	Route string // operationId
	Key   string
}

// The codes of errors about a RequestKey.
const (
	KeyReused = "idempotency_key_reused" // for another request
	KeyInUse  = "idempotency_key_in_use" // by a request that is under way
)

// A Target names what a request is about: the most specific identifier that its
// address carries, with the others as a claim to be verified.
type Target struct {
	Organization OrganizationID
	Team         TeamID
	Project      ProjectID
}

// A Scope is the answer to "who asks, inside which tenant, about what, and what
// may they do there". It is made by the store's Scope method from an
// authenticated actor and a target, and by System for the program's own work.
// Its zero value matches no row.
type Scope struct {
	Actor        Actor
	Organization OrganizationID
	Team         TeamID    // set for a team or a project
	Project      ProjectID // set for a project
	Permissions  Permissions
	// Roles is what the actor's roles grant, where Permissions is what the actor's
	// token lets through of it. It bounds the roles that the actor may give.
	Roles Permissions
}

// System returns the scope of the program itself inside one project: the
// worker's, never a request's.
func System(org OrganizationID, team TeamID, project ProjectID) Scope {
	return Scope{Organization: org, Team: team, Project: project, Permissions: AllPermissions, Roles: AllPermissions}
}

// Require returns an error that says which permission is missing, or nil.
func (s Scope) Require(p Permissions) error {
	if missing := p &^ s.Permissions; missing != 0 {
		return errs.E(errs.Forbidden, "you need the permission %s here", strings.Join(missing.Names(), ", "))
	}
	return nil
}
