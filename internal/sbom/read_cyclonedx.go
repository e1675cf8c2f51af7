package sbom

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// jsonComponent is the part of a component that is used.
type jsonComponent struct {
	// unique inside of the document; dependencies refer to it
	Ref     string `json:"bom-ref"`
	Group   string `json:"group"`
	Name    string `json:"name"`
	Version string `json:"version"`
	// required (the default), optional or excluded
	Scope string `json:"scope"`
	PURL  string `json:"purl"`
	// of several shapes by version; decoded by cycloneLicenses
	Licenses json.RawMessage `json:"licenses"`
	// nested components, decoded one by one to bound the memory
	Components json.RawMessage `json:"components"`
}

// readMetadata reads what the SBOM describes.
func (c *collector) readMetadata(d *json.Decoder) error {
	var m struct {
		Component *jsonComponent `json:"component"`
	}
	if err := d.Decode(&m); err != nil {
		return err
	}
	if m.Component != nil {
		c.bill.Subject = m.Component.Name
		if m.Component.Ref != "" {
			c.addSubject(m.Component.Ref)
		}
	}
	return nil
}

// readCycloneComponent reads a component and those inside of it.
func (c *collector) readCycloneComponent(d *json.Decoder, depth int) error {
	// Nested components recurse, so the depth of the document would be that of the stack.
	if depth > maxDepth {
		return fmt.Errorf("components lie more than %d deep inside each other", maxDepth)
	}
	var x jsonComponent
	line, err := c.readElement(d, &x)
	if err != nil {
		return err
	}
	if depth > 0 {
		line = 0 // the decoder of an inner list begins anew
	}
	if err := c.addComponent(readComponent{ref: x.Ref, group: x.Group, name: x.Name, version: x.Version, url: x.PURL,
		licenses: cycloneLicenses(x.Licenses), dev: x.Scope == string(cdx.ScopeExcluded) ||
			x.Scope == string(cdx.ScopeOptional), line: line}); err != nil {
		return err
	}
	if len(x.Components) == 0 {
		return nil
	}
	inner := json.NewDecoder(strings.NewReader(string(x.Components)))
	return eachElement(inner, func() error { return c.readCycloneComponent(inner, depth+1) })
}

// cycloneLicenses returns the licences of a component: those that somebody concluded,
// else those that are named. A list of another shape has none.
func cycloneLicenses(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	var choices []struct {
		Expression      string `json:"expression"`
		Acknowledgement string `json:"acknowledgement"` // of an expression
		License         struct {
			ID              string `json:"id"`
			Name            string `json:"name"`
			Acknowledgement string `json:"acknowledgement"`
		} `json:"license"`
	}
	if json.Unmarshal(raw, &choices) != nil {
		return nil
	}
	// CycloneDX 1.6 distinguishes "declared" (by the author) from "concluded" (by an analysis);
	// older documents have no acknowledgement, so all of their licences count.
	var all, concluded []string
	for _, l := range choices {
		text := cmp.Or(l.Expression, l.License.ID, l.License.Name)
		if text == "" {
			continue
		}
		all = append(all, text)
		if cmp.Or(l.Acknowledgement, l.License.Acknowledgement) == "concluded" {
			concluded = append(concluded, text)
		}
	}
	if concluded != nil {
		return concluded
	}
	return all
}

// readDependency reads what a component depends on.
func (c *collector) readDependency(d *json.Decoder) error {
	var x struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
	if err := d.Decode(&x); err != nil {
		return err
	}
	for _, child := range x.DependsOn {
		if err := c.addEdge(x.Ref, child); err != nil {
			return err
		}
	}
	return nil
}

// maxEdges bounds what depends on what.
// Real documents have about three dependencies for a component; ten leave room and keep a hostile
// one, n components that all depend on all, from n² edges.
const maxEdges = 10 * MaxComponents

// addEdge notes that one reference depends on another.
func (c *collector) addEdge(from, to string) error {
	if len(c.edges) >= maxEdges {
		return fmt.Errorf("it has more than %d dependencies", maxEdges)
	}
	c.edges = append(c.edges, [2]int32{c.numberOf(from), c.numberOf(to)})
	return nil
}

// xmlComponent is the part of a component that is used.
type xmlComponent struct {
	Ref      string `xml:"bom-ref,attr"`
	Group    string `xml:"group"`
	Name     string `xml:"name"`
	Version  string `xml:"version"`
	Scope    string `xml:"scope"`
	PURL     string `xml:"purl"`
	Licenses struct {
		Expression string `xml:"expression"`
		License    []struct {
			ID   string `xml:"id"`
			Name string `xml:"name"`
		} `xml:"license"`
	} `xml:"licenses"`
	Components []xmlComponent `xml:"components>component"`
}

// An xmlDependency lists what a component needs.
type xmlDependency struct {
	Ref      string          `xml:"ref,attr"`
	Children []xmlDependency `xml:"dependency"`
}

// readXML reads CycloneDX in XML. Entities other than the five of XML itself do
// not exist for it.
func readXML(in io.Reader, c *collector) error {
	d := xml.NewDecoder(in)
	at := func(err error) error {
		line, _ := d.InputPos()
		return fmt.Errorf("line %d: %w", line, err)
	}
	for depth := 0; ; {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return at(err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth == 0 && (t.Name.Local != "bom" ||
				!strings.HasPrefix(t.Name.Space, "http://cyclonedx.org/schema/bom")) {
				// The namespace decides: a file with the root <bom> of another vendor is not
				// CycloneDX.
				return ErrNotSBOM
			}
			entered, err := c.xmlElement(d, t)
			if err != nil {
				return at(err)
			}
			if entered {
				depth++
			}
		case xml.EndElement:
			depth--
		}
	}
}

// xmlElement reads one element; true when its children are still to be read.
func (c *collector) xmlElement(d *xml.Decoder, t xml.StartElement) (bool, error) {
	switch t.Name.Local {
	case "bom":
		// The version is the last part of the namespace, as in http://cyclonedx.org/schema/bom/1.5.
		c.bill.Format, c.bill.Version = "CycloneDX", t.Name.Space[strings.LastIndexByte(t.Name.Space, '/')+1:]
		return true, nil
	case "components", "dependencies":
		return true, nil
	case "metadata":
		var m struct {
			Component xmlComponent `xml:"component"`
		}
		err := d.DecodeElement(&m, &t)
		c.bill.Subject = m.Component.Name
		if m.Component.Ref != "" {
			c.addSubject(m.Component.Ref)
		}
		return false, err
	case "component":
		line, _ := d.InputPos()
		var x xmlComponent
		if err := d.DecodeElement(&x, &t); err != nil {
			return false, err
		}
		return false, c.addXMLComponent(&x, line)
	case "dependency":
		var x xmlDependency
		if err := d.DecodeElement(&x, &t); err != nil {
			return false, err
		}
		for _, child := range x.Children {
			if err := c.addEdge(x.Ref, child.Ref); err != nil {
				return false, err
			}
		}
		return false, nil
	}
	// Services, vulnerabilities, compositions and signatures are not part of the inventory.
	return false, d.Skip()
}

// addXMLComponent adds a component and those inside of it.
func (c *collector) addXMLComponent(x *xmlComponent, line int) error {
	var licenses []string
	if x.Licenses.Expression != "" {
		licenses = append(licenses, x.Licenses.Expression)
	}
	for _, l := range x.Licenses.License {
		if l.ID != "" {
			licenses = append(licenses, l.ID)
		} else if l.Name != "" {
			licenses = append(licenses, l.Name)
		}
	}
	err := c.addComponent(readComponent{ref: x.Ref, group: x.Group, name: x.Name, version: x.Version,
		url:      strings.TrimSpace(x.PURL),
		licenses: licenses,
		dev:      x.Scope == string(cdx.ScopeExcluded) || x.Scope == string(cdx.ScopeOptional), line: line})
	for i := range x.Components {
		if err != nil {
			return err
		}
		err = c.addXMLComponent(&x.Components[i], line)
	}
	return err
}
