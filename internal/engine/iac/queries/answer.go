package queries

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
)

// An answer is one result of a query, in its terms.
type answer struct {
	document int      // its position in the unit
	key      string   // searchKey: words that lead to the place
	path     []string // searchLine: the path of the value in the document
	override string   // overrideKey: the version of the format

	kind, name, expected, actual string
}

// read takes the fields of a result; it is false when it names no document.
func read(result any) (answer, bool) {
	fields, ok := result.(map[string]any)
	if !ok {
		return answer{}, false
	}
	i, err := strconv.Atoi(word(fields["documentId"]))
	if err != nil || i < 0 {
		return answer{}, false
	}
	a := answer{
		document: i, key: word(fields["searchKey"]), override: word(fields["overrideKey"]),
		kind: known(word(fields["resourceType"])), name: known(word(fields["resourceName"])),
		expected: word(fields["keyExpectedValue"]), actual: word(fields["keyActualValue"]),
	}
	if list, ok := fields["searchLine"].([]any); ok {
		for _, step := range list {
			a.path = append(a.path, word(step))
		}
	}
	return a, true
}

// word returns a value as queries print it.
func word(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(v)
}

// known returns the name, or "" for what stands where a query knows none.
func known(s string) string {
	if s == "n/a" || s == "undefined" || s == "null" {
		return ""
	}
	return s
}

// flaw finds the place of an answer. It is false for one that points into what a
// reference brought in, which is reported where it is written.
func (t *texts) flaw(d *document.Document, a answer) (Flaw, bool) {
	last := a.key[strings.LastIndexByte(a.key, '.')+1:]
	if strings.Contains(last, "RefMetadata") {
		return Flaw{}, false
	}
	if d.Platform == document.OpenAPI {
		a = atReference(d, a)
	}
	f := Flaw{
		Document: d, Path: d.Path, Kind: a.kind, Name: a.name, Expected: a.expected, Actual: a.actual, Key: a.key, Steps: a.path,
	}
	if len(a.path) > 0 && d.Lines != nil {
		if n, found := d.Lines.Find(a.path...); found == len(a.path) && n.Line > 0 {
			f.Path, f.Line, f.Column = d.File(n), n.Line, n.Column
			return f, true
		}
	}
	if d.Text != nil {
		if line := t.of(d).search(a.key); line > 0 {
			f.Line = line
			return f, true
		}
	}
	if n := follow(d, a.key); n != nil && n.Line > 0 {
		f.Path, f.Line, f.Column = d.File(n), n.Line, n.Column
		return f, true
	}
	f.Line = 1
	return f, true
}

// atReference moves an answer about what a reference brought in to the reference.
func atReference(d *document.Document, a answer) answer {
	plain, quoted := cut(a.key)
	words := strings.Split(plain, ".")
	taken := 0
	var value any = d.Root
	for i, w := range words {
		n := strings.Count(w, "\x00")
		step := restore(w, quoted[taken:])
		taken += n
		name, _, _ := strings.Cut(step, "=")
		fields, ok := value.(map[string]any)
		if !ok {
			return a
		}
		if meta, ok := fields[document.RefMetadata].(map[string]any); ok && fields[name] != nil {
			ref, _ := meta["$ref"].(string)
			prefix := original(words[:i], quoted)
			a.key, a.path = strings.TrimPrefix(prefix+".$ref="+ref, "."), nil
			return a
		}
		if value, ok = fields[name]; !ok {
			return a
		}
	}
	return a
}

// original puts the words of a search key together again.
func original(words []string, quoted []string) string {
	s := strings.Join(words, ".")
	for _, q := range quoted {
		s = strings.Replace(s, "\x00", "{{"+q+"}}", 1)
	}
	return s
}

// of returns the lines of the document's file.
func (t *texts) of(d *document.Document) *lines {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.byDocument[d]
	if l == nil {
		l = newLines(d.Text, d.Format)
		t.byDocument[d] = l
	}
	return l
}
