package sbom

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// jsonReference is a reference to elsewhere.
type jsonReference struct {
	Type    string `json:"referenceType"`
	Locator string `json:"referenceLocator"`
}

// spdxPackage reads a package.
func (c *collector) spdxPackage(d *json.Decoder) error {
	var x struct {
		ID        string          `json:"SPDXID"`
		Name      string          `json:"name"`
		Version   string          `json:"versionInfo"`
		Declared  string          `json:"licenseDeclared"`
		Concluded string          `json:"licenseConcluded"`
		Purpose   string          `json:"primaryPackagePurpose"`
		Refs      []jsonReference `json:"externalRefs"`
	}
	line, err := c.readElement(d, &x)
	if err != nil {
		return err
	}
	r := readComponent{ref: x.ID, name: x.Name, version: x.Version, line: line,
		licenses: spdxLicenses(x.Concluded, x.Declared)}
	for _, ref := range x.Refs {
		if ref.Type == "purl" {
			r.url = ref.Locator
		}
	}
	return c.addComponent(r)
}

// spdxLicenses returns the concluded licence, else the declared one.
func spdxLicenses(concluded, declared string) []string {
	for _, l := range []string{concluded, declared} {
		// NOASSERTION says that nobody looked, NONE that there is no licence: neither names one.
		if l != "" && l != noAssertion && l != "NONE" {
			return []string{l}
		}
	}
	return nil
}

// readRelationship reads how two elements relate.
func (c *collector) readRelationship(d *json.Decoder) error {
	var x struct {
		From string `json:"spdxElementId"`
		To   string `json:"relatedSpdxElement"`
		Kind string `json:"relationshipType"`
	}
	if err := d.Decode(&x); err != nil {
		return err
	}
	return c.addRelationship(x.From, x.Kind, x.To)
}

// addRelationship uses the relationships that say what depends on what (SPDX 2.3, clause
// 11): "A DEPENDS_ON B", "A CONTAINS B", "B DEPENDENCY_OF A" and its kinds.
func (c *collector) addRelationship(from, kind, to string) error {
	kind = strings.ToUpper(kind)
	switch {
	case kind == "DESCRIBES" && from == "SPDXRef-DOCUMENT":
		c.addSubject(to)
	case kind == "DESCRIBED_BY" && to == "SPDXRef-DOCUMENT":
		c.addSubject(from)
	// Several generators write only CONTAINS, so it counts as a dependency.
	case kind == "DEPENDS_ON" || kind == "CONTAINS":
		return c.addEdge(from, to)
	// Besides DEPENDENCY_OF there are BUILD_, DEV_, TEST_, OPTIONAL_, PROVIDED_ and RUNTIME_.
	case strings.HasSuffix(kind, "DEPENDENCY_OF"):
		if strings.HasPrefix(kind, "DEV_") || strings.HasPrefix(kind, "TEST_") {
			c.developing = append(c.developing, c.numberOf(from))
		}
		return c.addEdge(to, from)
	}
	return nil
}

// maxTagLine bounds a line of a tag-value document, in bytes.
// Lines are short; the texts of licences span several. Without a bound the scanner would buffer a
// file of one line.
const maxTagLine = 1 << 20

// A tagReader reads SPDX 2 as tag-value text, where a package begins with its name
// and ends with the next one or with a file.
type tagReader struct {
	c    *collector
	open *readComponent // the package that is being read; nil outside
	// the licences of the open package; "" until their lines come
	concluded, declared string
	inText              bool // inside of a text of several lines
}

// readTagValue reads SPDX as lines of tags and values.
func readTagValue(in io.Reader, c *collector) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 1<<16), maxTagLine)
	t := tagReader{c: c}
	number := 0
	for lines.Scan() {
		number++
		if err := t.readLine(lines.Text(), number); errors.Is(err, ErrNotSBOM) {
			return err
		} else if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", number+1, err)
	}
	return t.finishPackage()
}

// finishPackage adds the package that is being read.
func (t *tagReader) finishPackage() error {
	if t.open == nil {
		return nil
	}
	t.open.licenses = spdxLicenses(t.concluded, t.declared)
	r := *t.open
	t.open, t.concluded, t.declared = nil, "", ""
	return t.c.addComponent(r)
}

// readLine reads one line. What comes before the version of the format can only be a
// remark.
func (t *tagReader) readLine(line string, number int) error {
	if t.inText {
		t.inText = !strings.Contains(line, "</text>")
		return nil
	}
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return nil
	}
	tag, value, ok := strings.Cut(line, ":")
	if t.c.bill.Format == "" && (!ok || tag != "SPDXVersion") {
		return ErrNotSBOM
	}
	value = strings.TrimSpace(value)
	t.inText = strings.HasPrefix(value, "<text>") && !strings.Contains(value, "</text>")
	switch tag {
	case "SPDXVersion":
		t.c.bill.Format, t.c.bill.Version = "SPDX", strings.TrimPrefix(value, "SPDX-")
	case "DocumentName":
		t.c.bill.Subject = value
	case "PackageName":
		err := t.finishPackage()
		t.open = &readComponent{name: value, line: number}
		return err
	case "FileName":
		return t.finishPackage()
	case "Relationship":
		if f := strings.Fields(value); len(f) == 3 {
			return t.c.addRelationship(f[0], f[1], f[2])
		}
	default:
		if t.open != nil {
			t.property(tag, value)
		}
	}
	return nil
}

// property reads what is said of the open package.
func (t *tagReader) property(tag, value string) {
	switch tag {
	case "SPDXID":
		t.open.ref = value
	case "PackageVersion":
		t.open.version = value
	case "PackageLicenseConcluded":
		t.concluded = value
	case "PackageLicenseDeclared":
		t.declared = value
	case "ExternalRef":
		if f := strings.Fields(value); len(f) == 3 && f[1] == "purl" {
			t.open.url = f[2]
		}
	}
}
