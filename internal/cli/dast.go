package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"merlon/internal/chromium"
	"merlon/internal/config"
	"merlon/internal/engine/all"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/outbound"
	"merlon/internal/scan"
)

// This file scans a running application from the command line.

// liveOptions are those of every scan of a running application.
type liveOptions struct {
	URL string `arg:"" help:"URL of the application; only addresses below it are scanned."`

	// Auth and Target are files, since credentials on a command line are visible to other users.
	Auth   string `type:"path" placeholder:"FILE" help:"JSON file with one identity or a list of identities to sign in as (examples below and in docs/dast-sign-in.md). Use {{env:NAME}} for secrets."`
	Target string `type:"path" placeholder:"FILE" help:"JSON file with the whole target (docs/dast-targets.md). Flags override it."`
	// Empty means the profile of --target, or standard.
	Profile  string        `enum:",passive,safe,standard,full" default:"" help:"Scan profile: passive, safe, standard (default) or full."`
	Findings string        `name:"finding-profile" enum:"default,all" default:"default" help:"Findings to report, as --profile of merlon scan."`
	Check    []string      `placeholder:"NAME" help:"Run only this check (docs/dast-checks.md). May be repeated."`
	Template []string      `type:"path" placeholder:"FILE" help:"Template in the nuclei format to run, or a folder of templates (docs/dast-checks.md). May be repeated."`
	Include  []string      `placeholder:"PATTERN" help:"Additional URLs in scope; * matches any text. May be repeated."`
	Exclude  []string      `placeholder:"PATTERN" help:"URLs out of scope; never requested. May be repeated."`
	Seed     []string      `placeholder:"ADDRESS" help:"Additional URL to start crawling from. May be repeated."`
	Header   []string      `placeholder:"NAME: VALUE" help:"Header to add to every request. May be repeated."`
	Rate     float64       `placeholder:"N" help:"Maximum requests per second. Default: 300."`
	Requests int           `placeholder:"N" help:"Maximum number of requests. Default: 200000."`
	Time     time.Duration `placeholder:"DURATION" help:"Time limit of the scan. Default: 4h."`
	Guest    bool          `help:"Continue without a session when sign-in fails. By default the scan then stops with exit code 2."`
	Source   string        `type:"existingdir" placeholder:"DIR" help:"Source code of the application: its routes are scanned, and findings refer to the code behind them."`
	Browser  string        `default:"auto" placeholder:"PATH" help:"Chromium executable that runs scripts; auto: search the PATH; none: no browser."`

	oastOptions `embed:""`

	Format string `enum:"table,json,sarif,stream" default:"table" help:"Report format: table; json; sarif (2.1.0); stream, messages as JSON lines."`

	reportOptions `embed:""`
}

// dastCommand scans a running web application.
type dastCommand struct {
	// It is not among liveOptions, because an API has no pages that load libraries.
	Advisories string `type:"path" placeholder:"PATH" help:"Vulnerability records for the libraries that pages load, as for merlon scan."`

	liveOptions `embed:""`
}

// Help is the manual of the command.
func (dastCommand) Help() string {
	return `Scan only applications that you own or are allowed to scan.

` + liveHelp
}

// liveHelp is what the manuals of live scans have in common.
const liveHelp = `Exit codes: 0 no findings at or above --fail-on; 1 findings; 2 the scan is not
complete; 3 wrong flags. A failed sign-in stops the scan with exit code 2, unless
--guest is given.

Ctrl-C, SIGTERM and --time end the scan with a report: the findings so far, and the
operations that were not tested. A second Ctrl-C ends it immediately, without a report.
Without a terminal, progress is printed to standard error every 30 seconds.

Examples of a file for --auth, with a login form, and with a JSON request and the JSON
pointer to the token in its response:

  {"name": "jane", "form": {"url": "/login", "user": "jane", "password": "{{env:PASSWORD}}"}}

  {"name": "jane", "json": {"url": "/api/login",
    "body": {"email": "jane@example.org", "password": "{{env:PASSWORD}}"},
    "token": "/data/accessToken"}}

Every request has the header X-Merlon-Scan with the ID of the scan.`

// Run examines the application and decides the exit code.
func (c *dastCommand) Run(ctx context.Context, host Host) error {
	target, err := c.readTarget(host)
	if err != nil {
		return err
	}
	return scanLive(ctx, host, liveScan{target: target, analysis: finding.DAST, time: c.Time, browser: c.Browser,
		source: c.Source, guest: c.Guest, findings: c.Findings, advisories: c.Advisories, oast: c.oastOptions, format: c.Format,
		report: c.reportOptions})
}

// readTarget reads the options.
func (c *liveOptions) readTarget(host Host) (scan.Target, error) {
	var t scan.Target
	// The file first: flags override single values of it and add to its lists.
	if c.Target != "" {
		if err := readJSON(host, c.Target, &t); err != nil {
			return t, err
		}
	}
	t.URL = c.URL
	if c.Profile != "" {
		t.Profile = scan.Profile(c.Profile)
	}
	t.Include, t.Exclude, t.Seeds = append(t.Include, c.Include...), append(t.Exclude, c.Exclude...),
		append(t.Seeds, c.Seed...)
	t.Checks = append(t.Checks, c.Check...)
	for _, name := range c.Template {
		if err := addTemplates(&t, name); err != nil {
			return t, err
		}
	}
	if c.Rate > 0 {
		t.Rate = c.Rate
	}
	if c.Requests > 0 {
		t.Requests = c.Requests
	}
	// The defaults of a passive scan are 10 requests per second and 1,000 requests, one at a
	// time.
	if t.Profile == scan.Passive { // it needs no right to the application
		t.LimitPassive()
	}
	for n, h := range c.Header {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return t, errs.E(errs.Invalid, "--header number %d is not NAME: VALUE", n+1) // it may be a secret
		}
		t.Headers = append(t.Headers, scan.Header{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	if c.Auth != "" {
		identities, err := readIdentities(host, c.Auth)
		if err != nil {
			return t, err
		}
		t.Identities = append(t.Identities, identities...)
	}
	return t, nil
}

// Limits of the templates of one scan.
// The limits bound the memory; public template collections have some ten thousand templates.
const (
	maxTemplates     = 50_000
	maxTemplateBytes = 256 << 20
)

// addTemplates adds the templates of a file or a folder to the target, with the files of
// words that they may name.
func addTemplates(t *scan.Target, name string) error {
	size := 0
	for _, d := range t.Templates {
		size += len(d.Text)
	}
	err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		// A file that is named directly is read whatever its ending; in a folder only templates
		// and word lists.
		switch ext := filepath.Ext(path); {
		case path == name, ext == ".yaml", ext == ".yml", ext == ".txt":
		default:
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if size += int(min(info.Size(), maxTemplateBytes)); size > maxTemplateBytes ||
			len(t.Templates) == maxTemplates {
			return fmt.Errorf("more than %d templates, or larger than %d MiB in total", maxTemplates,
				maxTemplateBytes>>20)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		// The name below the folder, which templates use to refer to word lists.
		shown, err := filepath.Rel(name, path)
		if err != nil || shown == "." {
			shown = filepath.Base(path)
		}
		t.Templates = append(t.Templates, scan.Description{Name: filepath.ToSlash(shown), Text: string(text)})
		return nil
	})
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "cannot read the templates of %s", name)
	}
	return nil
}

// readIdentities reads one identity, or a list of them.
func readIdentities(host Host, path string) ([]scan.Identity, error) {
	var raw json.RawMessage
	if err := readJSON(host, path, &raw); err != nil {
		return nil, err
	}
	var list []scan.Identity
	// The first character decides, so an error message is about the right one of the two forms.
	if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
		if err := decodeStrict(raw, &list); err != nil {
			return nil, errs.E(errs.Invalid, "%s: %v", path, err)
		}
		return list, nil
	}
	var one scan.Identity
	if err := decodeStrict(raw, &one); err != nil {
		return nil, errs.E(errs.Invalid, "%s: %v", path, err)
	}
	return []scan.Identity{one}, nil
}

// decodeStrict reads JSON without members that nobody knows.
// A misspelled member, such as "pasword", would otherwise be ignored and the sign-in fail without
// a hint.
func decodeStrict(text []byte, to any) error {
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.DisallowUnknownFields()
	return dec.Decode(to)
}

// maxTargetFile bounds a file with a target, in bytes.
// 64 MiB: a target file may contain whole descriptions of APIs and recorded traffic.
const maxTargetFile = 64 << 20

// readJSON reads a JSON file in which {{env:NAME}} stands for a variable of the
// environment.
func readJSON(host Host, path string, to any) error {
	info, err := os.Stat(path)
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "cannot read %s", path)
	}
	if info.Size() > maxTargetFile {
		return errs.E(errs.Invalid, "%s is larger than %d bytes", path, maxTargetFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "cannot read %s", path)
	}
	filled, err := fillEnvironment(string(text), host.Getenv)
	if err != nil {
		return errs.E(errs.Invalid, "%s: %v", path, err)
	}
	if err := decodeStrict([]byte(filled), to); err != nil {
		return errs.E(errs.Invalid, "%s: %v", path, err)
	}
	return nil
}

// fillEnvironment puts variables of the environment, as parts of JSON strings, in the
// place of {{env:NAME}}.
// The value is escaped as JSON, so a quote in a password cannot change the document. An unset
// variable is an error: an empty password would only fail at the sign-in.
func fillEnvironment(text string, getenv func(string) string) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{{env:")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		name, after, ok := strings.Cut(rest, "}}")
		if !ok || len(name) > 200 {
			return "", fmt.Errorf("{{env: has no closing }}")
		}
		value := getenv(name)
		if value == "" {
			return "", fmt.Errorf("environment variable %s is not set", name)
		}
		quoted, err := json.Marshal(value)
		if err != nil {
			return "", err
		}
		b.Write(quoted[1 : len(quoted)-1])
		text = after
	}
}

// A liveScan is a scan of a running target.
// time is 0 for the default limit. browser is a path, "auto" or "none". source, advisories and
// format are as the options of the same names.
type liveScan struct {
	target     scan.Target
	analysis   finding.Analysis
	time       time.Duration
	browser    string
	source     string // folder of the application's source code; empty: it is not known
	guest      bool   // continue where a sign-in fails
	findings   string // the profile of findings, as in scanCommand
	advisories string // vulnerability data; empty: none
	oast       oastOptions
	format     string
	report     reportOptions
}

// scanLive runs the analyzers of the analysis. The user has named the target and where
// it is signed in at, so these hosts may be in a private network; nothing else may.
func scanLive(ctx context.Context, host Host, s liveScan) error {
	u, err := url.Parse(s.target.URL)
	if err != nil || u.Hostname() == "" {
		return errs.E(errs.Invalid, "%.200q is not an http or https URL", s.target.Secrets().RedactText(s.target.URL))
	}
	monitor := &scan.Monitor{}
	defer startHeartbeat(host.Stderr, monitor)()
	if s.source != "" {
		if s.target.Routes, err = readRoutes(ctx, host, s.source); err != nil {
			return err
		}
	}
	// Allow is the exception to the rule that private addresses are refused; it protects against
	// SSRF when the target redirects to an internal host.
	client, err := outbound.New(outbound.Options{Agent: "merlon/" + config.Version,
		Allow: namedHosts(u, s.target.Identities), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	// The first signal stops the scan and lets it report; after it the default handling is
	// restored, so that a second one ends the process.
	stop := ctx.Done() // the report is still written
	ended := context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })
	defer ended()
	// Requests for the report and the clean-up of created objects still need a context that is
	// not canceled.
	ctx = context.WithoutCancel(ctx)
	live := &scan.Live{Stop: stop, AllowGuest: s.guest, Monitor: monitor, Target: s.target,
		ID: fmt.Sprintf("cli-%d", time.Now().UnixNano()), Dial: client.Dial}
	live.Browser, live.BrowserReason = chromium.Choose(s.browser)
	l, reason, err := s.oast.openListener(ctx, &s.target)
	if err != nil {
		return err
	}
	live.OASTReason = reason
	if l != nil {
		defer func() { _ = l.Close() }() // nobody waits for it any more
		live.OAST, live.Dial = l.Scan(), refuseListener(l, live.Dial)
	}
	options := scan.Options{Live: live, Analyzers: all.Analyzers, Analyses: []finding.Analysis{s.analysis},
		Profile: finding.Profile(s.findings), Limits: scan.Limits{LiveTime: s.time}, Version: config.Version}
	advisories, err := openAdvisories(s.advisories)
	if err != nil {
		return err
	}
	// A nil *File in the interface would not compare equal to nil.
	if advisories != nil {
		defer func() { _ = advisories.Close() }() // read only
		options.Advisories = advisories
	}
	return s.report.writeReport(host, s.format, func(h scan.Handler) error {
		if err := scan.Run(ctx, options, scan.Tee(h, newProgressHandler(host.Stderr))); err != nil {
			return fmt.Errorf("scan %s: %w", u.Redacted(), err)
		}
		return nil
	})
}

// namedHosts are the hosts that the user names: the target's, and those that identities
// sign in at.
// Only identity providers that the user has written down: a host that a page names is not
// trusted.
func namedHosts(base *url.URL, identities []scan.Identity) []string {
	out := []string{base.Hostname()}
	for _, i := range identities {
		if i.OAuth == nil {
			continue
		}
		for _, text := range []string{i.OAuth.Issuer, i.OAuth.Authorize, i.OAuth.Token} {
			if u, err := url.Parse(text); err == nil && u.Hostname() != "" && !slices.Contains(out, u.Hostname()) {
				out = append(out, u.Hostname())
			}
		}
	}
	return out
}

// readRoutes analyses source code for the operations that it declares, and the flaws
// behind them. What of the code could not be looked at is said, and is no error: the
// application is examined with what is known.
// A sink of a route is a finding of the static analysis in the code that handles it.
func readRoutes(ctx context.Context, host Host, folder string) ([]scan.Route, error) {
	var summary scan.Summary
	declared := &scan.RouteCollector{Handler: scan.Tee(&summary, newProgressHandler(host.Stderr))}
	options := scan.Options{Root: folder, Analyzers: all.Analyzers, Analyses: []finding.Analysis{finding.SAST},
		Profile: finding.AllProfile, Version: config.Version}
	if err := scan.Run(ctx, options, declared); err != nil {
		return nil, fmt.Errorf("analyse %s: %w", folder, err)
	}
	routes := declared.Routes()
	flaws := 0
	for i := range routes {
		flaws += len(routes[i].Sinks)
	}
	said := fmt.Sprintf("%s: %d routes, with %d flaws that static analysis sees behind them\n", folder, len(routes),
		flaws)
	for _, st := range summary.Incomplete() {
		said += fmt.Sprintf("%s: %s ended %s: %d reasons; merlon scan lists them\n", folder, st.Analyzer, st.State,
			len(st.Reasons)+st.Omitted)
	}
	_, err := fmt.Fprint(host.Stderr, said)
	return routes, err
}
