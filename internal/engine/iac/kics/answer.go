package kics

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
)

// queryResult is one result of a query, in its terms.
type queryResult struct {
	document int      // its position in the unit
	key      string   // searchKey: words that lead to the place
	path     []string // searchLine: the path of the value in the document
	whole    bool     // searchLine is there and empty: the file as a whole
	override string   // overrideKey: the version of the format

	kind, name, expected, actual string
}

// readResult takes the fields of a result; it is false when it names no document.
func readResult(result any) (queryResult, bool) {
	fields, ok := result.(map[string]any)
	if !ok {
		return queryResult{}, false
	}
	i, err := strconv.Atoi(printedValue(fields["documentId"]))
	if err != nil || i < 0 {
		return queryResult{}, false
	}
	a := queryResult{
		document: i, key: printedValue(fields["searchKey"]), override: printedValue(fields["overrideKey"]),
		kind: knownName(printedValue(fields["resourceType"])), name: knownName(printedValue(fields["resourceName"])),
		expected: printedValue(fields["keyExpectedValue"]), actual: printedValue(fields["keyActualValue"]),
	}
	if list, ok := fields["searchLine"].([]any); ok {
		a.whole = len(list) == 0
		for _, step := range list {
			a.path = append(a.path, printedValue(step))
		}
	}
	return a, true
}

// printedValue returns a value as queries print it. Some print a number as a text, of
// which comes "%!s(int=3)": places are known by such words again, so they stay as they are
// though the evaluator has another type for numbers now.
func printedValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if strings.Contains(v, "%!") {
			return strings.ReplaceAll(v, "(int64=", "(int=")
		}
		return v
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(v)
}

// knownName returns the name, or "" for what queries write where they know none.
func knownName(s string) string {
	if s == "n/a" || s == "undefined" || s == "null" {
		return ""
	}
	return s
}

// nodeAtPath returns the place that the steps of a result lead to, of an object that of its first
// field; nil where they end before.
func (t *fileTexts) nodeAtPath(d *document.Document, steps []string) *document.Node {
	if len(steps) == 0 || d.Lines == nil {
		return nil
	}
	n, found := d.Lines.Find(steps...)
	if found != len(steps) || n.Line <= 0 {
		return nil
	}
	if t.isObject(d, n) {
		return firstField(n)
	}
	return n
}

// toFlaw finds the position of a result. It is false for one that points into what a
// reference brought in, which is reported where it is written.
func (t *fileTexts) toFlaw(d *document.Document, a queryResult) (Flaw, bool) {
	// "paths.{{/users}}.get.RefMetadata": the reader adds this member to what it resolves.
	last := a.key[strings.LastIndexByte(a.key, '.')+1:]
	if strings.Contains(last, "RefMetadata") {
		return Flaw{}, false
	}
	if d.Platform == document.OpenAPI {
		a = atReference(d, a)
	}
	f := Flaw{
		Document: d, Path: d.Path, Kind: a.kind, Name: a.name, Expected: a.expected, Actual: a.actual, Key: a.key,
		Steps: a.path,
	}
	if a.whole && d.Text != nil {
		f.Line = 1
		return f, true
	}
	// searchLine is exact, searchKey a heuristic over words: the path is tried first.
	if n := t.nodeAtPath(d, a.path); n != nil {
		f.Path, f.Line, f.Column, f.Unknown = d.File(n), n.Line, n.Column, n.Unknown
		return f, true
	}
	n, made := followKey(d, a.key)
	f.Unknown = n != nil && n.Unknown
	if d.Text != nil && !made {
		if line := t.linesOf(d).findLine(a.key); line > 0 {
			f.Line = line
			return f, true
		}
	}
	if n != nil && n.Line > 0 {
		f.Path, f.Line, f.Column = d.File(n), n.Line, n.Column
		return f, true
	}
	f.Line = 1
	return f, true
}

// isObject reports whether a node of Terraform is an object in a list, and not a block:
// its line does not begin with the block's type.
func (t *fileTexts) isObject(d *document.Document, n *document.Node) bool {
	if d.Format != document.HCL || len(n.Fields) == 0 || d.Text == nil || d.File(n) != d.Path {
		return false
	}
	l := t.linesOf(d).text
	if n.Line > len(l) {
		return false
	}
	before, _, ok := strings.Cut(l[n.Line-1], "{")
	return ok && (before == "" || strings.ContainsAny(before, "=[(,"))
}

// firstField returns the field of a node that is written first.
func firstField(n *document.Node) *document.Node {
	at := n
	for _, below := range n.Fields {
		if below.Line > 0 && (at == n || below.Line < at.Line || below.Line == at.Line && below.Column < at.Column) {
			at = below
		}
	}
	return at
}

// atReference moves an answer about what a reference brought in to the reference.
func atReference(d *document.Document, a queryResult) queryResult {
	plain, quoted := cutQuoted(a.key)
	words := strings.Split(plain, ".")
	taken := 0
	var value any = d.Root
	for i, w := range words {
		n := strings.Count(w, "\x00")
		step := restoreQuoted(w, quoted[taken:])
		taken += n
		name, _, _ := strings.Cut(step, "=")
		fields, ok := value.(map[string]any)
		if !ok {
			return a
		}
		if meta, ok := fields[document.RefMetadata].(map[string]any); ok && fields[name] != nil {
			ref, _ := meta["$ref"].(string)
			prefix := joinKey(words[:i], quoted)
			a.key, a.path = strings.TrimPrefix(prefix+".$ref="+ref, "."), nil
			return a
		}
		if value, ok = fields[name]; !ok {
			return a
		}
	}
	return a
}

// joinKey puts the words of a search key together again.
func joinKey(words []string, quoted []string) string {
	s := strings.Join(words, ".")
	for _, q := range quoted {
		s = strings.Replace(s, "\x00", "{{"+q+"}}", 1)
	}
	return s
}

// linesOf returns the lines of the document's file.
func (t *fileTexts) linesOf(d *document.Document) *searchText {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := textKey{d.Path, d.Format}
	l := t.byFile[at]
	if l == nil {
		l = newLines(d.Text, d.Format)
		t.byFile[at] = l
	}
	return l
}
