package sbom

import (
	"encoding/json"
	"strings"
)

// This file reads SPDX 3 in JSON-LD (https://spdx.github.io/spdx-spec/v3.0.1/): a
// list of elements of all kinds that refer to each other by their addresses.

// spdx3 is what is known of a document of SPDX 3 besides its packages.
type spdx3 struct {
	expressions map[string]string // of licences, by address
	declared    map[string]string // addresses of licences, by that of a package
	concluded   map[string]string
}

// readContext reads what the names of a document mean; that of SPDX 3 says what it is.
func (c *collector) readContext(d *json.Decoder) error {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return err
	}
	if strings.Contains(string(raw), "spdx.org/rdf/3") {
		c.bill.Format = "SPDX"
	}
	return nil
}

// spdx3Element is an element of any kind that says something of packages.
type spdx3Element struct {
	ID string `json:"spdxId"`
	// "software_Package", "Relationship", "CreationInfo", …
	Type        string `json:"type"`
	Name        string `json:"name"`
	SpecVersion string `json:"specVersion"`
	Version     string `json:"software_packageVersion"`
	URL         string `json:"software_packageUrl"`
	// a list of {externalIdentifierType, identifier}
	Identifiers json.RawMessage `json:"externalIdentifier"`
	Roots       json.RawMessage `json:"rootElement"`
	// of a relationship, together with from and to
	Kind string `json:"relationshipType"`
	// of a LifecycleScopedRelationship: "build", "development", "test", "runtime"
	Scope string `json:"scope"`
	From  string `json:"from"`
	// one address or a list
	To json.RawMessage `json:"to"`
	// of a licence element
	Expression string `json:"simplelicensing_licenseExpression"`
}

// readElement3 reads an element of SPDX 3.
func (c *collector) readElement3(d *json.Decoder) error {
	var x spdx3Element
	line, err := c.readElement(d, &x)
	if err != nil {
		return err
	}
	switch {
	case x.Type == "CreationInfo":
		c.bill.Version = x.SpecVersion
	case x.Type == "SpdxDocument" || x.Type == "software_Sbom" || x.Type == "Bom":
		if x.Type == "SpdxDocument" && x.Name != "" {
			c.bill.Subject = x.Name
		}
		for _, root := range textsOf(x.Roots) {
			c.addSubject(root)
		}
	case x.Expression != "":
		c.spdx3.expressions[x.ID] = x.Expression
	// "Relationship" and "LifecycleScopedRelationship".
	case strings.HasSuffix(x.Type, "Relationship"):
		return c.addRelationship3(&x)
	case strings.HasSuffix(x.Type, "Package"):
		return c.addComponent(readComponent{ref: x.ID, name: x.Name, version: x.Version, url: x.packageURL(),
			line: line})
	}
	return nil
}

// packageURL returns the package URL of a package, which may be in two places.
func (x *spdx3Element) packageURL() string {
	if x.URL != "" {
		return x.URL
	}
	var list []struct {
		Kind  string `json:"externalIdentifierType"`
		Value string `json:"identifier"`
	}
	if json.Unmarshal(x.Identifiers, &list) != nil {
		return "" // none, or one of another form
	}
	for _, i := range list {
		if i.Kind == "packageUrl" || i.Kind == "purl" {
			return i.Value
		}
	}
	return ""
}

// addRelationship3 uses the relationships that say what depends on what, and under which
// licence something is.
func (c *collector) addRelationship3(x *spdx3Element) error {
	for _, to := range textsOf(x.To) {
		switch x.Kind {
		case "dependsOn", "contains":
			// The edge stays; the package counts as one for development.
			if x.Scope == "test" || x.Scope == "development" {
				c.developing = append(c.developing, c.numberOf(to))
			}
			if err := c.addEdge(x.From, to); err != nil {
				return err
			}
		case "describes":
			c.addSubject(to)
		case "hasDeclaredLicense":
			c.spdx3.declared[x.From] = to
		case "hasConcludedLicense":
			c.spdx3.concluded[x.From] = to
		}
	}
	return nil
}

// textsOf returns the strings of a list, or a lone one.
func textsOf(raw json.RawMessage) []string {
	var list []string
	if len(raw) == 0 || json.Unmarshal(raw, &list) == nil {
		return list
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	return nil
}

// setLicenses3 gives the packages of SPDX 3 the licences that relationships name.
func (c *collector) setLicenses3() {
	// Concluded licences come second and replace declared ones. Elements may be in any order, so
	// this runs at the end of the document.
	for _, by := range []map[string]string{c.spdx3.declared, c.spdx3.concluded} {
		for ref, to := range by {
			i, ok := c.index[c.numberOf(ref)]
			if l := spdxLicenses(c.spdx3.expressions[to], ""); ok && l != nil {
				c.bill.Packages[i].Licenses = l
			}
		}
	}
}
