// Package vex reads and writes what people say about known vulnerabilities of
// packages: that a product is not affected, or has been mended. OpenVEX
// (https://github.com/openvex/spec, v0.2.0, and 0.0 as far as it differs) and the
// analyses of CycloneDX (https://cyclonedx.org/docs/1.6/json/, vulnerabilities) are
// read; OpenVEX is written.
package vex

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/osv-scalibr/purl"

	"merlon/internal/errs"
	"merlon/internal/finding"
)

// maxDocument bounds a file, in bytes.
const maxDocument = 64 << 20

// Limits of what a book holds: statements about one product under one name, and names
// of one vulnerability.
const (
	maxEntries = 200_000
	maxNames   = 100
)

// A Document holds what was said, by the name of the vulnerability in lower case.
type Document struct {
	entries map[string][]entry
	count   int
	problem string // why no more was taken
}

// Len returns how many statements about one product under one name the book holds.
func (b *Document) Len() int { return b.count }

// An entry is what one statement says of one product.
type entry struct {
	product   purl.PackageURL
	statement finding.VEXStatement
	at        time.Time // zero when unknown
}

// Open reads files of statements. An error names the file.
func Open(paths ...string) (*Document, error) {
	b := &Document{}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, errs.E(errs.Invalid, "cannot read statements: %v", err)
		}
		err = b.Read(f, path)
		_ = f.Close() // read only
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Read adds the statements of a document to the book. name is told in errors, and
// its last part in each statement.
func (b *Document) Read(r io.Reader, name string) error {
	text, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if len(text) > maxDocument {
		return errs.E(errs.Invalid, "%s is larger than %d bytes", name, maxDocument)
	}
	var head struct {
		Context   string `json:"@context"`
		BOMFormat string `json:"bomFormat"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return errs.E(errs.Invalid, "%s is not a JSON document with statements: %v", name, err)
	}
	if b.entries == nil {
		b.entries = map[string][]entry{}
	}
	switch {
	case strings.HasPrefix(head.Context, "https://openvex.dev/ns"):
		err = b.readOpenVEX(text, filepath.Base(name))
	case head.BOMFormat == "CycloneDX":
		err = b.readCycloneDX(text, filepath.Base(name))
	default:
		return errs.E(errs.Invalid, "%s is neither an OpenVEX document nor a CycloneDX one", name)
	}
	if err != nil {
		return errs.E(errs.Invalid, "%s cannot be read: %v", name, err)
	}
	if b.problem != "" {
		return errs.E(errs.TooLarge, "%s %s", name, b.problem)
	}
	return nil
}

// addStatement keeps a statement about products under every name of the vulnerability.
// Products that are not a package URL name nothing that a scan finds.
func (b *Document) addStatement(names, products []string, s finding.VEXStatement, at time.Time) {
	if len(names) > maxNames {
		b.problem = fmt.Sprintf("gives a vulnerability more than %d names", maxNames)
	}
	for _, text := range products {
		if b.problem != "" {
			return
		}
		u, err := purl.FromString(text)
		if err != nil || u.Name == "" {
			continue
		}
		for i, name := range names {
			if name = strings.ToLower(name); name != "" &&
				!slices.ContainsFunc(names[:i], func(o string) bool { return strings.EqualFold(o, name) }) {
				b.entries[name] = append(b.entries[name], entry{u, s, at})
				b.count++
			}
			if b.count > maxEntries {
				b.problem = fmt.Sprintf("has more than %d statements about products", maxEntries)
				return
			}
		}
	}
}

// Find returns the latest statement about a package and an advisory, or nil.
func (b *Document) Find(p *finding.Package, a *finding.Advisory) *finding.VEXStatement {
	u, err := purl.FromString(p.PURL)
	if p.PURL == "" || err != nil {
		return nil
	}
	var latest *entry
	for _, name := range append([]string{a.ID, a.CVE, a.GHSA}, a.Aliases...) {
		list := b.entries[strings.ToLower(name)]
		for i := range list {
			if e := &list[i]; covers(e.product, u) && (latest == nil || !e.at.Before(latest.at)) {
				latest = e
			}
		}
	}
	if latest == nil {
		return nil
	}
	s := latest.statement
	return &s
}

// Apply returns the latest statement about a vulnerable package in all its affected
// versions, or nil: what clears one version clears nothing while another stays.
func (b *Document) Apply(m *finding.PackageMatch, a *finding.Advisory) *finding.VEXStatement {
	s := b.Find(&m.Package, a)
	for i := range m.Also {
		if other := b.Find(&m.Also[i].Package, a); (s == nil || s.Clears()) && !other.Clears() {
			s = other
		}
	}
	return s
}

// Explain says the statement in words, in at most 500 characters.
func Explain(s *finding.VEXStatement) string {
	out := strings.ReplaceAll(string(s.Status), "_", " ")
	if s.Justification != "" {
		out += " (" + s.Justification + ")"
	}
	if s.Text != "" {
		out += ": " + s.Text
	}
	var said []string
	for _, part := range []string{s.Author, s.Time} {
		if part != "" {
			said = append(said, part)
		}
	}
	if len(said) > 0 {
		out += " – " + strings.Join(said, ", ")
	}
	out = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if r < ' ' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(out, "?"))
	if r := []rune(out); len(r) > 500 {
		out = string(r[:499]) + "…"
	}
	return out
}

// Justification returns the word of OpenVEX for why something is not affected that a
// text holds, or "".
func Justification(text string) string {
	for _, j := range justifications {
		if strings.Contains(text, j) {
			return j
		}
	}
	return ""
}

// covers reports whether a product of a statement is the package, or all versions
// of it. What the product says beyond that, such as the architecture, must hold.
func covers(product, p purl.PackageURL) bool {
	if product.Type != p.Type || product.Namespace != p.Namespace || product.Name != p.Name ||
		product.Version != "" && product.Version != p.Version || product.Subpath != "" && product.Subpath != p.Subpath {
		return false
	}
	for _, want := range product.Qualifiers {
		if !slices.Contains(p.Qualifiers, want) {
			return false
		}
	}
	return true
}
