package yaml

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// patterns says how fragments are parsed. A mapping of one entry stands for the
// entry, a sequence of one item for the item.
var patterns = lang.Patterns{
	Sigil:    true,
	Resolved: true,
	Prepare:  preparePattern,
	Finish:   finishPattern,
}

// expression matches a regular expression of a pattern in double quotes.
var expression = regexp.MustCompile(`"=~/(?:[^"\\]|\\.)*"`)

// preparePattern spells the ellipses. The backslashes of a regular expression in quotes are
// those of YAML, unless YAML does not know them.
func preparePattern(text string) []string {
	text = spellEllipses(removeIndentation(text))
	return []string{
		text,
		expression.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, `\`, `\\`) }),
	}
}

// removeIndentation removes the white space that all lines begin with.
func removeIndentation(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\t", "  "), "\n")
	least := -1
	for _, line := range lines {
		if n := lineIndentation(line); n < len(line) && (least < 0 || n < least) {
			least = n
		}
	}
	for n, line := range lines {
		lines[n] = line[min(len(line), max(0, least)):]
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// lineIndentation returns the number of blanks before the first other character.
func lineIndentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// What begins at a column of a line.
const (
	nothing = iota
	scalar
	ellipsis
	mapEntry
	listItem
)

// A part is what begins at a column.
type part struct{ column, what int }

// partsOf returns what begins on a line: items of nested sequences, then an entry, a
// scalar or an ellipsis.
func partsOf(line string) []part {
	line = strings.TrimRight(line, " \r")
	var all []part
	column := lineIndentation(line)
	for {
		rest := line[min(len(line), column):]
		switch {
		case rest == "" || rest[0] == '#':
			return all
		case rest == "-":
			return append(all, part{column, listItem})
		case strings.HasPrefix(rest, "- "):
			all = append(all, part{column, listItem})
			column += len(rest) - len(strings.TrimLeft(rest[1:], " "))
		case rest == "...":
			return append(all, part{column, ellipsis})
		case strings.HasSuffix(rest, ":") || strings.Contains(rest, ": "):
			return append(all, part{column, mapEntry})
		default:
			return append(all, part{column, scalar})
		}
	}
}

// spellEllipses spells the ellipses that stand on lines of their own, or behind the dash
// of an item, as the entries or items that stand beside them.
func spellEllipses(text string) string {
	lines := strings.Split(text, "\n")
	all := make([][]part, len(lines))
	flow := make([]bool, len(lines)) // begins in braces or brackets
	depth := 0
	for n, line := range lines {
		all[n], flow[n] = partsOf(line), depth > 0
		depth += countBrackets(line)
	}
	out := make([]string, len(lines))
	for n, line := range lines {
		out[n] = line
		parts := all[n]
		if len(parts) == 0 || parts[len(parts)-1].what != ellipsis || flow[n] {
			continue
		}
		column := parts[len(parts)-1].column
		out[n] = line[:column] + ellipsisSpelling(findBeside(all, n, len(parts)-1))
	}
	return strings.Join(out, "\n")
}

// ellipsisSpelling returns how an ellipsis is written beside what there is.
func ellipsisSpelling(what int) string {
	switch what {
	case mapEntry:
		return lang.EllipsisName + ": " + lang.EllipsisName
	case listItem:
		return "- " + lang.EllipsisName
	default:
		return lang.EllipsisName
	}
}

// countBrackets counts what a line opens and does not close, quotes left out.
func countBrackets(line string) int {
	n, quote := 0, rune(0)
	for _, c := range line {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{' || c == '[':
			n++
		case c == '}' || c == ']':
			n--
		}
	}
	return n
}

// findBeside returns what the lines around have at the column of a part: entries before
// items, because the items of an entry may stand at its own column. Behind a dash
// there is nothing before it.
func findBeside(all [][]part, n, k int) int {
	column, found := all[n][k].column, nothing
	see := func(parts []part) (stop bool) {
		for _, p := range parts {
			if p.column == column && (p.what == mapEntry || p.what == listItem) {
				if found != mapEntry {
					found = p.what
				}
			}
		}
		return len(parts) > 0 && parts[0].column < column
	}
	for m := n - 1; m >= 0 && k == 0; m-- {
		if see(all[m]) {
			break
		}
	}
	for m := n + 1; m < len(all); m++ {
		if len(all[m]) > 0 && all[m][0].column < column {
			break
		}
		see(all[m])
	}
	return found
}

// finishPattern cuts the only entry, or the only item, out of its mapping or sequence.
func finishPattern(f *tree.File) *tree.File {
	if !f.Is(tree.Root, tree.Map) && !f.Is(tree.Root, tree.List) || f.Count(tree.Root, tree.RoleElement) != 1 {
		return f
	}
	b := &tree.Builder{File: &tree.File{Language: f.Language, Source: f.Source}}
	lang.Copy(b, f, f.Child(tree.Root, tree.RoleElement), tree.RoleNone)
	return b.Finish()
}
