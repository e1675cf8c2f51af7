package tenant

import (
	"math/bits"

	"merlon/internal/errs"
)

// Permissions is a set of permissions, one bit each. The bits are stored with
// custom roles: a bit keeps its meaning for ever, a new one is appended.
type Permissions uint64

const (
	OrgRead         Permissions = 1 << iota // see the organization, its members and settings
	OrgManage                               // change and delete the organization, roles of members, custom roles
	OrgMembers                              // invite and remove members, service accounts
	OrgIntegrations                         // manage_integration: connect other services
	OrgBilling                              // see and change the billing profile
	OrgTeams                                // create and delete teams, see all of them
	OrgAudit                                // read the audit log
	TeamRead                                // see a team and its members
	TeamManage                              // change a team, its members, create projects in it
	ProjectRead                             // see a project
	ProjectUpdate                           // configure and delete a project
	ProjectScan                             // start_scan
	ProjectResults                          // read_scan_result
	ProjectState                            // change_vulnerability_state
	ProjectReport                           // make reports
	numPermissions  = iota
)

// AllPermissions holds every permission there is.
const AllPermissions Permissions = 1<<numPermissions - 1

// permissionNames gives the wire name of each bit, in order.
var permissionNames = [numPermissions]string{
	"org.read", "org.manage", "org.members", "org.integrations", "org.billing", "org.teams", "org.audit",
	"team.read", "team.manage",
	"project.read", "project.update", "project.start_scan", "project.read_scan_result",
	"project.change_vulnerability_state", "project.report",
}

// Names returns the wire names of the permissions in the set, in fixed order.
func (p Permissions) Names() []string {
	names := []string{}
	for rest := p & AllPermissions; rest != 0; rest &= rest - 1 {
		names = append(names, permissionNames[bits.TrailingZeros64(uint64(rest))])
	}
	return names
}

// ParsePermissions returns the set of the named permissions; an unknown name is
// an Invalid error.
func ParsePermissions(names []string) (Permissions, error) {
	var set Permissions
next:
	for _, name := range names {
		for bit, known := range permissionNames {
			if name == known {
				set |= 1 << bit
				continue next
			}
		}
		return 0, errs.E(errs.Invalid, "there is no permission %q", name)
	}
	return set, nil
}

// A Level is where a role can be given.
type Level string

const (
	OrganizationLevel Level = "organization"
	TeamLevel         Level = "team"
	ProjectLevel      Level = "project"
)

// A Role is a named set of permissions at one level. Built-in roles stand in
// Roles; an organization may add its own.
type Role struct {
	ID             RoleID
	OrganizationID OrganizationID // empty for a built-in role
	Name           string
	Level          Level
	Permissions    Permissions
}

// The built-in roles.
const (
	Administrator  RoleID = "administrator"
	Manager        RoleID = "manager"
	BillingManager RoleID = "billing_manager"
	OrgMember      RoleID = "member"

	TeamManager      RoleID = "team_manager"
	AnalystDeveloper RoleID = "analyst_developer"
	Developer        RoleID = "developer"
	ReadOnly         RoleID = "read_only"
)

// readTeam is what every role inside a team may do.
const readTeam = TeamRead | ProjectRead | ProjectResults

// Roles is the table of built-in roles. A role given at one level holds for
// everything below it: an administrator may do everything in every project of
// the organization, a team's role holds for all projects of the team. At
// ProjectLevel the team roles can be given for a single project; what is not a
// project's is then without effect.
var Roles = []Role{
	{ID: Administrator, Name: "Administrator", Level: OrganizationLevel, Permissions: AllPermissions},
	{ID: Manager, Name: "Manager", Level: OrganizationLevel,
		Permissions: OrgRead | OrgMembers | OrgIntegrations | OrgTeams | OrgAudit | TeamRead},
	{ID: BillingManager, Name: "Billing manager", Level: OrganizationLevel, Permissions: OrgRead | OrgBilling},
	{ID: OrgMember, Name: "Member", Level: OrganizationLevel, Permissions: OrgRead},

	{ID: TeamManager, Name: "Team manager", Level: TeamLevel,
		Permissions: readTeam | TeamManage | ProjectUpdate | ProjectScan | ProjectState | ProjectReport},
	{ID: AnalystDeveloper, Name: "Analyst developer", Level: TeamLevel,
		Permissions: readTeam | ProjectScan | ProjectState | ProjectReport},
	{ID: Developer, Name: "Developer", Level: TeamLevel, Permissions: readTeam | ProjectScan | ProjectState},
	{ID: ReadOnly, Name: "Read only", Level: TeamLevel, Permissions: readTeam},
}

// projectPermissions is what a role given for a single project can grant.
const projectPermissions = ProjectRead | ProjectUpdate | ProjectScan | ProjectResults | ProjectState | ProjectReport

// teamPermissions is what a role given in a team can grant.
const teamPermissions = projectPermissions | TeamRead | TeamManage

// GrantedAt returns the part of the permissions that a role given at the level
// grants: a team's role never reaches the organization.
func (p Permissions) GrantedAt(level Level) Permissions {
	switch level {
	case OrganizationLevel:
		return p & AllPermissions
	case TeamLevel:
		return p & teamPermissions
	case ProjectLevel:
		return p & projectPermissions
	}
	return 0
}

// BuiltIn returns the built-in role with the id, if it can be given at level.
func BuiltIn(id RoleID, level Level) (Role, bool) {
	for _, r := range Roles {
		if r.ID == id && (r.Level == level || level == ProjectLevel && r.Level == TeamLevel) {
			return r, true
		}
	}
	return Role{}, false
}
