package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"merlon/internal/advisory"
	"merlon/internal/config"
	"merlon/internal/engine/all"
	"merlon/internal/engine/sca/inventory"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/outbound"
	"merlon/internal/report/bom"
	"merlon/internal/report/json"
	"merlon/internal/report/sarif"
	"merlon/internal/report/table"
	"merlon/internal/sbom"
	"merlon/internal/scan"
	"merlon/internal/verify"
	"merlon/internal/vex"
)

// scanCommand analyzes a folder, a file or a container image.
type scanCommand struct {
	Path string `arg:"" optional:"" help:"Folder or file to analyze."`

	Image    string `placeholder:"IMAGE" help:"Container image to analyze: a name in a registry, a tarball (docker save or OCI; append #NAME to select one of several images), or an OCI layout folder."`
	Platform string `placeholder:"OS/ARCH" help:"Platform of the image, such as linux/arm64. Default: the only platform, otherwise linux/amd64."`

	Analyses []string `placeholder:"LIST" help:"Analyses to run: ${analyses}. Default: all that this build supports."`
	Format   string   `enum:"table,json,sarif,cyclonedx,spdx,openvex,stream" default:"table" help:"Report format: table; json; sarif (2.1.0); cyclonedx (1.6) and spdx (2.3), SBOMs; openvex; stream, messages as JSON lines."`

	Profile string `enum:"default,all" default:"default" help:"Findings to report: default, what a team fixes now or plans to fix; all, also rules of form, naming conventions and hardening checklists, and findings of low weight in tests, examples and documentation, for audits."`

	reportOptions `embed:""`

	Advisories string `type:"path" placeholder:"PATH" help:"Vulnerability records: a data file (merlon advisories import --output), or a folder or zip in the OSV format."`

	VEX []string `name:"vex" type:"path" placeholder:"FILE" help:"VEX document in OpenVEX or CycloneDX. Vulnerabilities stated as not affected or fixed stay in reports but do not count for --fail-on. May be repeated."`

	LicenseCaches bool `default:"true" negatable:"" help:"Read licences that the tree does not name from the caches of package managers on this machine: the module cache of Go, Maven, Gradle, Cargo, NuGet, RubyGems, and the active Python environment."`

	Rules     []string      `type:"path" placeholder:"PATH" help:"File or folder with additional rules in the Semgrep format. May be repeated."`
	OnlyRules bool          `help:"Use only the rules of --rules, and analyze only source code."`
	Fast      bool          `help:"Track data flow within single files only, for at most --fast-time. The source code analysis then ends degraded, because it is not complete."`
	FastTime  time.Duration `default:"60s" placeholder:"DURATION" help:"Time limit of --fast."`

	Cache   string `type:"path" placeholder:"DIR" help:"Folder of the result cache, which speeds up the next scan of the same code without changing its findings. Use one folder per source tree. Default: the folder merlon in the user's cache folder, for all trees."`
	NoCache bool   `help:"Disable the result cache."`

	VerifySecrets bool `help:"Verify detected credentials with their issuers. Sends each credential to its issuer and logs that to standard error. Without this flag no analyzer opens a connection."`

	ConnFD int `name:"conn-fd" hidden:"" help:"File descriptor of the connection to the worker, which describes the target and opens connections to it."`

	MaxFileSize int64 `placeholder:"BYTES" help:"Skip larger files and report them. Default: 32 MiB."`
	MaxFiles    int   `placeholder:"N" help:"Maximum number of files; the rest is reported as not analyzed. Default: 1000000."`
	Parallel    int   `name:"parallel" placeholder:"N" help:"Number of parallel workers. Default: one per core."`

	remoteOptions `embed:""`
}

// Help is the manual of the command.
func (scanCommand) Help() string {
	return `Exit codes:
  0  everything was analyzed; no findings at or above --fail-on
  1  findings at or above --fail-on, also when the analysis is not complete: a
     pipeline that ignores 2 must not ignore a finding
  2  no such findings, but the analysis is not complete, or the scan failed
  3  wrong flags or arguments

Every report lists what was not analyzed. A file .merlonignore at the root of the
folder, in .gitignore syntax, suppresses findings of source code analysis. The
folder .git and symbolic links are skipped.

--image pulls the image with the credentials of the user's Docker configuration, or
with MERLON_REGISTRY_USER and MERLON_REGISTRY_PASSWORD.

--remote uploads the folder, including hidden files but without .git unless --git is
given, and reports the open findings of the branch on the server.`
}

// Run analyzes the path and decides the exit code.
func (c *scanCommand) Run(ctx context.Context, host Host) error {
	// Options are checked before anything is opened, so that a mistake costs no time.
	analyses, err := parseAnalyses(c.Analyses)
	if err != nil {
		return err
	}
	if err := c.checkTarget(); err != nil {
		return err
	}
	if analyses, err = c.checkOnlyRules(analyses); err != nil {
		return err
	}
	if c.Remote {
		if err := c.checkRemoteFlags(); err != nil {
			return err
		}
		return c.runRemote(ctx, host, analyses)
	}
	if c.ConnFD != 0 {
		// A hidden option: this process was started by a worker.
		return c.runLent(ctx, host, analyses)
	}
	return c.runLocal(ctx, host, analyses)
}

// checkOnlyRules returns the analyses for --only-rules, which need source code analysis alone.
func (c *scanCommand) checkOnlyRules(analyses []finding.Analysis) ([]finding.Analysis, error) {
	if !c.OnlyRules {
		return analyses, nil
	}
	if len(c.Rules) == 0 {
		return nil, errs.E(errs.Invalid, "--only-rules needs --rules")
	}
	if slices.ContainsFunc(analyses, func(a finding.Analysis) bool { return a != finding.SAST }) {
		return nil, errs.E(errs.Invalid, "--only-rules analyzes only source code: --analyses can only be sast")
	}
	return []finding.Analysis{finding.SAST}, nil
}

// checkRemoteFlags rejects flags that a server does not support. To ignore one silently would
// give a result that the user did not ask for.
func (c *scanCommand) checkRemoteFlags() error {
	switch {
	case len(c.Rules) > 0 || c.Fast:
		return errs.E(errs.Invalid, "--rules and --fast are for local scans: a server has its own rules, "+
			"and the project its settings")
	case len(c.VEX) > 0:
		return errs.E(errs.Invalid, "--vex is for local scans: triage the findings of a server on the server")
	case c.Profile != string(finding.DefaultProfile):
		return errs.E(errs.Invalid, "--profile is for local scans: a project on the server has the setting "+
			"findingProfile")
	case c.VerifySecrets:
		return errs.E(errs.Invalid, "--verify-secrets is for local scans")
	}
	return nil
}

// runLocal scans in this process. The garbage collector is tuned by the kind of target: a source
// scan builds data that lives until its end, an image streams its layers.
func (c *scanCommand) runLocal(ctx context.Context, host Host, analyses []finding.Analysis) error {
	if c.Image == "" {
		relaxCollector(host.Getenv)
	} else {
		tightenCollector(host.Getenv)
	}
	advisories, err := openAdvisories(c.Advisories)
	if err != nil {
		return err
	}
	if advisories != nil {
		defer func() { _ = advisories.Close() }() // read only
	}
	options := scan.Options{
		Root:      c.Path,
		Analyzers: all.Analyzers,
		Analyses:  analyses,
		Profile:   finding.Profile(c.Profile),
		Code:      c.codeOptions(host),
		Limits:    scan.Limits{Files: c.MaxFiles, FileSize: c.MaxFileSize},
		Workers:   c.Parallel,
		Version:   config.Version,
	}
	if c.Image != "" {
		img, done, err := c.openImage(ctx, host)
		if err != nil {
			return err
		}
		defer done()
		options.Image = img
	}
	if c.VerifySecrets {
		if options.Verify, err = newVerifier(host); err != nil {
			return err
		}
	}
	statements, err := vex.Open(c.VEX...)
	if err != nil {
		return err
	}
	// Otherwise the interface would contain a nil pointer and not be nil.
	if advisories != nil { // not a nil *File in an interface
		options.Advisories = advisories
	}
	return c.writeReport(host, c.Format, func(h scan.Handler) error {
		// statements marks findings before the report sees them; the progress line needs no
		// marks.
		h = c.withLicenseCaches(host, statements.Mark(h))
		if err := scan.Run(ctx, options, scan.Tee(h, newProgressHandler(host.Stderr))); err != nil {
			return fmt.Errorf("scan %s: %w", cmp.Or(c.Path, c.Image), err)
		}
		return nil
	})
}

// withLicenseCaches returns a handler that completes licences from the caches of the user. A
// worker has none of the project, and an image has what is in it.
func (c *scanCommand) withLicenseCaches(host Host, next scan.Handler) scan.Handler {
	if !c.LicenseCaches || c.Format == "stream" || c.Image != "" {
		return next
	}
	return inventory.FillLicenses(next, host.Getenv)
}

// newVerifier asks issuers through the guarded client, and logs to standard error.
// The client refuses private addresses: a credential could name a server of its issuer in a
// scanned file.
func newVerifier(host Host) (*verify.Verifier, error) {
	log := slog.New(slog.NewTextHandler(host.Stderr, nil))
	client, err := outbound.New(outbound.Options{Agent: "merlon/" + config.Version, Log: log})
	if err != nil {
		return nil, err
	}
	return verify.New(client, log, verify.Limits{}), nil
}

// codeOptions says how source code is analysed.
func (c *scanCommand) codeOptions(host Host) scan.Code {
	code := scan.Code{Rules: c.Rules, OnlyRules: c.OnlyRules}
	if c.Fast {
		// Less than a second would end before the first file.
		code.Fast = max(c.FastTime, time.Second)
	}
	if !c.NoCache {
		code.Cache, code.CacheName = c.cacheFolder(host)
	}
	return code
}

// cacheFolder returns the folder for what the next scan can use, and the name of the tree in
// it. A folder that is asked for belongs to one tree, wherever that lies: pipelines
// restore both at another place. Who has no folder for caches keeps nothing.
func (c *scanCommand) cacheFolder(host Host) (folder, name string) {
	if c.Cache != "" {
		return c.Cache, ""
	}
	if host.Getenv("HOME") == "" && host.Getenv("XDG_CACHE_HOME") == "" && host.Getenv("LocalAppData") == "" {
		return "", ""
	}
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", ""
	}
	// The absolute path names the tree in the shared folder, so two checkouts do not use each
	// other's entries.
	if name, err = filepath.Abs(c.Path); err != nil {
		return "", ""
	}
	return filepath.Join(folder, "merlon", "code"), name
}

// openAdvisories opens the vulnerability data; nil for an empty path.
func openAdvisories(path string) (*advisory.File, error) {
	if path == "" {
		return nil, nil
	}
	return advisory.Open(path)
}

// parseAnalyses checks the names of analyses; they may be in any case.
// An empty list means all.
func parseAnalyses(names []string) ([]finding.Analysis, error) {
	var out []finding.Analysis
	for _, name := range names {
		a := finding.Analysis(strings.ToLower(strings.TrimSpace(name)))
		if !slices.Contains(finding.Analyses, a) {
			return nil, errs.E(errs.Invalid, "unknown analysis %q: use one of %s", name, analysesText())
		}
		out = append(out, a)
	}
	return out, nil
}

// analysesText lists the names of all analyses, for help and errors.
func analysesText() string {
	names := make([]string, len(finding.Analyses))
	for i, a := range finding.Analyses {
		names[i] = string(a)
	}
	return strings.Join(names, ", ")
}

// A report is a handler that ends its document.
// Close writes what comes after the last finding; an error of the scan skips it.
type reportWriter interface {
	scan.Handler
	Close() error
}

// newReport returns the writer of the format.
// The formats are those of the option --format; table is the default.
func newReport(format string, w io.Writer) reportWriter {
	switch format {
	case "json":
		return json.New(w)
	case "sarif":
		return sarif.New(w, "")
	case "cyclonedx":
		return bom.New(w, sbom.CycloneDX)
	case "spdx":
		return bom.New(w, sbom.SPDX)
	case "openvex":
		return vex.NewReport(w)
	case "stream":
		return stream{scan.Encode(w)}
	}
	return table.New(w)
}

// stream has no end to write.
type stream struct{ scan.Handler }

// Close does nothing: each message of a stream is complete by itself.
func (stream) Close() error { return nil }

// exitError turns what a scan said into an exit code. "none" has rank 0 and asks
// for none.
func exitError(s *scan.Summary, failOn finding.Severity) error {
	// All analyzers failed: that is no result at all, whatever --fail-on says.
	if failed := s.Incomplete(); len(failed) > 0 && len(failed) == len(s.Statuses) &&
		!slices.ContainsFunc(failed, func(st scan.Status) bool { return st.State != scan.Failed }) {
		return exit{ExitFailed, "nothing was analyzed: " + firstReasons(failed)}
	}
	// Findings first: an incomplete scan with findings has exit code 1.
	if failOn.Rank() > 0 && s.AtLeast(failOn) > 0 {
		return exit{code: ExitFindings}
	}
	if !s.Complete() {
		var parts []string
		for _, st := range s.Incomplete() {
			parts = append(parts, fmt.Sprintf("%s %s", st.Analyzer, st.State))
		}
		return exit{ExitFailed, "the analysis is not complete: " + strings.Join(parts, ", ")}
	}
	return nil
}

// firstReasons is the first reason of each analyzer.
func firstReasons(failed []scan.Status) string {
	var parts []string
	for _, st := range failed {
		part := fmt.Sprintf("%s %s", st.Analyzer, st.State)
		if len(st.Reasons) > 0 {
			// The last reason is the one that ended the analyzer.
			part += ": " + st.Reasons[len(st.Reasons)-1].Message
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// newProgressHandler returns a handler that shows on a terminal how far a scan is, and
// does nothing on anything else.
func newProgressHandler(w io.Writer) scan.Handler {
	if !isTerminal(w) {
		// Summary is a handler that counts and writes nothing.
		return &scan.Summary{}
	}
	return &progressLine{w: w}
}

// progressLine shows the progress on one line of a terminal.
type progressLine struct {
	scan.Summary
	w io.Writer
}

// Progress overwrites the line, and clears it at the end so that the report begins on an empty
// one.
func (p *progressLine) Progress(m *scan.Progress) error {
	end := ""
	if m.Percent == 100 {
		// "\r\033[K" moves to the first column and erases the line (ECMA-48).
		end = "\r\033[K"
	}
	_, err := fmt.Fprintf(p.w, "\r\033[K%3d %% %s%s", m.Percent, m.Step, end)
	return err
}
