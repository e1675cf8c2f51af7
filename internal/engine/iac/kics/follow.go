package kics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file finds the place that a search key leads to in a document whose file
// does not hold what was decoded: a template of a chart, a patched object.

// followKey goes down the document by the words of a search key as far as it leads, and
// returns the last position. "name={{x}}" is a field with that value, which chooses an
// item of a list and does not lead into it; "b[x]" is a field below another. A word that
// is not a field here is searched above, nearest first: after "metadata.name={{x}}" comes
// "spec". A word that is nowhere is skipped. It also says whether the path leads through
// what is not written as such.
func followKey(d *document.Document, key string) (n *document.Node, made bool) {
	if d.Lines == nil {
		return nil, false
	}
	w := keyWalk{at: []placedValue{{d.Root, d.Lines}}}
	if list, n := d.Root[document.Playbooks], d.Lines.Fields[document.Playbooks]; n != nil {
		w.at = append(w.at, placedValue{list, n}) // keys begin in its items
	}
	for _, s := range parseKey(key) {
		for i := len(w.at) - 1; i >= 0; i-- {
			if _, list := w.at[i].value.([]any); list && i < len(w.at)-1 {
				continue // an item of it is chosen
			}
			if w.descend(i, s) {
				break
			}
		}
	}
	return w.found, w.made
}

// placedValue is a value with its position.
type placedValue struct {
	value any
	node  *document.Node
}

// keyWalk is a way down: the values one inside the other, and the last position found.
type keyWalk struct {
	at    []placedValue
	found *document.Node
	made  bool // it leads through what is not written
}

// placedItems returns the items of a list, or the value itself.
func (p placedValue) placedItems() []placedValue {
	list, ok := p.value.([]any)
	if !ok {
		return []placedValue{p}
	}
	var out []placedValue
	for i, item := range list[:min(len(list), len(p.node.Items))] {
		out = append(out, placedValue{item, p.node.Items[i]})
	}
	return out
}

// descend takes one step from the value at the position, if it leads anywhere.
func (w *keyWalk) descend(from int, s keyStep) bool {
	candidates := w.at[from].placedItems()
	slices.SortStableFunc(candidates, func(a, b placedValue) int {
		return cmp.Compare(exactMatch(b, s), exactMatch(a, s))
	})
	for _, c := range candidates {
		fields, ok := c.value.(map[string]any)
		below := c.node
		if !ok || below == nil {
			continue
		}
		value, has := fields[s.first]
		next := below.Fields[s.first]
		if !has || next == nil || !isCandidate(value, s.second) {
			continue
		}
		w.at = w.at[:from+1]
		if len(candidates) != 1 || c.node != w.at[from].node {
			w.at = append(w.at, c)
		}
		w.found, w.made = next, w.made || next.Made
		switch value.(type) {
		case map[string]any, []any:
			w.at = append(w.at, placedValue{value, next})
			if s.second != "" {
				w.descend(len(w.at)-1, keyStep{first: s.second})
			}
		}
		return true
	}
	return false
}

// exactMatch is 1 for a map whose field is the second word, and not only contains it.
func exactMatch(c placedValue, s keyStep) int {
	if fields, ok := c.value.(map[string]any); ok && s.second != "" && fields[s.first] == s.second {
		return 1
	}
	return 0
}

// isCandidate reports whether a field may be the one with the second word: a map or list
// that it leads into, or a scalar that is it.
func isCandidate(value any, second string) bool {
	switch value := value.(type) {
	case map[string]any, []any:
		return true
	case nil:
		return second == ""
	default:
		return second == "" || strings.Contains(fmt.Sprint(value), second)
	}
}
