package kustomize

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file follows replacements: values of fields of some objects that are put into
// fields of others. See
// https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/replacements/.

// Limits of replacements.
const (
	// a replacement can put an object into itself, which doubles it
	maxCopied  = 10_000    // values put into one object
	maxSources = 1_000_000 // values taken from all
	maxPlaces  = 10_000    // fields that one path names
	maxChosen  = 5e6       // objects that selectors look at
)

// applyReplacements applies those of the kustomization, which are in it or in files.
func (b *builder) applyReplacements(k *kustomization, objects []*object) {
	for _, e := range k.listEntries("replacements") {
		m, _ := e.value.(map[string]any)
		name, inFile := m["path"].(string)
		if !inFile {
			b.applyReplacement(e, k.path, objects)
			continue
		}
		list, err := b.replacementFile(k, entry{name, e.lines})
		if err != nil {
			b.addProblem(k.path, e.lines.Line, "replacement: %w", err)
		}
		for _, one := range list {
			b.applyReplacement(one, k.path, objects)
		}
	}
}

// replacementFile reads a file with one replacement or a list of them.
func (b *builder) replacementFile(k *kustomization, e entry) ([]entry, error) {
	p, err := k.localPath(e)
	if err != nil {
		return nil, err
	}
	text, err := b.readFile(p)
	if err != nil {
		return nil, err
	}
	// Documents before a syntax error are still used: err is returned along with them.
	trees, err := document.DecodeYAML(text)
	var out []entry
	for _, t := range trees {
		setFile(t.Lines, p)
		if list := t.Lines.Fields[document.Playbooks]; list != nil {
			out = append(out, itemsOf(t.Root[document.Playbooks], list)...)
		} else {
			out = append(out, entry{t.Root, t.Lines})
		}
	}
	return out, err
}

// applyReplacement applies one; file is where it is written if its position does not say.
func (b *builder) applyReplacement(e entry, file string, objects []*object) {
	if e.lines.Path != "" {
		file = e.lines.Path
	}
	tell := func(err error) {
		if err != nil {
			b.addProblem(file, e.lines.Line, "replacement: %w", err)
		}
	}
	m, _ := e.value.(map[string]any)
	value, at, err := b.sourceValue(m, e.lines, objects)
	if err != nil {
		tell(err)
		return
	}
	for _, t := range itemsOf(m["targets"], e.lines.Fields["targets"]) {
		tell(b.replaceIn(t, value, at, objects))
	}
}

// sourceValue returns the value that a replacement takes, with its position.
func (b *builder) sourceValue(m map[string]any, lines *document.Node, objects []*object) (any, *document.Node, error) {
	if text, ok := m["sourceValue"].(string); ok {
		return text, lines.Fields["sourceValue"], nil
	}
	fields, ok := m["source"].(map[string]any)
	if !ok {
		return nil, nil, errors.New("it has no source")
	}
	want, err := parseSelector(fields)
	if err != nil {
		return nil, nil, err
	}
	path := fieldPath(fields, "fieldPath")
	for _, o := range objects {
		// The first object that matches is the source; kustomize rejects a second one.
		if b.chosen++; b.chosen > maxChosen || !want.matches(o) {
			continue
		}
		places, err := o.findFields(splitPath(path), false)
		if err != nil || len(places) == 0 {
			return nil, nil, fmt.Errorf("the source %s/%s has no field %.80q", o.kind(), o.name(), path)
		}
		v, n, err := findValue(o.root, o.lines, places[0])
		if err != nil {
			return nil, nil, err
		}
		if b.taken += countValues(v, maxSources-b.taken); b.taken >= maxSources {
			return nil, nil, fmt.Errorf("replacements take more than %d values", maxSources)
		}
		at := &document.Node{Line: lines.Line, Path: lines.Path}
		if n != nil {
			// A finding in the target is reported where the value is written, in the source.
			own := *n.In(o.path)
			at = &own
		}
		v, err = selectPart(v, fields["options"])
		return v, at, err
	}
	return nil, nil, errors.New("no object that it takes the value from")
}

// fieldPath returns the path of a field; the name of an object is what it names if nothing
// is said.
func fieldPath(m map[string]any, key string) string {
	if s, ok := m[key].(string); ok && s != "" {
		return s
	}
	return "metadata.name"
}

// cutOptions reads the options of a source or target: the sign between parts of a text and
// which part is meant.
func cutOptions(options any) (sign string, index int, create bool) {
	m, _ := options.(map[string]any)
	sign, _ = m["delimiter"].(string)
	n, _ := m["index"].(int64)
	create, _ = m["create"].(bool)
	return sign, int(n), create
}

// selectPart returns the part of a text that the options select.
func selectPart(v, options any) (any, error) {
	sign, index, _ := cutOptions(options)
	if sign == "" {
		return v, nil
	}
	text, ok := v.(string)
	parts := strings.Split(text, sign)
	if !ok || index < 0 || index >= len(parts) {
		return nil, fmt.Errorf("the source has no part %d between %.20q", index, sign)
	}
	return parts[index], nil
}

// replaceIn puts the value into the objects of one target.
func (b *builder) replaceIn(t entry, value any, at *document.Node, objects []*object) error {
	m, _ := t.value.(map[string]any)
	want, err := parseSelector(m["select"])
	if err != nil {
		return err
	}
	// "reject" excludes objects that "select" includes.
	var not []selector
	for _, e := range itemsOf(m["reject"], t.lines.Fields["reject"]) {
		one, err := parseSelector(e.value)
		if err != nil {
			return err
		}
		not = append(not, one)
	}
	var paths []string
	for _, e := range itemsOf(m["fieldPaths"], t.lines.Fields["fieldPaths"]) {
		paths = append(paths, fmt.Sprint(e.value))
	}
	if paths == nil {
		paths = []string{fieldPath(nil, "")}
	}
	for _, o := range objects {
		// Objects times replacements: a thousand of each are a million comparisons.
		if b.chosen++; b.chosen > maxChosen {
			return fmt.Errorf("the replacements select more than %d objects", int(maxChosen))
		}
		if !want.matches(o) || slices.ContainsFunc(not, func(m selector) bool { return m.matches(o) }) {
			continue
		}
		for _, p := range paths {
			if err := o.replaceFields(p, value, at, m["options"]); err != nil {
				return fmt.Errorf("%s/%s: %w", o.kind(), o.name(), err)
			}
		}
	}
	return nil
}

// replaceFields sets the fields that a path names.
func (o *object) replaceFields(path string, value any, at *document.Node, options any) error {
	sign, index, create := cutOptions(options)
	places, err := o.findFields(splitPath(path), create)
	if err != nil {
		return fmt.Errorf("%.80q: %w", path, err)
	}
	if len(places) == 0 {
		return fmt.Errorf("it has no field %.80q", path)
	}
	for _, steps := range places {
		v, n := value, at
		if sign != "" {
			old, place, err := findValue(o.root, o.lines, steps)
			if err != nil {
				return err
			}
			text, _ := old.(string)
			if v, err = replacePart(text, sign, index, value); err != nil {
				return err
			}
			n = place
		}
		if n == nil {
			n = at
		}
		if err := o.countCopied(v); err != nil {
			return err
		}
		was := o.name()
		if err := o.putField(steps, v, n); err != nil {
			return err
		}
		// Other replacements and patches still refer to the object by its previous name.
		if name := o.name(); name != was {
			o.names = append(o.names, was)
		}
	}
	return nil
}

// putField sets a field or an item, and makes the maps above it.
func (o *object) putField(steps []string, v any, at *document.Node) error {
	for i := 1; i < len(steps); i++ {
		if above, _, err := findValue(o.root, o.lines, steps[:i]); err == nil && above == nil {
			o.editField(steps[:i], map[string]any{}, at)
		}
	}
	with, lines, err := editValue(o.root, o.lines, steps, change{"replace", v, at})
	if root, ok := with.(map[string]any); ok && err == nil {
		o.root, o.lines, o.changed = root, lines, true
	}
	return err
}

// replacePart puts a value into a text, between signs; before and after all with an index
// that the text does not have.
func replacePart(text, sign string, index int, value any) (string, error) {
	s, parts := fmt.Sprint(value), strings.Split(text, sign)
	switch {
	case index < 0:
		// index -1 prefixes the text, an index beyond the end appends to it
		parts = slices.Insert(parts, 0, s)
	case index >= len(parts):
		parts = append(parts, s)
	default:
		parts[index] = s
	}
	if s = strings.Join(parts, sign); len(s) > maxText {
		return "", fmt.Errorf("a text of more than %d bytes", maxText)
	}
	return s, nil
}

// countCopied counts the values that are put into the object: one in itself doubles it.
func (o *object) countCopied(v any) error {
	if o.copied += countValues(v, maxCopied-o.copied); o.copied >= maxCopied {
		return fmt.Errorf("more than %d values are put into it", maxCopied)
	}
	return nil
}

// countValues counts the values in a value up to a limit.
func countValues(v any, limit int) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if n < limit {
				n += countValues(e, limit-n)
			}
		}
	case []any:
		for _, e := range v {
			if n < limit {
				n += countValues(e, limit-n)
			}
		}
	case string:
		// A long text counts as several values, so that the memory is bounded as well.
		n += len(v) / 64
	}
	return n
}

// splitPath returns the steps of a path: names with dots between. A dot is part of a
// name after a backslash and in brackets.
func splitPath(path string) []string {
	var out []string
	var b strings.Builder
	bracket := false
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		// metadata.annotations.example\.com/name
		case c == '\\' && i+1 < len(path) && path[i+1] == '.':
			b.WriteByte('.')
			i++
		case c == '.' && !bracket:
			out = append(out, b.String())
			b.Reset()
		default:
			if c == '[' && b.Len() == 0 {
				bracket = true
			} else if c == ']' {
				bracket = false
			}
			b.WriteByte(c)
		}
	}
	return append(out, b.String())
}

// findFields returns the fields that the steps name, each as steps of keys and indexes. A
// step is a key, an index, "*" for all, or "[key=value]" for the items with that field.
// With create, what is missing is named too, and such an item is added.
func (o *object) findFields(steps []string, create bool) ([][]string, error) {
	if len(steps) > document.MaxDepth {
		return nil, errors.New("the path is too long")
	}
	w := pathWalk{steps: steps, create: create}
	if err := w.descend(o.root, nil); err != nil || w.lacks == nil {
		return w.found, err
	}
	// The walk must not change what it walks over, so missing items are added afterwards.
	for _, at := range w.lacks {
		v, n, err := findValue(o.root, o.lines, at)
		list, isList := v.([]any)
		if err != nil || !isList || n == nil {
			return nil, errors.New("no list that an item can be added to")
		}
		key, value, _ := strings.Cut(strings.Trim(steps[len(at)], "[]"), "=")
		o.editField(append(slices.Clone(at), "-"), map[string]any{key: value}, n)
		o.changed = true
		again := pathWalk{steps: steps, create: create}
		added, _, err := findValue(o.root, o.lines, append(slices.Clone(at), strconv.Itoa(len(list))))
		if err == nil {
			err = again.descend(added, append(slices.Clone(at), strconv.Itoa(len(list))))
		}
		if err != nil {
			return nil, err
		}
		w.found = append(w.found, again.found...)
	}
	return w.found, nil
}

// pathWalk goes down an object.
type pathWalk struct {
	steps  []string
	create bool
	found  [][]string
	lacks  [][]string // lists without the item that the next step names
}

// descend goes on from a value; done are the steps that lead to it.
func (w *pathWalk) descend(v any, done []string) error {
	if len(w.found)+len(w.lacks) > maxPlaces {
		return fmt.Errorf("more than %d fields", maxPlaces)
	}
	if len(done) == len(w.steps) {
		w.found = append(w.found, done)
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		return w.descendMap(v, done)
	case []any:
		return w.descendList(v, done)
	case nil:
		if step := w.steps[len(done)]; w.create && !strings.Contains(step, "=") && step != "*" {
			return w.below(nil, done, strings.Trim(step, "[]"))
		}
	}
	return nil
}

// below goes on from a value below the one that was reached.
func (w *pathWalk) below(v any, done []string, key string) error {
	return w.descend(v, append(slices.Clone(done), key))
}

// descendMap goes on from the fields of a map that the next step names.
func (w *pathWalk) descendMap(m map[string]any, done []string) error {
	step := w.steps[len(done)]
	if step != "*" {
		key := strings.Trim(step, "[]")
		if below, has := m[key]; has || w.create {
			return w.below(below, done, key)
		}
		return nil
	}
	for _, key := range sortedKeys(m) {
		if err := w.below(m[key], done, key); err != nil {
			return err
		}
	}
	return nil
}

// descendList goes on from the items of a list that the next step names. With create, a
// list without the item is noted.
func (w *pathWalk) descendList(list []any, done []string) error {
	step := w.steps[len(done)]
	items := selectedItems(list, step)
	for _, i := range items {
		if err := w.below(list[i], done, strconv.Itoa(i)); err != nil {
			return err
		}
	}
	// "[=value]" names an item that is a text: a new one would have no place to be put in.
	if w.create && items == nil && strings.Contains(step, "=") && !strings.HasPrefix(step, "[=") {
		w.lacks = append(w.lacks, done)
	}
	return nil
}

// selectedItems returns the items of a list that a step names.
func selectedItems(list []any, step string) []int {
	var out []int
	key, value, equal := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(step, "["), "]"), "=")
	n, err := strconv.Atoi(strings.Trim(step, "[]"))
	for i, e := range list {
		m, _ := e.(map[string]any)
		switch {
		case step == "*", err == nil && n == i:
			out = append(out, i)
		case equal && strings.HasPrefix(step, "[") &&
			(m[key] != nil && fmt.Sprint(m[key]) == value || key == "" && fmt.Sprint(e) == value):

			out = append(out, i)
		}
	}
	return out
}
