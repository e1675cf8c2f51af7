package vex

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// Mark returns a handler that puts what the book says onto the findings that go to
// the next one.
func (b *Document) Mark(next scan.Handler) scan.Handler {
	if len(b.entries) == 0 {
		return next
	}
	return &marker{Handler: next, book: b, advisories: map[string]*finding.Advisory{}}
}

// A marker marks the findings that statements speak of, and hands them on.
type marker struct {
	scan.Handler
	book       *Document
	advisories map[string]*finding.Advisory // by rule
}

// Rule keeps the advisory of a rule.
func (m *marker) Rule(r *finding.Rule) error {
	if r.Advisory != nil {
		m.advisories[r.ID] = r.Advisory
	}
	return m.Handler.Rule(r)
}

// Finding marks a vulnerable package of which something was said.
func (m *marker) Finding(f *finding.Finding) error {
	if a := m.advisories[f.RuleID]; a != nil && f.Package != nil {
		if s := m.book.Apply(f.Package, a); s != nil {
			marked, match := *f, *f.Package
			match.VEX, marked.Package = s, &match
			f = &marked
		}
	}
	return m.Handler.Finding(f)
}

// NewReport returns a handler that writes an OpenVEX document: what was said of
// each vulnerable package, and of the others that nobody has looked yet.
func NewReport(w io.Writer) *Report {
	return &Report{out: w, advisories: map[string]*finding.Advisory{}, said: map[string]*statement{}}
}

// A Report is a scan.Handler.
type Report struct {
	scan.Summary
	out        io.Writer
	advisories map[string]*finding.Advisory // by rule
	// by advisory and what is said of it: packages with the same status share a statement
	said map[string]*statement
}

// statement and vulnerability are what OpenVEX 0.2.0 calls so.
type statement struct {
	Vulnerability vulnerability     `json:"vulnerability"`
	Products      []subject         `json:"products"`
	Status        finding.VEXStatus `json:"status"`
	Justification string            `json:"justification,omitempty"`
	Impact        string            `json:"impact_statement,omitempty"`
	Action        string            `json:"action_statement,omitempty"`
	Timestamp     string            `json:"timestamp,omitempty"`
}

// A vulnerability names what a statement speaks of.
type vulnerability struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Aliases     []string `json:"aliases,omitempty"`
}

// A subject is a product, or a part of one.
type subject struct {
	ID string `json:"@id"`
}

// Rule keeps the advisory of a rule.
func (r *Report) Rule(m *finding.Rule) error {
	if m.Advisory != nil {
		r.advisories[m.ID] = m.Advisory
	}
	return nil
}

// Finding keeps what is said of a vulnerable package. Packages without a package
// URL have no name in OpenVEX.
func (r *Report) Finding(m *finding.Finding) error {
	if err := r.Summary.Finding(m); err != nil {
		return err
	}
	a := r.advisories[m.RuleID]
	if a == nil || m.Package == nil || m.Package.Package.PURL == "" {
		return nil
	}
	// A match that nobody has judged is "under investigation", the only honest status.
	said := finding.VEXStatement{Status: finding.VEXUnderInvestigation}
	if m.Package.VEX != nil {
		said = *m.Package.VEX
	}
	key := fmt.Sprintf("%q %+v", a.ID, said)
	s := r.said[key]
	if s == nil {
		s = &statement{Vulnerability: vulnerability{Name: a.ID, Description: a.Summary}, Status: said.Status,
			Timestamp: said.Time}
		for _, alias := range a.Aliases {
			if alias != a.ID {
				s.Vulnerability.Aliases = append(s.Vulnerability.Aliases, alias)
			}
		}
		s.fillReason(said, m.Package.Upgrade)
		r.said[key] = s
	}
	s.addProduct(m.Package.Package.PURL)
	for i := range m.Package.Also {
		s.addProduct(m.Package.Also[i].Package.PURL)
	}
	return nil
}

// addProduct adds a product that the statement is about.
func (s *statement) addProduct(url string) {
	if product := (subject{url}); url != "" && !slices.Contains(s.Products, product) {
		s.Products = append(s.Products, product)
	}
}

// justifications are those that OpenVEX has.
// CycloneDX has others ("code_not_reachable"); those go into the text.
var justifications = []string{"component_not_present", "vulnerable_code_not_present",
	"vulnerable_code_not_in_execute_path",
	"vulnerable_code_cannot_be_controlled_by_adversary", "inline_mitigations_already_exist"}

// fillReason fills in why. What is not affected needs a justification or words, what is
// affected something to do.
func (s *statement) fillReason(said finding.VEXStatement, upgrade string) {
	switch said.Status {
	case finding.VEXNotAffected:
		if s.Impact = said.Text; slices.Contains(justifications, said.Justification) {
			s.Justification = said.Justification
		} else {
			s.Impact = cmp.Or(said.Text, said.Justification, "no reason was given")
		}
	case finding.VEXAffected:
		if s.Action = said.Text; s.Action == "" && upgrade != "" {
			s.Action = "upgrade to " + upgrade
		}
		// OpenVEX requires an action_statement for "affected".
		s.Action = cmp.Or(s.Action, "no version that clears it is known")
	}
}

// Close writes the document. The same scan writes the same one.
func (r *Report) Close() error {
	if r.Setup.Tool == "" {
		return errors.New("write OpenVEX document: the scan did not begin")
	}
	list := make([]*statement, 0, len(r.said))
	for _, s := range r.said {
		slices.SortFunc(s.Products, func(a, b subject) int { return cmp.Compare(a.ID, b.ID) })
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *statement) int {
		return cmp.Or(cmp.Compare(a.Vulnerability.Name, b.Vulnerability.Name),
			cmp.Compare(a.Products[0].ID, b.Products[0].ID), cmp.Compare(a.Status, b.Status))
	})
	body, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("write OpenVEX document: %w", err)
	}
	started := r.Setup.Started.UTC().Format(time.RFC3339)
	// Derived from the content and the time of the scan, so that the document is reproducible.
	id := uuid.NewHash(sha256.New(), uuid.NameSpaceURL, append(body, started...), 5)
	out := json.NewEncoder(r.out)
	out.SetIndent("", "  ")
	err = out.Encode(struct {
		Context    string          `json:"@context"`
		ID         string          `json:"@id"`
		Author     string          `json:"author"`
		Timestamp  string          `json:"timestamp"`
		Version    int             `json:"version"`
		Tooling    string          `json:"tooling"`
		Statements json.RawMessage `json:"statements"`
	}{"https://openvex.dev/ns/v0.2.0", "urn:uuid:" + id.String(), r.Setup.Tool, started, 1, r.Setup.Tool + " " +
		r.Setup.Version, body})
	if err != nil {
		return fmt.Errorf("write OpenVEX document: %w", err)
	}
	return nil
}
