package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

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
// The created token has the rights of the administrator, so that scripts can go on from here.
type bootstrapCommand struct {
	config.Store `embed:""`
	Email        string `required:"" placeholder:"ADDRESS" help:"E-mail address of the administrator."`
	Organization string `required:"" placeholder:"NAME" help:"Name of the organization."`
	Team         string `required:"" placeholder:"NAME" help:"Name of the team."`
	Project      string `required:"" placeholder:"NAME" help:"Name of the project."`
	// PasswordFile is a file and no option: command lines are visible to other users of the
	// machine.
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
		// Editors end a file with a newline, which is not part of the password.
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
	// The operator has the password already; printing it would put it in the terminal's history.
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
// Verify is the only command so far.
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
	// Seals are MACs under a key of the deployment. Without them, whoever can write to the database
	// can recompute a whole chain.
	seals := "the seals were not checked: there is no master key here, or no server has started since the audit log " +
		"is sealed"
	if v.Sealed {
		// Records after the last seal are protected by the hash chain only.
		seals = fmt.Sprintf("every chain contains its sealed record (%d records were written after it without "+
			"the key)", v.Unsealed)
	}
	_, err = fmt.Fprintf(host.Stdout, "%d records, every chain is whole; %s\n", v.Records, seals)
	return err
}

// userCommand groups what an operator does to the account of a person.
type userCommand struct {
	Disable  userDisableCommand  `cmd:"" help:"Disable a user: all sessions, grants and access tokens end at once, and no password or token is accepted."`
	Enable   userEnableCommand   `cmd:"" help:"Enable a disabled user. Personal access tokens are accepted again."`
	Sessions userSessionsCommand `cmd:"" help:"List sessions, grants and personal access tokens of a user, or end them all."`
}

// userDisableCommand disables a user: the account cannot sign in, and its sessions and tokens
// are rejected at once.
type userDisableCommand struct {
	config.Store `embed:""`
	Address      string `arg:"" help:"E-mail address of the user."`
}

// Run disables the user.
func (c userDisableCommand) Run(ctx context.Context, host Host) error {
	// EndAccess and SetDisabled write to the audit log, like the same actions in the API.
	ended, err := server.UserAdmin{Email: c.Address}.SetDisabled(ctx, c.Store, true)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(host.Stdout, "%s is disabled; ended: %d sessions, %d applications or devices\n", c.Address,
		// Grants are sign-ins of applications and command lines (OAuth 2.0).
		ended.Sessions, ended.Grants)
	return err
}

// userEnableCommand enables a disabled user. Sessions and tokens that were ended stay ended.
type userEnableCommand struct {
	config.Store `embed:""`
	Address      string `arg:"" help:"E-mail address of the user."`
}

// Run enables the user.
func (c userEnableCommand) Run(ctx context.Context, host Host) error {
	if _, err := (server.UserAdmin{Email: c.Address}).SetDisabled(ctx, c.Store, false); err != nil {
		return err
	}
	_, err := fmt.Fprintf(host.Stdout, "%s is enabled\n", c.Address)
	return err
}

// userSessionsCommand lists or ends the sessions of a user, for the response to a stolen device.
type userSessionsCommand struct {
	config.Store `embed:""`
	Address      string `arg:"" help:"E-mail address of the user."`
	End          bool   `help:"End all sessions and grants, and delete all personal access tokens."`
}

// Run lists what the user has access with, or ends it.
func (c userSessionsCommand) Run(ctx context.Context, host Host) error {
	admin := server.UserAdmin{Email: c.Address}
	if c.End {
		ended, err := admin.EndAccess(ctx, c.Store)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(host.Stdout, "ended: %d sessions, %d applications or devices; deleted: %d personal "+
			"access tokens\n",
			ended.Sessions, ended.Grants, ended.Tokens)
		return err
	}
	access, err := admin.Access(ctx, c.Store)
	if err != nil {
		return err
	}
	return printAccess(host, access)
}

// printAccess prints one row for each session, grant and token.
// IP and user agent let an operator recognize a foreign session.
func printAccess(host Host, a server.Access) error {
	state := "active"
	if !a.User.DisabledAt.IsZero() {
		state = "disabled since " + formatTime(a.User.DisabledAt)
	}
	if _, err := fmt.Fprintf(host.Stdout, "%s (%s)\n", a.User.Email, state); err != nil {
		return err
	}
	w := tabwriter.NewWriter(host.Stdout, 0, 0, 2, ' ', 0)
	rows := [][]string{{"KIND", "WHAT", "CREATED", "LAST USED", "EXPIRES"}}
	for _, s := range a.Sessions {
		rows = append(rows, []string{"session", s.IP + " " + s.UserAgent, formatTime(s.CreatedAt),
			formatTime(s.LastUsedAt),
			formatTime(s.ExpiresAt)})
	}
	for _, g := range a.Grants {
		rows = append(rows, []string{"application", g.ClientID, formatTime(g.CreatedAt), formatTime(g.LastUsedAt),
			formatTime(g.ExpiresAt)})
	}
	for _, t := range a.Tokens {
		rows = append(rows, []string{"token", t.Name, formatTime(t.CreatedAt), formatTime(t.LastUsedAt),
			formatTime(t.ExpiresAt)})
	}
	for _, row := range rows {
		if _, err := fmt.Fprintln(w, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return w.Flush()
}

// formatTime writes a moment, and - for none.
// UTC, so that the list can be compared with the log.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}
