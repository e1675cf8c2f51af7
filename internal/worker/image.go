package worker

import (
	"context"
	"errors"
	"os"
	"slices"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
)

// This file fetches container images, and tells those of a project apart.

// scanImage fetches the run's image into a folder below dir and scans it. The child has
// no network: all that it gets is the folder.
func (w *Worker) scanImage(ctx context.Context, rec *recorder, c child) error {
	if w.FetchImage == nil {
		return run.Fail(run.CodeImage, "this worker fetches no images")
	}
	if c.run.NeedsMasterKey() && !w.Sealed {
		return &run.Failure{Message: "the image needs a stored credential, and this worker has no master key: set " +
			"master-key-file", Code: run.CodeNoKey, Category: run.CategoryAuthentication}
	}
	rec.meter.recordProgress(0, "fetching the image")
	if err := os.Mkdir(c.tree, 0o700); err != nil {
		return markRetry(err)
	}
	limited, cancel := context.WithTimeoutCause(ctx, w.TimeLimit, errTimeLimit)
	defer cancel()
	if err := w.FetchImage(limited, c.run, c.tree); err != nil {
		if ctx.Err() == nil && limited.Err() != nil {
			err = errs.E(errs.Unavailable, "the registry took longer than %v", w.TimeLimit)
		}
		return fetchFailure(ctx, err)
	}
	return w.recordChild(ctx, rec, c)
}

// fetchFailure says how a run goes on whose image could not be fetched. Only what
// another try may mend is tried again.
func fetchFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var failure *run.Failure
	if errors.As(err, &failure) {
		return failure
	}
	fail := func(code int, c run.Category) *run.Failure {
		return &run.Failure{Message: "the image was not fetched: " + publicMessage(err), Code: code, Category: c}
	}
	switch {
	case errs.Is(err, errs.Forbidden), errs.Is(err, errs.Conflict): // the latter of a credential that holds no longer
		return fail(run.CodeImageAccess, run.CategoryAuthentication)
	case errs.Is(err, errs.NotFound), errs.Is(err, errs.Invalid), errs.Is(err, errs.TooLarge):
		return fail(run.CodeImage, run.CategoryScan)
	case errs.Is(err, errs.Unavailable), errs.Is(err, errs.TooMany):
		return &run.RetryError{Err: err, Failure: fail(run.CodeRegistry, run.CategoryNetwork)}
	}
	return markRetry(err)
}

// An inImage is a Handler that says of which image what it hears is: it puts the
// name of the image's repository in front of paths and into fingerprints. Images of
// one project hold files of the same names, and what is missing in one says nothing
// of another. Tags and digests stay out of it: an image that is built again has
// other ones, and its flaws are the same.
type inImage struct {
	scan.Handler
	root string // see run.Image.Root
}

// Package says in which image the package is.
func (i inImage) Package(p *finding.Package) error {
	return i.Handler.Package(i.placePackage(p))
}

// placePackage returns a copy of the package with its path below the name of the image.
func (i inImage) placePackage(p *finding.Package) *finding.Package {
	told := *p
	told.Path = i.root + p.Path
	if p.Manifest != nil {
		told.Manifest = &finding.PackageLocation{Path: i.root + p.Manifest.Path, Line: p.Manifest.Line}
	}
	return &told
}

// Finding says in which image the flaw is.
func (i inImage) Finding(f *finding.Finding) error {
	told := *f
	told.Location.Path = i.root + f.Location.Path
	told.Fingerprint = f.Fingerprint.InComponent(i.root)
	told.Steps = i.placeSteps(f.Steps)
	told.Also = slices.Clone(f.Also)
	for n := range told.Also {
		told.Also[n].Path = i.root + told.Also[n].Path
	}
	if f.Package != nil {
		match := *f.Package
		match.Package = *i.placePackage(&f.Package.Package)
		if match.Reach != nil {
			reach := *match.Reach
			reach.Steps = i.placeSteps(reach.Steps)
			match.Reach = &reach
		}
		told.Package = &match
	}
	return i.Handler.Finding(&told)
}

// placeSteps returns copies of the steps with their paths below the name of the image.
func (i inImage) placeSteps(steps []finding.Step) []finding.Step {
	out := slices.Clone(steps)
	for n := range out {
		out[n].Location.Path = i.root + out[n].Location.Path
	}
	return out
}

// Status limits what the analyzer speaks of to the image. A reason without a path
// stays one: then nothing in the image is sure.
func (i inImage) Status(s *scan.Status) error {
	told := *s
	told.Root = i.root
	told.Reasons = slices.Clone(s.Reasons)
	for n, r := range told.Reasons {
		if r.Path != "" && r.Path != "/" && r.Path != "." {
			told.Reasons[n].Path = i.root + r.Path
		}
	}
	return i.Handler.Status(&told)
}
