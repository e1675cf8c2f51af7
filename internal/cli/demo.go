package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"merlon/client"
	"merlon/examples"
	"merlon/internal/config"
	"merlon/internal/finding"
	"merlon/internal/server"
)

// This file is the first minute with Merlon: a service with a tenant, and a scan
// of the sample application through the service's own API.

// credentialsFile is where the first start writes how to sign in, in the data
// folder.
const credentialsFile = "credentials.json"

// logFile is where the demo writes its log, in the data folder, so that the terminal
// shows the findings alone.
const logFile = "merlon.log"

// demoCommand starts a complete service with a sample project, to try the product without any
// setup.
type demoCommand struct {
	config.Server `embed:""`
}

// Run serves like serve. The first time it makes a tenant and scans the sample.
func (c demoCommand) Run(ctx context.Context, host Host) error {
	path := c.Path(credentialsFile)
	made, err := readCredentials(path)
	// The credentials are the last thing that prepareTenant writes before the import, so their
	// absence means a first start.
	first := errors.Is(err, fs.ErrNotExist)
	if first {
		made, err = c.prepareTenant(ctx, path)
	}
	if err != nil {
		return err
	}
	c.LogFile = cmp.Or(c.LogFile, c.Path(logFile))
	// A failed scan of the sample ends the service, with its error as the cause.
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err = server.Run(ctx, c.Server, func(at server.Addresses) {
		// The service calls back when it accepts requests; the scan needs it running, so it gets
		// its own goroutine.
		go func() {
			if err := showDemoScan(ctx, host, at, *made, first); err != nil {
				stop(err)
				return
			}
			// the log says so too
			_, _ = fmt.Fprintf(host.Stdout, "\nCredentials: %s. Log: %s. %s\nOpen %s\n", path, c.LogFile,
				signUpText(c.SignUp), at.AuthURL+"/auth/account")
		}()
	})
	// context.Canceled is the end by Ctrl-C, which is no error.
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return errors.Join(cause, err)
	}
	return err
}

// prepareTenant makes the tenant, writes its credentials, and imports the sample's
// vulnerability records.
func (c demoCommand) prepareTenant(ctx context.Context, path string) (*server.Bootstrapped, error) {
	// The domain .local is never delivered to, so no mail leaves the machine.
	b := server.Bootstrap{Email: "admin@merlon.local", Organization: "Example", Team: "Bookshop", Project: "bookshop"}
	made, err := b.Run(ctx, c.Store)
	if err != nil {
		return nil, fmt.Errorf("make the first tenant: %w", err)
	}
	text, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return nil, err
	}
	// Readable by the owner only: it contains a password and a token.
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		return nil, fmt.Errorf("write the credentials: %w", err)
	}
	return made, c.importSample(ctx)
}

// importSample imports the records that concern the sample application.
// The records are part of the program, so that the demo finds vulnerable packages without a
// network.
func (c demoCommand) importSample(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "merlon-sample")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	if err := os.CopyFS(dir, examples.Advisories); err != nil {
		return err
	}
	db, err := server.OpenStore(ctx, c.Store)
	if err != nil {
		return err
	}
	_, err = server.ImportAdvisories(ctx, db, []string{filepath.Join(dir, "advisories")})
	return errors.Join(err, db.Close())
}

// readCredentials reads the credentials that an earlier start of the demo has written.
// fs.ErrNotExist is returned as it is, for a first start.
func readCredentials(path string) (*server.Bootstrapped, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	made := &server.Bootstrapped{}
	if err := json.Unmarshal(text, made); err != nil {
		return nil, fmt.Errorf("credentials %s: %w", path, err)
	}
	return made, nil
}

// showDemoScan scans the sample application, unless that was done before, and prints the
// project's findings by severity.
// Later starts print the findings of the first scan.
func showDemoScan(ctx context.Context, host Host, at server.Addresses, made server.Bootstrapped, first bool) error {
	id := client.Identity{BaseURL: at.BaseURL, AuthURL: at.AuthURL}
	c, err := client.New(client.Options{BaseURL: at.BaseURL, Source: id.PersonalToken(made.PersonalAccessToken)})
	if err != nil {
		return err
	}
	project := string(made.ProjectID)
	if first {
		if err := scanSample(ctx, host, c, project); err != nil {
			return fmt.Errorf("scan the sample application: %w", err)
		}
	}
	return printFindings(ctx, host, c, project)
}

// scanSample uploads the sample application and waits for the end of its scan.
// The archive is built in memory: the sample is small.
func scanSample(ctx context.Context, host Host, c *client.Client, project string) error {
	dir, err := os.MkdirTemp("", "merlon-sample")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	if err := os.CopyFS(dir, examples.Bookshop); err != nil {
		return err
	}
	var archive bytes.Buffer
	if _, err := client.Pack(ctx, &archive, filepath.Join(dir, "bookshop"), client.Packing{}); err != nil {
		return err
	}
	began := time.Now()
	scan, err := c.StartScan(ctx, project, client.NewScan{Branch: "main"})
	if err != nil {
		return err
	}
	if err := c.Upload(ctx, scan.UploadURL, &archive, int64(archive.Len())); err != nil {
		return err
	}
	done, err := c.WaitScan(ctx, project, scan.ID, func(client.Scan) {})
	if err != nil {
		return err
	}
	if done.State == "failed" {
		return errors.New(done.ErrorMessage)
	}
	_, err = fmt.Fprintf(host.Stdout, "Scanned the sample application in %.1f s: %s\n", time.Since(began).Seconds(),
		strings.ReplaceAll(done.State, "_", " "))
	return err
}

// priorities are those of the service, first things first.
// The order of the names is the order in the list; one that is not in it would come first.
var priorities = []string{"critical_urgent", "urgent", "normal", "low", "very_low"}

// printFindings prints the project's findings in order of priority, with the path of
// the data where there is one, and their counts.
// All analyses are listed one after the other, since the API has a list for each.
func printFindings(ctx context.Context, host Host, c *client.Client, project string) error {
	var all []client.Finding
	for _, a := range server.Analyses() {
		for f, err := range c.Findings(ctx, project, string(a), client.Filter{}) {
			if err != nil {
				return err
			}
			all = append(all, f)
		}
	}
	// Priority first, then severity, then location: what to fix first stands first.
	slices.SortStableFunc(all, func(a, b client.Finding) int {
		return cmp.Or(slices.Index(priorities, a.Priority)-slices.Index(priorities, b.Priority),
			finding.Severity(b.Severity).Rank()-finding.Severity(a.Severity).Rank(),
			strings.Compare(a.Path, b.Path), a.StartLine-b.StartLine)
	})
	p := printer{w: host.Stdout}
	counts := map[string]int{}
	for i, f := range all {
		if i == 0 || f.Priority != all[i-1].Priority {
			p.printf("\n%s priority\n", strings.ToUpper(strings.ReplaceAll(f.Priority, "_", " ")))
		}
		counts[f.Severity]++
		p.printf("  %-8s  %s\n            %s\n", f.Severity, findingTitle(f), describeFinding(f))
		for _, step := range flowOf(f) {
			p.printf("              %s\n", step)
		}
	}
	p.printf("\n%s:", countNoun(len(all), "finding"))
	for i, s := range finding.Severities {
		if i > 0 {
			p.printf(",")
		}
		p.printf(" %d %s", counts[string(s)], s)
	}
	p.printf(".\n")
	return p.err
}

// describeFinding returns where a finding is and what distinguishes it from others.
func describeFinding(f client.Finding) string {
	at := fmt.Sprintf("%s:%d", f.Path, f.StartLine)
	switch {
	case f.Secret != nil:
		return at + "  " + f.Secret.Redacted
	case f.Library != nil:
		if r := f.Library.Reachability; r != nil {
			at += "  " + r.Verdict
		}
		if len(f.Fixes) > 0 {
			at += "  fixed in " + f.Fixes[0].Version
		}
	}
	return at
}

// flowOf returns the path of the data from its source to its sink, one line of code
// after the other.
// Steps on the same line, such as a source inside of a call, are one line here.
func flowOf(f client.Finding) []string {
	var out []string
	last := ""
	for _, step := range f.Flow {
		at := fmt.Sprintf("%s:%d", cmp.Or(step.Path, f.Path), step.Line)
		if at == last {
			continue
		}
		last = at
		text := ""
		for _, line := range step.Code {
			if line.Number == step.Line {
				text = strings.TrimSpace(line.Content)
			}
		}
		out = append(out, strings.TrimRight(at+"  "+text, " "))
	}
	if len(out) < 2 { // the finding's own line
		return nil
	}
	return out
}

// findingTitle is what a finding is, in a few words.
func findingTitle(f client.Finding) string {
	if f.Library != nil && f.Advisory != nil {
		return f.Library.Name + " " + f.Library.Version + ": " + f.Advisory.Summary
	}
	if f.Base.Rule != nil {
		return f.Base.Rule.Name
	}
	return f.Type
}
