package triage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// This file knows the container images of a branch, and what each of them holds.
//
// Images of one repository share their findings and packages: a flaw is one finding,
// however many tags have it, and what was decided about it holds for all of them. An
// image holds what its last scan reported. What no image holds any more is gone.

// An Image is a container image of a branch, as its last scan saw it. A branch has
// one for each name: an image that is built again under its tag is the same one.
type Image struct {
	ID         string
	ProjectID  tenant.ProjectID
	Branch     string
	Reference  string   // "docker.io/library/nginx:1.27"
	Repository string   // "docker.io/library/nginx"
	Tag        string   // "1.27", or the digest that it was asked for by
	Digest     string   // of the manifest that was scanned
	Platform   string   // "linux/amd64"
	Base       string   // the image that it was built from, where it tells
	OS         *scan.OS // nil where no scan came so far as to tell
	Size       int64    // bytes of the layers as the registry stores them
	Layers     int
	Run        run.ID // the last scan
	State      scan.State
	CreatedAt  time.Time // when it was first scanned
	ScannedAt  time.Time
	Open       map[finding.Severity]int // active findings that the settings show; read, never written
}

// ImageID returns the identifier of an image on a branch of a project.
func ImageID(project tenant.ProjectID, branch string, i *run.Image) string {
	return Derived("image", string(project), branch, i.Reference)
}

// An ImageSort is what repositories of images are sorted by, by its name on the wire.
type ImageSort string

// The sort keys of repositories.
const (
	ByRepository ImageSort = "repositoryName"
	ByTags       ImageSort = "tagCount"
	ByLatestScan ImageSort = "latestScanAt"
)

// ImageSorts lists every sort key.
var ImageSorts = []ImageSort{ByRepository, ByTags, ByLatestScan}

// An ImageQuery is a page of images, or of their repositories.
type ImageQuery struct {
	Branch     string
	Search     string // part of the name with its tag; any case
	Sort       ImageSort
	Descending bool
	Offset     int
	Limit      int
	Severities []finding.Severity // what is counted
}

// An ImageGroup is the images of one repository on a branch.
type ImageGroup struct {
	Repository string
	Branch     string
	Tags       int
	Images     []Image // the ones scanned last, at most MaxGroupedImages
	ScannedAt  time.Time
	Open       map[finding.Severity]int // as of an image; a finding of several images counts once
}

// MaxGroupedImages bounds the images of a group.
const MaxGroupedImages = 500

// An ImageGroupPage is a page of groups.
type ImageGroupPage struct {
	Groups []ImageGroup
	Total  int // groups
	Tags   int // images in all of them
}

// A Class says what of an image a finding or package is about, by its name on the
// wire.
type Class string

// The classes.
const (
	SystemPackages   Class = "os-pkgs"   // of the distribution
	LanguagePackages Class = "lang-pkgs" // of programming languages
	Secrets          Class = "secret"
	Configuration    Class = "config" // how it was built and is run, and modes of files
)

// Classes lists every class.
var Classes = []Class{SystemPackages, LanguagePackages, Secrets, Configuration}

// ClassOf returns the class of a finding in an image; empty for any other finding.
func ClassOf(f *finding.Finding) Class {
	switch {
	case f.Analysis != finding.Container:
		return ""
	case f.Package != nil:
		return PackageClass(&f.Package.Package)
	case f.Secret != nil:
		return Secrets
	}
	return Configuration
}

// PackageClass returns the class of a package in an image; empty for any other.
func PackageClass(p *finding.Package) Class {
	switch {
	case p.Layer == nil:
		return ""
	case p.System():
		return SystemPackages
	}
	return LanguagePackages
}

// ImageContents say what the images of a repository hold on a branch: identifiers of
// findings and packages.
type ImageContents struct {
	Scanned       bool            // one of them was scanned before
	InImage       map[string]bool // what the image holds that is asked about
	InOtherImages map[string]bool // what others hold
	ExpiredImages []string        // images that go with this scan, because there are too many; Others is without them
}

// checkImage checks what a scan says of its image.
func checkImage(i *scan.Image) error {
	if i == nil {
		return nil
	}
	return checkNames("image", i.Name, i.Digest, i.ID, i.Platform, i.Base)
}

// checkNames rejects names that a database cannot store.
func checkNames(what string, names ...string) error {
	if hasNUL(names...) || slices.ContainsFunc(names, func(s string) bool { return len(s) > maxText }) {
		return errs.E(errs.Invalid, "the %s in the scan result contains a NUL character, or is too long", what)
	}
	return nil
}

// imageRecord returns the image of the scan as it is to be recorded, or nil: a scan of
// source, or one that saw nothing of its image.
func (in *ingest) imageRecord() *Image {
	at := slices.IndexFunc(in.report.statuses, func(s scan.Status) bool { return s.Analysis == finding.Container })
	if in.run.Image == nil || at < 0 {
		return nil
	}
	s := in.report.statuses[at]
	if s.State == scan.Failed && len(in.report.entries) == 0 && len(in.report.packages) == 0 {
		return nil
	}
	i := &Image{
		ID: ImageID(in.run.ProjectID, in.run.Branch, in.run.Image), Reference: in.run.Image.Reference,
		Repository: in.run.Image.Repository,
		Tag:        in.run.Image.Tag(), OS: s.OS, State: s.State,
	}
	if c := in.report.config.Image; c != nil {
		i.Digest, i.Platform, i.Base, i.Size, i.Layers = c.Digest, c.Platform, c.Base, c.Size, c.Layers
	}
	return i
}

// readImageContents loads what the images of the repository hold.
func (in *ingest) readImageContents(ctx context.Context) (err error) {
	in.held = &ImageContents{}
	if in.run.Image == nil {
		return nil
	}
	in.held, err = in.Holdings(ctx, in.sc, in.run)
	if err != nil {
		return fmt.Errorf("read images: %w", err)
	}
	return nil
}

// isFirstScan reports whether nobody has looked on this branch at what the scan looked at.
func (in *ingest) isFirstScan() bool {
	if in.run.Target != nil {
		return false // what it looked at has no other path on another branch
	}
	if in.run.Image != nil {
		return !in.held.Scanned
	}
	return !in.branch.Scanned
}

// writeImageContents records what the image holds now: what the scan reported, and what it
// held of what the scan did not look at or does not speak of.
func (in *ingest) writeImageContents(ctx context.Context, w *writer) error {
	if in.run.Image == nil {
		return nil
	}
	findings := map[string]bool{}
	for _, s := range in.plan {
		quiet := s.known < 0 || in.known[s.known].Gone // of what the run does not open
		if !s.quiet || !quiet {
			findings[string(s.id)] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(findings)) {
		if !in.held.InImage[id] {
			w.batch.AddedFindings = append(w.batch.AddedFindings, id)
		}
		if err := w.flushFull(ctx); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(in.report.packages)) {
		if !in.held.InImage[id] {
			w.batch.AddedPackages = append(w.batch.AddedPackages, id)
		}
		if err := w.flushFull(ctx); err != nil {
			return err
		}
	}
	unseen := in.unseenContents()
	for _, id := range slices.Sorted(maps.Keys(in.held.InImage)) {
		if _, listed := in.report.packages[id]; listed || findings[id] || unseen[id] {
			continue
		}
		w.batch.RemovedFromImage = append(w.batch.RemovedFromImage, id)
		if err := w.flushFull(ctx); err != nil {
			return err
		}
	}
	return nil
}

// unseenContents returns what the image held of what the scan did not look at or does not
// speak of.
func (in *ingest) unseenContents() map[string]bool {
	out := map[string]bool{}
	for i := range in.known {
		k := &in.known[i]
		if in.held.InImage[string(k.ID)] && (!in.covered.hasAnalyzed(k.Analyzer, k.Path, k.Rule) ||
			!in.run.CoversSeverity(k.Bucket.Severity)) {
			out[string(k.ID)] = true
		}
	}
	for id, p := range in.packages {
		if in.held.InImage[id] && !in.covered.analyzedByAll(p.analysis(), p.Path) {
			out[id] = true
		}
	}
	return out
}
