// Package notice holds the licences of what the binary contains that others wrote: the
// Go modules that are linked into it with the grammars among them, the standard library
// of Go, the library of infrastructure queries, and sample data. Their licences ask that
// whoever gets the binary gets the copyright notices and the texts with it.
//
// The list and the texts are generated from the module cache; a test of the generator
// fails when go.mod and the list differ.
package notice

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the list and the texts
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

//go:generate go run ./generate .

// componentsText has a line for each component: name, version, licence, and the texts
// as FILE=DIGEST, separated by tabs.
//
//go:embed components.txt
var componentsText string

// textsGzip holds the distinct texts by digest, as JSON.
//
//go:embed texts.json.gz
var textsGzip []byte

// A Component is a work of others of which the binary contains a part.
type Component struct {
	Name    string // the path of a Go module, or what else it is called
	Version string
	License string // an SPDX expression
	Texts   []Text
}

// A Text is a file of a component that comes with every copy: a licence or a notice.
type Text struct {
	File   string // the path within the component
	Digest string // the key of the text
}

// Components returns what the binary contains, by name.
func Components() []Component {
	var out []Component
	for line := range strings.Lines(componentsText) {
		if c, ok := parseComponent(strings.TrimSuffix(line, "\n")); ok {
			out = append(out, c)
		}
	}
	return out
}

// parseComponent parses a line of the list; ok is false for a comment.
func parseComponent(line string) (c Component, ok bool) {
	if strings.HasPrefix(line, "#") {
		return c, false
	}
	fields := strings.Split(line, "\t")
	if len(fields) < 4 {
		return c, false
	}
	c = Component{Name: fields[0], Version: fields[1], License: fields[2]}
	for _, field := range fields[3:] {
		file, digest, _ := strings.Cut(field, "=")
		c.Texts = append(c.Texts, Text{File: file, Digest: digest})
	}
	return c, true
}

// WriteList writes the components as a table: licence, name and version.
func WriteList(w io.Writer) error {
	components := Components()
	license, name := 0, 0
	for _, c := range components {
		license, name = max(license, len(c.License)), max(name, len(c.Name))
	}
	var b strings.Builder
	for _, c := range components {
		fmt.Fprintf(&b, "%-*s  %-*s  %s\n", name, c.Name, license, c.License, c.Version)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sourcesText says where the sources are, as the MPL asks (MPL-2.0, section 3.2).
const sourcesText = `The source code of each Go module is at https://proxy.golang.org/NAME/@v/VERSION.zip.

`

// WriteTexts writes every text once, under the components and files that it belongs to.
// Several components have the same text of the Apache licence, which is most of them.
func WriteTexts(w io.Writer) error {
	texts, err := readTexts(textsGzip)
	if err != nil {
		return err
	}
	owners := map[string][]string{}
	var order []string // by the first component that has the text
	for _, c := range Components() {
		for _, t := range c.Texts {
			if owners[t.Digest] == nil {
				order = append(order, t.Digest)
			}
			owners[t.Digest] = append(owners[t.Digest], fmt.Sprintf("%s %s: %s", c.Name, c.Version, t.File))
		}
	}
	if _, err := io.WriteString(w, sourcesText); err != nil {
		return err
	}
	rule := strings.Repeat("-", 78)
	for _, digest := range order {
		text, ok := texts[digest]
		if !ok {
			return fmt.Errorf("the text %s of %s is missing from the binary", digest, owners[digest][0])
		}
		_, err := fmt.Fprintf(w, "%s\n%s\n%s\n\n%s\n\n", rule, strings.Join(owners[digest], "\n"), rule, text)
		if err != nil {
			return err
		}
	}
	return nil
}

// readTexts returns the texts by digest.
func readTexts(compressed []byte) (map[string]string, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("read the texts of licences: %w", err)
	}
	var out map[string]string
	if err := json.NewDecoder(unpacked).Decode(&out); err != nil {
		return nil, fmt.Errorf("read the texts of licences: %w", err)
	}
	return out, nil
}
