// Package bom writes the packages that a scan saw as a bill of materials, in
// CycloneDX 1.6 with what is known of their vulnerabilities, or in SPDX 2.3. What
// could not be looked at has no place in either format: the exit code tells it.
package bom

import (
	"errors"
	"io"

	"merlon/internal/finding"
	"merlon/internal/sbom"
	"merlon/internal/scan"
)

// A Format writes a document.
type Format func(io.Writer, *sbom.Document) error

// New returns a handler that writes to w at Close.
func New(w io.Writer, format Format) *Report {
	return &Report{out: w, format: format, advisories: map[string]*finding.Advisory{}}
}

// A Report is a scan.Handler.
type Report struct {
	scan.Summary
	out        io.Writer
	format     Format
	document   sbom.Document
	advisories map[string]*finding.Advisory // by rule
}

// Rule keeps the advisory of a rule.
func (r *Report) Rule(m *finding.Rule) error {
	if m.Advisory != nil {
		r.advisories[m.ID] = m.Advisory
	}
	return nil
}

// Package keeps a package.
func (r *Report) Package(m *finding.Package) error {
	r.document.Packages = append(r.document.Packages, *m)
	return r.Summary.Package(m)
}

// Finding keeps what a package is affected by.
func (r *Report) Finding(m *finding.Finding) error {
	if a := r.advisories[m.RuleID]; a != nil && m.Package != nil {
		v := sbom.Vulnerability{Advisory: a, Package: m.Package.Package, Upgrade: m.Package.Upgrade}
		if s := m.Package.VEX; s != nil {
			v.State, v.Comment = states[s.Status], s.Text
		}
		r.document.Vulnerabilities = append(r.document.Vulnerabilities, v)
	}
	return r.Summary.Finding(m)
}

// states gives the state of what somebody said.
var states = map[finding.VEXStatus]sbom.State{
	finding.VEXNotAffected: sbom.NotAffected, finding.VEXFixed: sbom.Fixed, finding.VEXAffected: sbom.Exploitable,
	finding.VEXUnderInvestigation: sbom.InTriage,
}

// Close writes the document.
func (r *Report) Close() error {
	if r.Setup.Tool == "" {
		return errors.New("write bill of materials: the scan did not begin")
	}
	d := &r.document
	d.Subject, d.Tool, d.ToolVersion, d.Created = r.Setup.Root, r.Setup.Tool, r.Setup.Version, r.Setup.Started
	return r.format(r.out, d)
}
