package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/image"
)

// Options configures a scan: its target, its analyzers and its limits.
type Options struct {
	Root       string             // a folder or a file
	Image      *image.Image       // a container image to scan instead of Root; its name is recorded
	Live       *Live              // a running application to scan instead of Root
	Analyzers  []*Analyzer        // of this build
	Analyses   []finding.Analysis // requested analyses; empty: every analysis that has an analyzer
	Profile    finding.Profile    // selects the findings to report; empty: finding.DefaultProfile
	Advisories Advisories         // vulnerability data; may be nil
	Verify     Verifier           // verifies credentials with their issuers; nil: no verification
	Code       Code               // settings of source code analysis
	Limits     Limits
	Workers    int      // number of files analyzed in parallel; 0: one per core
	Version    string   // of the program
	Sandbox    []string // missing sandbox protections, recorded in Config
	Now        func() time.Time
}

// Run scans the target and sends the messages to h. Except for Progress, their order depends
// only on the target and the analyzers, never on the number of cores.
//
// Failures of an analyzer are in its Status, not in the error. An error means that there is no
// result: Root does not exist (errs.Invalid) or cannot be opened, the context was cancelled, or
// the handler failed. The message stream is then incomplete.
func Run(ctx context.Context, o Options, h Handler) error {
	if err := Validate(o.Analyzers); err != nil {
		return err
	}
	if o.Profile != "" && !slices.Contains(finding.Profiles, o.Profile) {
		return errs.E(errs.Invalid, "unknown profile %q: use default or all", o.Profile)
	}
	o = o.withDefaults()
	if o.Live != nil {
		live := *o.Live
		live.Secrets = live.Target.Secrets()
		o.Live = &live
		return live.Secrets.RedactError(runScan(ctx, o, Redact(h, live.Secrets)))
	}
	return runScan(ctx, o, h)
}

// runScan runs a validated scan: it plans the jobs, starts project analyzers beside the file
// analyzers, and emits the status of every job at the end.
func runScan(ctx context.Context, o Options, h Handler) error {
	t, err := o.openSource(ctx)
	if err != nil {
		return err
	}
	defer t.close()
	d := &driver{Options: o, tree: t, handler: h, slots: make(chan struct{}, o.Workers), rules: map[string]bool{},
		reportedRules: map[ruleLocation]string{}}
	if o.Live != nil {
		d.checkpoints = newCheckpoints(o.Live)
	}
	defer d.running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := d.planJobs(); err != nil {
		return err
	}
	if err := h.Config(d.describeScan()); err != nil {
		return err
	}
	projects := d.startProjects(ctx)
	if err := d.analyzeFiles(ctx); err != nil {
		return err
	}
	if err := d.emitProjects(ctx, projects); err != nil {
		return err
	}
	for _, j := range d.jobs {
		if err := h.Status(j.finalStatus()); err != nil {
			return err
		}
	}
	return nil
}

// openSource opens the tree to scan. A scan of an image or a running application has an empty
// tree with a name only.
func (o Options) openSource(ctx context.Context) (*tree, error) {
	switch {
	case o.Image != nil:
		return &tree{name: cmp.Or(o.Image.Name, o.Image.ID)}, nil
	case o.Live != nil:
		return &tree{name: o.Live.Target.URL}, nil
	}
	return openTree(ctx, o.Root, o.Limits)
}

// withDefaults returns the options with defaults for zero fields.
func (o Options) withDefaults() Options {
	o.Limits = o.Limits.withDefaults()
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Profile = cmp.Or(o.Profile, finding.DefaultProfile)
	return o
}

// driver is one scan.
type driver struct {
	Options
	tree          *tree
	ignored       ignore
	handler       Handler
	jobs          []*job          // requested analyzers, by ID
	slots         chan struct{}   // one per analyzer call that may run at once
	rules         map[string]bool // emitted already
	buffer        fileBuffer
	reportedRules map[ruleLocation]string // by the analyzer that reported first
	percent       int                     // emitted last
	tracker       *progress
	running       sync.WaitGroup // Project analyzers
	checkpoints   *checkpoints   // of a live scan
	redacted      redactedLines
}

// planJobs creates a job for every requested analyzer.
func (d *driver) planJobs() error {
	if err := d.resolveAnalyses(); err != nil {
		return err
	}
	for _, analysis := range d.Analyses {
		d.addJobs(analysis)
	}
	slices.SortFunc(d.jobs, func(a, b *job) int { return cmp.Compare(a.ID, b.ID) })
	if len(d.jobs) == 0 {
		return errs.E(errs.Invalid, "there is nothing to analyse with")
	}
	if d.Image == nil && d.Live == nil {
		d.noteEmptyTree()
		d.loadIgnoreFile()
	}
	return nil
}

// resolveAnalyses validates the requested analyses, or selects all that have an analyzer for the
// target, and puts them into the order of finding.Analyses.
func (d *driver) resolveAnalyses() error {
	asked := d.Analyses
	for _, analysis := range asked {
		if !slices.Contains(finding.Analyses, analysis) {
			return errs.E(errs.Invalid, "%q is not an analysis", analysis)
		}
	}
	if len(asked) == 0 {
		for _, a := range d.Analyzers {
			if d.isApplicable(a) {
				asked = append(asked, a.Analysis)
			}
		}
	}
	d.Analyses = slices.DeleteFunc(slices.Clone(finding.Analyses), func(a finding.Analysis) bool {
		return !slices.Contains(asked, a)
	})
	return nil
}

// addJobs adds a job for each analyzer of the analysis. An analysis without an analyzer becomes
// a failed job: it must not look like a clean result.
func (d *driver) addJobs(analysis finding.Analysis) {
	found := false
	for _, a := range d.Analyzers {
		if a.Analysis == analysis && d.isApplicable(a) {
			found = true
			d.jobs = append(d.jobs, newJob(a, d.unmetNeed(a)))
		}
	}
	if !found {
		none := &Analyzer{ID: string(analysis), Analysis: analysis}
		d.jobs = append(d.jobs, newJob(none, d.explainMissing(analysis)))
	}
}

// noteEmptyTree adds a reason to every job when the tree has no files: an empty upload is more
// likely a mistake than a project without vulnerabilities.
func (d *driver) noteEmptyTree() {
	if len(d.tree.files)+len(d.tree.large)+len(d.tree.gaps) > 0 {
		return
	}
	for _, j := range d.jobs {
		if !j.History || len(d.tree.repos) == 0 {
			j.addReason(Reason{Code: "empty", Message: "there are no files: nothing was analyzed"})
		}
	}
}

// loadIgnoreFile reads the ignore file. A malformed one is not applied at all, because a part of
// its patterns could suppress the wrong findings.
func (d *driver) loadIgnoreFile() {
	var err error
	if d.ignored, err = readIgnore(d.tree); err == nil {
		return
	}
	for _, j := range d.jobs {
		if j.Analysis == finding.SAST {
			j.addReason(Reason{Code: "malformed", Path: IgnoreFile,
				Message: "the ignore file was not applied: " + causeText(err)})
		}
	}
}

// isApplicable reports whether the analyzer handles the kind of target: a tree, an image or a
// running application.
func (d *driver) isApplicable(a *Analyzer) bool {
	return (a.Image != nil) == (d.Image != nil) && (a.Live != nil) == (d.Live != nil)
}

// explainMissing returns the reason why there is no analyzer for the analysis.
func (d *driver) explainMissing(analysis finding.Analysis) string {
	for _, a := range d.Analyzers {
		if a.Analysis == analysis && a.Image != nil {
			return "this analysis is about container images: scan one with --image"
		}
		if a.Analysis == analysis && d.Image != nil {
			return fmt.Sprintf("%s is not an analysis of container images", analysis)
		}
		if a.Analysis == analysis && a.Live != nil {
			return "this analysis is about running applications: scan one with merlon dast or merlon api"
		}
		if a.Analysis == analysis && d.Live != nil {
			return fmt.Sprintf("%s is not an analysis of running applications", analysis)
		}
	}
	return fmt.Sprintf("this build has no analyzer for %s", analysis)
}

// unmetNeed returns the reason why the analyzer cannot run on this host; empty if it can.
func (d *driver) unmetNeed(a *Analyzer) string {
	switch {
	case a.Needs.Network && d.Live == nil:
		return "a scan of files makes no network requests"
	case a.Live != nil && d.Live.Dial == nil:
		return "there is no way to the network"
	}
	return ""
}

// describeScan returns the first message of the scan.
func (d *driver) describeScan() *Config {
	c := &Config{Tool: "merlon", Version: d.Version, Root: printablePath(d.tree.name), Files: len(d.tree.files),
		Started: d.Now().UTC(), Analyses: d.Analyses, Profile: d.Profile, Sandbox: d.Sandbox}
	for _, j := range d.jobs {
		c.Analyzers = append(c.Analyzers, j.ID)
	}
	if d.Image == nil && d.Live == nil {
		c.Absent = d.tree.absentPathKinds()
	}
	if i := d.Image; i != nil {
		c.Image = &Image{Name: printablePath(i.Name), Digest: i.Digest, ID: i.ID, Platform: i.Platform,
			Base: truncateText(i.BaseName(), maxText), Layers: len(i.Layers)}
		for _, l := range i.Layers {
			c.Image.Size += l.Size
		}
	}
	if d.Live != nil {
		c.Target = printablePath(d.Live.Target.URL)
	}
	if d.Advisories != nil {
		data := d.Advisories.Data()
		c.Advisories = &data
	}
	return c
}

// emitOutcome sends the messages of one analyzer call to the handler, and adds them to the
// status of the job. Secrets in files wait for the analysis of the Git history.
func (d *driver) emitOutcome(j *job, o *outcome) error {
	d.dropEquivalents(j, o)
	for i := range o.packages {
		if err := d.handler.Package(&o.packages[i]); err != nil {
			return err
		}
	}
	for i := range o.hits {
		if j.File != nil && d.buffer.bufferHit(o.hits[i]) {
			continue
		}
		if err := d.emitFinding(j, &o.hits[i]); err != nil {
			return err
		}
	}
	for i := range o.operations {
		if err := d.handler.Operation(&o.operations[i]); err != nil {
			return err
		}
	}
	j.mergeOutcome(o)
	return nil
}

// isOutsideProfile reports whether the profile of the scan leaves the finding out.
func (d *driver) isOutsideProfile(h *hit) bool {
	return d.Profile == finding.DefaultProfile && (h.rule.Profile == finding.AllProfile || h.points < 1)
}

// emitFinding sends a finding of the job to the handler, preceded by its rule when the rule is
// new. A finding that the profile leaves out is only counted.
func (d *driver) emitFinding(j *job, h *hit) error {
	if d.isOutsideProfile(h) {
		j.status.OutsideProfile++
		return nil
	}
	j.status.Findings++
	if !d.rules[h.rule.ID] {
		d.rules[h.rule.ID] = true
		if err := d.handler.Rule(h.rule); err != nil {
			return err
		}
	}
	d.redacted.redactFinding(&h.Finding)
	return d.handler.Finding(&h.Finding)
}

// emitProgress sends the progress of all analyzers when the percentage has grown.
func (d *driver) emitProgress() error { return d.emitPercent(d.tracker.overallPercent()) }

// emitPercent sends a progress message when the percentage has grown.
func (d *driver) emitPercent(percent int, step string) error {
	if percent <= d.percent {
		return nil
	}
	d.percent = percent
	return d.handler.Progress(&Progress{Percent: percent, Step: step})
}

// errStopped stops the workers when the consumer has returned.
var errStopped = errors.New("the scan was stopped")
