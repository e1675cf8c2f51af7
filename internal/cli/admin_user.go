package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"merlon/internal/config"
	"merlon/internal/server"
)

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
	ended, err := server.UserAdmin{Email: c.Address}.SetDisabled(ctx, c.Store, true)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(host.Stdout, "%s is disabled; ended: %d sessions, %d applications or devices\n", c.Address,
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
func formatTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}
