package organizations

import (
	"context"

	"merlon/internal/api/endpoint"
	"merlon/internal/tenant"
)

// Roles is what the API needs of the store for custom roles.
type Roles interface {
	Roles(ctx context.Context, sc tenant.Scope) ([]tenant.Role, error)
	CreateRole(ctx context.Context, sc tenant.Scope, r tenant.Role) (tenant.Role, error)
	// UpdateRole calls edit with the stored role inside of a transaction.
	UpdateRole(ctx context.Context, sc tenant.Scope, id tenant.RoleID,
		edit func(*tenant.Role) error) (tenant.Role, error)
	DeleteRole(ctx context.Context, sc tenant.Scope, id tenant.RoleID) error
}

// roleBody is a role with its permissions.
type roleBody struct {
	ID          tenant.RoleID `json:"id" doc:"Value to set as a member's role."`
	Name        string        `json:"name"`
	Level       tenant.Level  `json:"level" enum:"organization,team,project"`
	BuiltIn     bool          `json:"builtIn"`
	Permissions []string      `json:"permissions"`
}

// showRole returns the role as responses show it; a role without an organization is built in.
func showRole(r tenant.Role) roleBody {
	return roleBody{ID: r.ID, Name: r.Name, Level: r.Level, BuiltIn: r.OrganizationID == "",
		Permissions: r.Permissions.Names()}
}

// rolesOutput has all roles that a member of the organization can be given.
type rolesOutput struct {
	Body struct {
		Roles       []roleBody `json:"roles" doc:"Built-in roles, followed by the custom roles of the organization."`
		Permissions []string   `json:"permissions" doc:"All permissions that a custom role can have."`
	}
}

// ListRoles lists the built-in roles and the custom roles of an organization.
func (a *Handlers) ListRoles(ctx context.Context, sc tenant.Scope,
	_ *endpoint.OrganizationInput) (*rolesOutput, error) {
	custom, err := a.Tenancy.Roles(ctx, sc)
	if err != nil {
		return nil, err
	}
	out := &rolesOutput{}
	out.Body.Roles = append(endpoint.Convert(tenant.Roles, showRole), endpoint.Convert(custom, showRole)...)
	out.Body.Permissions = tenant.AllPermissions.Names()
	return out, nil
}

// roleOutput is one role.
type roleOutput struct{ Body roleBody }

// createRoleInput is a new role. Callers cannot give it a permission that they lack.
type createRoleInput struct {
	endpoint.OrganizationInput
	Body struct {
		Name        string       `json:"name" minLength:"1" maxLength:"200"`
		Level       tenant.Level `json:"level" enum:"organization,team,project" doc:"Scope of the role: organization or team. A team role can also be assigned on a single project."`
		Permissions []string     `json:"permissions" minItems:"1" maxItems:"64"`
	}
}

// CreateRole creates a custom role.
func (a *Handlers) CreateRole(ctx context.Context, sc tenant.Scope, in *createRoleInput) (*roleOutput, error) {
	name, err := endpoint.ParseLabel("body.name", in.Body.Name)
	if err != nil {
		return nil, err
	}
	p, err := tenant.ParsePermissions(in.Body.Permissions)
	if err != nil {
		return nil, err
	}
	r, err := a.Tenancy.CreateRole(ctx, sc, tenant.Role{Name: name, Level: in.Body.Level, Permissions: p})
	if err != nil {
		return nil, err
	}
	return &roleOutput{Body: showRole(r)}, nil
}

// A RoleInput names a custom role of an organization.
type RoleInput struct {
	endpoint.OrganizationInput
	RoleID string `path:"roleId" format:"uuid"`
}

// updateRoleInput has the fields to change.
type updateRoleInput struct {
	RoleInput
	Body struct {
		Name        *string  `json:"name,omitempty" maxLength:"200"`
		Permissions []string `json:"permissions,omitempty" minItems:"1" maxItems:"64"`
	}
}

// UpdateRole renames a custom role or replaces its permissions, for everybody who has it.
func (a *Handlers) UpdateRole(ctx context.Context, sc tenant.Scope, in *updateRoleInput) (*roleOutput, error) {
	r, err := a.Tenancy.UpdateRole(ctx, sc, endpoint.ParseRoleID(in.RoleID), func(r *tenant.Role) (err error) {
		if in.Body.Name != nil {
			if r.Name, err = endpoint.ParseLabel("body.name", *in.Body.Name); err != nil {
				return err
			}
		}
		// An absent list keeps the permissions; an empty one is refused by its schema.
		if in.Body.Permissions != nil {
			r.Permissions, err = tenant.ParsePermissions(in.Body.Permissions)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &roleOutput{Body: showRole(r)}, nil
}

// DeleteRole deletes a custom role that is assigned to nobody.
func (a *Handlers) DeleteRole(ctx context.Context, sc tenant.Scope, in *RoleInput) (*endpoint.MessageOutput, error) {
	if err := a.Tenancy.DeleteRole(ctx, sc, endpoint.ParseRoleID(in.RoleID)); err != nil {
		return nil, err
	}
	return endpoint.NewMessage("Role deleted"), nil
}
