package pattern

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// mandatoryWords returns words that are in every file in which the pattern matches: the names that
// the pattern spells. Of a dotted name only the last part is sure, as the rest may be imported
// implicitly; literals are not, as values are computed. Rules whose words are not in a file are
// not evaluated on it.
func mandatoryWords(root *node, text string) []string {
	spelled := wordsOf(text)
	var out []string
	var walk func(n *node)
	walk = func(n *node) {
		switch n.kind {
		case tree.Name:
			out = appendWords(out, n.text, spelled)
			return
		case tree.Type:
			if n.meta == "" && n.text != "" {
				out = appendWords(out, lastPart(n.text), spelled)
			}
		case tree.Member:
			if p := n.child(tree.RoleProperty); p != nil && n.dotted != nil {
				walk(p)
				return
			}
		case tree.Import, tree.Typed, tree.Modifier, tree.Token, tree.Other, tree.Error, tree.Package:
			return
		}
		for _, k := range n.kids {
			walk(k)
		}
	}
	walk(root)
	return out
}

// appendWords adds the words of a name that the pattern's own text holds: a lowering
// may have made up others.
func appendWords(out []string, name string, spelled map[string]struct{}) []string {
	if isRegexText(name) || strings.ContainsRune(name, '$') {
		return out
	}
	for w := range wordsOf(name) {
		if _, ok := spelled[w]; ok && !strings.EqualFold(w, "this") && !strings.EqualFold(w, "self") && w != "super" &&
			w != "default" {
			out = append(out, w)
		}
	}
	return out
}
