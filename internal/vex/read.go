package vex

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"merlon/internal/finding"
)

// This file holds the forms of the documents, as far as they are read.

// A name is an identifier: a text, as older documents have it, or an object.
type name struct {
	ID      string   `json:"@id"`
	Name    string   `json:"name"`
	Aliases []string `json:"aliases"`
}

// UnmarshalJSON reads either form.
func (n *name) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte(`"`)) {
		return json.Unmarshal(text, &n.Name)
	}
	// A type without the method, or the call would not end.
	type object name
	return json.Unmarshal(text, (*object)(n))
}

// A product is a text, as older documents have it, or an object.
type product struct {
	ID          string `json:"@id"`
	Identifiers struct {
		PURL string `json:"purl"`
	} `json:"identifiers"`
	Subcomponents []product `json:"subcomponents"`
}

// UnmarshalJSON reads either form.
func (p *product) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte(`"`)) {
		return json.Unmarshal(text, &p.ID)
	}
	type object product
	return json.Unmarshal(text, (*object)(p))
}

// packageURLs returns the package URLs of the product, or those of its parts that the
// statement is about.
func (p *product) packageURLs(parts []product) []string {
	if list := append(parts, p.Subcomponents...); len(list) > 0 {
		var out []string
		for i := range list {
			out = append(out, list[i].ID, list[i].Identifiers.PURL)
		}
		return out
	}
	return []string{p.ID, p.Identifiers.PURL}
}

// openStatuses are the statuses of OpenVEX.
var openStatuses = map[finding.VEXStatus]bool{finding.VEXNotAffected: true, finding.VEXFixed: true,
	finding.VEXAffected: true, finding.VEXUnderInvestigation: true}

// readOpenVEX reads an OpenVEX document.
func (b *Document) readOpenVEX(text []byte, file string) error {
	var d struct {
		Author     string `json:"author"`
		Timestamp  string `json:"timestamp"`
		Statements []struct {
			Vulnerability name              `json:"vulnerability"`
			Products      []product         `json:"products"`
			Subcomponents []product         `json:"subcomponents"` // of older documents
			Status        finding.VEXStatus `json:"status"`
			Justification string            `json:"justification"`
			Impact        string            `json:"impact_statement"`
			Action        string            `json:"action_statement"`
			Notes         string            `json:"status_notes"`
			Timestamp     string            `json:"timestamp"`
		} `json:"statements"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	for _, s := range d.Statements {
		if !openStatuses[s.Status] {
			continue // it says nothing that we understand
		}
		// The time decides between two documents about one vulnerability: the later one applies.
		said := finding.VEXStatement{Status: s.Status, Justification: s.Justification,
			Text:   firstNonEmpty(s.Impact, s.Action, s.Notes),
			Author: d.Author, Time: firstNonEmpty(s.Timestamp, d.Timestamp), File: file}
		names := append([]string{s.Vulnerability.Name, s.Vulnerability.ID}, s.Vulnerability.Aliases...)
		for i := range s.Products {
			b.addStatement(names, s.Products[i].packageURLs(s.Subcomponents), said, parseTime(said.Time))
		}
	}
	return nil
}

// A cycloneComponent is a component with the components inside of it.
type cycloneComponent struct {
	Ref        string             `json:"bom-ref"`
	PURL       string             `json:"purl"`
	Components []cycloneComponent `json:"components"`
}

// states gives the status of an analysis of CycloneDX.
// The key is the state of the specification. "false_positive" says that the component is not
// affected, and both kinds of "resolved" say that it is fixed.
var states = map[string]finding.VEXStatus{
	"not_affected": finding.VEXNotAffected, "false_positive": finding.VEXNotAffected, "resolved": finding.VEXFixed,
	"resolved_with_pedigree": finding.VEXFixed, "exploitable": finding.VEXAffected,
	"in_triage": finding.VEXUnderInvestigation,
}

// readCycloneDX reads the analyses of vulnerabilities in a CycloneDX document.
func (b *Document) readCycloneDX(text []byte, file string) error {
	var d struct {
		Metadata struct {
			Timestamp string `json:"timestamp"`
		} `json:"metadata"`
		Components      []cycloneComponent `json:"components"`
		Vulnerabilities []struct {
			ID         string `json:"id"`
			References []struct {
				ID string `json:"id"`
			} `json:"references"`
			Updated  string `json:"updated"`
			Analysis struct {
				State         string `json:"state"`
				Justification string `json:"justification"`
				Detail        string `json:"detail"`
				LastUpdated   string `json:"lastUpdated"`
			} `json:"analysis"`
			Affects []struct {
				Ref string `json:"ref"`
			} `json:"affects"`
		} `json:"vulnerabilities"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	urls := map[string]string{}
	collectURLs(urls, d.Components)
	for _, v := range d.Vulnerabilities {
		status, ok := states[v.Analysis.State]
		if !ok {
			continue // nobody has analysed it
		}
		said := finding.VEXStatement{Status: status, Justification: v.Analysis.Justification, Text: v.Analysis.Detail,
			Time: firstNonEmpty(v.Analysis.LastUpdated, d.Metadata.Timestamp), File: file}
		names := []string{v.ID}
		for _, r := range v.References {
			names = append(names, r.ID)
		}
		var products []string
		for _, a := range v.Affects {
			ref := a.Ref
			if _, inside, link := strings.Cut(ref, "#"); link && strings.HasPrefix(ref, "urn:cdx:") {
				ref = inside // of another document; references of ours are package URLs there
			}
			products = append(products, firstNonEmpty(urls[ref], ref))
		}
		b.addStatement(names, products, said, parseTime(said.Time))
	}
	return nil
}

// collectURLs finds the package URLs of components, and of those inside of them.
func collectURLs(urls map[string]string, list []cycloneComponent) {
	for _, c := range list {
		if c.Ref != "" && c.PURL != "" {
			urls[c.Ref] = c.PURL
		}
		collectURLs(urls, c.Components)
	}
}

// parseTime reads a time; zero when there is none.
func parseTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// firstNonEmpty returns the first text that is not empty.
func firstNonEmpty(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
