package sbom

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"merlon/internal/finding"
)

// A ParsedDocument is what was read of a bill of materials.
type ParsedDocument struct {
	Format   string // "CycloneDX" or "SPDX"
	Version  string // of the format, as written
	Subject  string // what it describes; may be empty
	Packages []finding.Package

	// Unnamed counts components that carry no package URL of an ecosystem, so that
	// nothing can be looked up for them. A few of their names are in Examples.
	Unnamed  int
	Examples []string
}

// MaxComponents bounds the components of one bill, because it is somebody else's.
const MaxComponents = 2_000_000

// maxDepth bounds how deep components and unread values lie inside each other.
const maxDepth = 64

// ErrNotSBOM says that a text is no bill of materials at all.
var ErrNotSBOM = errors.New("it is neither a CycloneDX nor an SPDX document")

// Read reads a bill of materials in any of the formats, told apart by content.
// Packages bear no path; their order is that of the bill. An error names what is
// wrong and, where known, the line.
func Read(r io.Reader) (*ParsedDocument, error) {
	lines := &lineCounter{r: r}
	in := bufio.NewReaderSize(lines, 1<<16)
	if bom, err := in.Peek(3); err == nil && bytes.Equal(bom, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3) // they were just seen
	}
	var first byte
	for {
		b, err := in.ReadByte()
		if err != nil {
			return nil, ErrNotSBOM
		}
		if !strings.ContainsRune(" \t\r\n", rune(b)) {
			first = b
			break
		}
	}
	if err := in.UnreadByte(); err != nil {
		return nil, err
	}
	c := &collector{lines: lines, numbers: map[string]int32{}, index: map[int32]int{}, root: map[int32]bool{},
		spdx3: spdx3{expressions: map[string]string{}, declared: map[string]string{}, concluded: map[string]string{}}}
	var err error
	switch first {
	case '{':
		err = readJSON(in, c)
	case '<':
		err = readXML(in, c)
	default:
		err = readTagValue(in, c)
	}
	if err != nil {
		return nil, err
	}
	if c.bill.Format == "" {
		return nil, ErrNotSBOM
	}
	c.countUnnamed()
	c.setLicenses3()
	c.connectGraph()
	return &c.bill, nil
}

// A collector gathers components and what depends on what. References are numbered:
// a bill may name each of them many times.
type collector struct {
	bill  ParsedDocument
	lines *lineCounter

	// components so far, named or not
	seen       int
	numbers    map[string]int32 // by reference
	index      map[int32]int    // place in bill.Packages by reference
	unnamed    []readComponent  // those without a package URL; at most MaxComponents
	developing []int32          // references of what is for development only
	root       map[int32]bool   // references of the subject
	// from what depends to what it depends on
	edges [][2]int32
	spdx3 spdx3
}

// numberOf returns the number of a reference.
func (c *collector) numberOf(ref string) int32 {
	n, ok := c.numbers[ref]
	if !ok {
		// int32 suffices: MaxComponents and maxEdges bound the references. It halves the memory of
		// edges.
		n = int32(len(c.numbers))
		c.numbers[ref] = n
	}
	return n
}

// addSubject says that the SBOM is about the reference.
func (c *collector) addSubject(ref string) { c.root[c.numberOf(ref)] = true }

// readComponent is a component as any of the formats writes it.
type readComponent struct {
	ref, group, name, version, url string
	licenses                       []string
	dev                            bool
	line                           int
}

// addComponent adds a component.
func (c *collector) addComponent(r readComponent) error {
	if c.seen++; c.seen > MaxComponents {
		return fmt.Errorf("it has more than %d components", MaxComponents)
	}
	p := finding.Package{Licenses: r.licenses, Dev: r.dev, Line: r.line}
	if r.url == "" || !parsePackage(&p, r.url) {
		c.unnamed = append(c.unnamed, readComponent{ref: r.ref, group: r.group, name: r.name, version: r.version})
		return nil
	}
	if p.Version == "" {
		p.Version = r.version
	}
	if r.ref != "" {
		c.index[c.numberOf(r.ref)] = len(c.bill.Packages)
	}
	c.bill.Packages = append(c.bill.Packages, p)
	return nil
}

// countUnnamed says how many components nothing can be looked up for: those without a
// package URL that are not the subject itself.
func (c *collector) countUnnamed() {
	for _, r := range c.unnamed {
		if r.ref != "" && c.root[c.numberOf(r.ref)] {
			continue
		}
		if c.bill.Unnamed++; len(c.bill.Examples) < 5 {
			c.bill.Examples = append(c.bill.Examples, strings.TrimSpace(strings.TrimPrefix(r.group+"/"+r.name, "/")+" "+
				r.version))
		}
	}
	for _, ref := range c.developing {
		if i, ok := c.index[ref]; ok {
			c.bill.Packages[i].Dev = true
		}
	}
}

// connectGraph says which packages are direct, and how the others came in: by the shortest
// path from the subject, and among those the first.
func (c *collector) connectGraph() {
	if len(c.edges) == 0 {
		return
	}
	children := map[int32][]int32{}
	for _, e := range c.edges {
		children[e[0]] = append(children[e[0]], e[1])
	}
	names := make([]string, len(c.numbers))
	for name, n := range c.numbers {
		names[n] = name
	}
	byName := func(a, b int32) int { return cmp.Compare(names[a], names[b]) }
	// Breadth first, so that each package is reached on a shortest path; sorted by name, so that
	// the path is the same each time.
	queue := slices.SortedFunc(maps.Keys(c.root), byName)
	done := maps.Clone(c.root)
	for len(queue) > 0 {
		ref := queue[0]
		queue = queue[1:]
		list := children[ref]
		slices.SortFunc(list, byName)
		for _, child := range list {
			if !done[child] {
				done[child] = true
				queue = append(queue, child)
				c.setParent(ref, child)
			}
		}
	}
}

// setParent writes down that the child came in through the parent.
func (c *collector) setParent(parent, child int32) {
	to, ok := c.index[child]
	if !ok {
		return
	}
	p := &c.bill.Packages[to]
	if c.root[parent] {
		p.Scope = finding.Direct
		return
	}
	p.Scope = finding.Transitive
	if from, ok := c.index[parent]; ok {
		via := c.bill.Packages[from]
		if len(via.Via) < maxDepth {
			p.Via = append(slices.Clone(via.Via), via.Name+"@"+via.Version)
		}
	}
}

// readJSON reads the members of the document one by one. CycloneDX says what it is
// in "bomFormat", SPDX in "spdxVersion"; either may come after the components.
func readJSON(in io.Reader, c *collector) error {
	d := json.NewDecoder(in)
	if _, err := d.Token(); err != nil {
		return c.errorAtLine(d, err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return c.errorAtLine(d, err)
		}
		name, _ := key.(string)
		if err := c.readMember(d, name); err != nil {
			return c.errorAtLine(d, err)
		}
	}
	_, err := d.Token()
	return c.errorAtLine(d, err)
}

// errorAtLine adds the line to an error of reading.
func (c *collector) errorAtLine(d *json.Decoder, err error) error {
	if err == nil {
		return nil
	}
	// A document that ends early is an error here, and not the end of the input.
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("line %d: %w", c.lines.lineAt(d.InputOffset()), err)
}

// readMember reads one member of the document.
func (c *collector) readMember(d *json.Decoder, name string) error {
	switch name {
	case "bomFormat":
		return readText(d, func(s string) { c.bill.Format = s })
	case "specVersion":
		return readText(d, func(s string) { c.bill.Version = s })
	case "spdxVersion":
		c.bill.Format = "SPDX"
		return readText(d, func(s string) { c.bill.Version = strings.TrimPrefix(s, "SPDX-") })
	case "name":
		return readText(d, func(s string) { c.bill.Subject = s })
	case "metadata":
		return c.readMetadata(d)
	case "components":
		return eachElement(d, func() error { return c.readCycloneComponent(d, 0) })
	case "dependencies":
		return eachElement(d, func() error { return c.readDependency(d) })
	case "packages":
		return eachElement(d, func() error { return c.spdxPackage(d) })
	case "@context":
		return c.readContext(d)
	case "@graph":
		return eachElement(d, func() error { return c.readElement3(d) })
	case "documentDescribes":
		return eachElement(d, func() error { return readText(d, c.addSubject) })
	case "relationships":
		return eachElement(d, func() error { return c.readRelationship(d) })
	}
	return skipValue(d)
}

// readText reads a string; anything else is skipped.
func readText(d *json.Decoder, use func(string)) error {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return err
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		use(s)
	}
	return nil
}

// readElement reads an element of a list into a value, and returns the line on which it
// begins. The decoder knows only where an element ends, so it is read as a text first.
func (c *collector) readElement(d *json.Decoder, v any) (line int, err error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return 0, err
	}
	return c.lines.lineAt(d.InputOffset() - int64(len(raw))), json.Unmarshal(raw, v)
}

// eachElement calls do before each element of an array. null stands for an empty one.
func eachElement(d *json.Decoder, do func() error) error {
	t, err := d.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return errors.New("a list is expected here")
	}
	for d.More() {
		if err := do(); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// skipValue reads past a value without keeping it.
func skipValue(d *json.Decoder) error {
	depth := 0
	for {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// A lineCounter knows the line of each place in what was last read through it. It
// keeps the places of at most maxBreaks line breaks, so that a file of nothing else
// costs no more than another.
type lineCounter struct {
	r      io.Reader
	offset int64
	before int     // line breaks that are no longer kept
	breaks []int64 // offsets of the others
}

// maxBreaks bounds the memory for line breaks to 8 MiB. Lines of elements begin within what was
// read last, so older breaks are only counted.
const maxBreaks = 1 << 20

// Read reads and notes where lines begin.
func (l *lineCounter) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	for i, c := range b[:n] {
		if c == '\n' {
			l.breaks = append(l.breaks, l.offset+int64(i))
		}
	}
	if len(l.breaks) > maxBreaks {
		gone := len(l.breaks) / 2
		l.before += gone
		l.breaks = append(l.breaks[:0], l.breaks[gone:]...)
	}
	l.offset += int64(n)
	return n, err
}

// lineAt returns the line of the position, beginning at 1. White space before the document
// makes it no more than a few lines wrong.
func (l *lineCounter) lineAt(offset int64) int {
	i, _ := slices.BinarySearch(l.breaks, offset)
	return l.before + i + 1
}
