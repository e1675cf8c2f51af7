// Package image examines a container image: the packages in its layers and the
// known vulnerabilities of them, secrets in any of its layers, and its
// configuration.
//
// Each layer is read once, from the lowest to the highest, and nothing of it is
// unpacked: what somebody wants of a file is taken while it passes by. What a later
// layer hides is known when that layer has passed.
package image

import (
	"context"
	_ "embed" // the manual

	"merlon/internal/finding"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer examines a container image.
var Analyzer = &scan.Analyzer{
	ID:       "container/image",
	Version:  1,
	Analysis: finding.Container,
	Doc:      doc,
	Rules:    listRules,
	Needs:    scan.Needs{Advisories: true},
	Image:    examineImage,
}

// examineImage examines the image: layers first, then packages, configuration and secrets.
func examineImage(p *scan.ImagePass) error {
	e, err := newExamination(p)
	if err != nil {
		return err
	}
	if err := e.readLayers(); err != nil {
		return err
	}
	p.CountFiles(e.looked)
	d := e.findDistribution()
	p.ReportOS(d.describeOS())
	packages := e.listPackages(d)
	for _, item := range packages {
		p.Package(item.Package)
	}
	e.reportUnknownRelease(d, packages)
	if err := checkPackages(p, packages); err != nil {
		return err
	}
	e.reportSecrets()
	e.reportFiles()
	return e.checkConfiguration()
}

// contextError returns why the context ended, or nil.
func contextError(ctx context.Context) error { return ctx.Err() }
