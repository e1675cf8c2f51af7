package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/server"
)

// adminCommand groups what works on the database itself, without a caller.
type adminCommand struct {
	Bootstrap bootstrapCommand `cmd:"" help:"Create the first administrator with a password and a personal access token, an organization, a team and a project."`
	Audit     auditCommand     `cmd:"" help:"Verify the audit log."`
	User      userCommand      `cmd:"" help:"Disable and enable users; list and end their sessions."`
	Key       keyCommand       `cmd:"" help:"Rotate the master key."`
}

// bootstrapCommand creates the first organization, user and token of a deployment. It runs on
// the server's machine, because nobody can sign in before it.
type bootstrapCommand struct {
	config.Store `embed:""`
	Email        string `required:"" placeholder:"ADDRESS" help:"E-mail address of the administrator."`
	Organization string `required:"" placeholder:"NAME" help:"Name of the organization."`
	Team         string `required:"" placeholder:"NAME" help:"Name of the team."`
	Project      string `required:"" placeholder:"NAME" help:"Name of the project."`
	PasswordFile string `type:"path" placeholder:"FILE" help:"File that contains the administrator's password. Default: a random password, which is printed."`
	Format       string `default:"table" enum:"table,json" help:"Output format: table or json."`
}

// Run prints what was made. It is the only time that the token can be read, and the
// password, unless the operator has chosen it.
func (c bootstrapCommand) Run(ctx context.Context, host Host) error {
	b := server.Bootstrap{Email: c.Email, Organization: c.Organization, Team: c.Team, Project: c.Project}
	if c.PasswordFile != "" {
		text, err := os.ReadFile(c.PasswordFile)
		if err != nil {
			return fmt.Errorf("password-file: %w", err)
		}
		if b.Password = strings.TrimRight(string(text), "\r\n"); b.Password == "" {
			return errs.E(errs.Invalid, "password-file %s is empty", c.PasswordFile)
		}
	}
	made, err := b.Run(ctx, c.Store)
	if err != nil {
		return err
	}
	if c.Format == "json" {
		enc := json.NewEncoder(host.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(made)
	}
	if made.Password == "" {
		made.Password = "as in " + c.PasswordFile
	}
	_, err = fmt.Fprintf(host.Stdout, `organization           %s
team                   %s
project                %s
user                   %s
e-mail                 %s
password               %s
personal access token  %s
`, made.OrganizationID, made.TeamID, made.ProjectID, made.UserID, made.Email, made.Password, made.PersonalAccessToken)
	return err
}

// auditCommand exports the audit log for archives and SIEM systems.
type auditCommand struct {
	Verify verifyCommand `cmd:"" help:"Verify the hash chains of the audit log."`
}

// verifyCommand verifies the hash chain of the audit log and its seals, so that tampering with
// the database is detected.
type verifyCommand struct {
	config.Store `embed:""`
}

// Run says how many records are whole, or where the first chain is broken.
func (c verifyCommand) Run(ctx context.Context, host Host) error {
	v, err := server.VerifyAudit(ctx, c.Store)
	if err != nil {
		return err
	}
	seals := "the seals were not checked: there is no master key here, or no server has started since the audit log " +
		"is sealed"
	if v.Sealed {
		seals = fmt.Sprintf("every chain contains its sealed record (%d records were written after it without "+
			"the key)", v.Unsealed)
	}
	_, err = fmt.Fprintf(host.Stdout, "%d records, every chain is whole; %s\n", v.Records, seals)
	return err
}
