package hcl

import (
	"strconv"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerStringLiteral lowers a text in quotes: a String, or a Template when expressions
// are in it.
func lowerStringLiteral(l *lang.Lowering, r tree.Role, i int32) {
	start, end := l.Range(i)
	if open := l.Find(i, "quoted_template_start"); open >= 0 {
		_, start = l.Range(open)
	}
	if shut := l.Find(i, "quoted_template_end"); shut >= 0 {
		end, _ = l.Range(shut)
	}
	lowerTemplate(l, text{i: i, role: r, start: start, end: end, value: unescapeTemplate})
}

// lowerHeredoc lowers a here-document; "<<-" removes the indentation that all lines of a
// text without expressions share.
func lowerHeredoc(l *lang.Lowering, r tree.Role, i int32) {
	open := l.Find(i, "heredoc_identifier")
	if open < 0 {
		l.Lost(r, i)
		return
	}
	_, start := l.Range(open)
	end := start
	for c := range l.Children(i) {
		if c != open && l.Kind(c) == "heredoc_identifier" {
			end, _ = l.Range(c)
		}
	}
	source := l.File.Source
	for start < end && source[start] != '\n' {
		start++
	}
	if start < end {
		start++
	}
	for end > start && (source[end-1] == ' ' || source[end-1] == '\t') {
		end--
	}
	value := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "$${", "${"), "%%{", "%{") }
	if l.Source(l.Find(i, "heredoc_start")) == "<<-" {
		keep := value
		value = func(s string) string { return removeIndentation(keep(s)) }
	}
	lowerTemplate(l, text{i: i, role: r, start: start, end: end, value: value, flags: tree.Raw})
}

// removeIndentation removes the indentation that all lines share.
func removeIndentation(s string) string {
	lines := strings.SplitAfter(s, "\n")
	indent := -1
	for _, line := range lines {
		if blanks := len(line) - len(strings.TrimLeft(line, " \t")); strings.TrimSpace(line) != "" &&
			(indent < 0 || blanks < indent) {
			indent = blanks
		}
	}
	for n, line := range lines {
		if indent > 0 && len(line) > indent {
			lines[n] = line[indent:]
		}
	}
	return strings.Join(lines, "")
}

// A text is a template between start and end.
type text struct {
	i          int32
	role       tree.Role
	start, end uint32
	value      func(string) string // resolves escapes
	flags      tree.Flags
}

// lowerTemplate adds the String, or the Template with its parts: the grammar leaves the
// blanks around literals out, so the text is what is between the expressions.
func lowerTemplate(l *lang.Lowering, t text) {
	if t.end < t.start {
		t.end = t.start
	}
	var holes []int32
	for c := range l.Children(t.i) {
		if kind := l.Kind(c); kind == "template_interpolation" || kind == "template_directive" || kind == "ERROR" {
			holes = append(holes, c)
		}
	}
	if len(holes) == 0 {
		l.Flag(l.Put(tree.String, t.role, t.value(l.File.Source[t.start:t.end]), t.i), t.flags)
		return
	}
	l.Flag(l.Begin(tree.Template, t.role, t.i), t.flags)
	at := t.start
	between := func(end uint32) {
		if at < end {
			l.Leaf(tree.String, tree.RolePart, t.value(l.File.Source[at:end]), at, end)
		}
	}
	for _, c := range holes {
		start, end := l.Range(c)
		between(start)
		l.Node(tree.RolePart, c)
		at = max(at, end)
	}
	between(t.end)
	l.Close()
}

// lowerLiteral lowers a text inside of a directive.
func lowerLiteral(l *lang.Lowering, r tree.Role, i int32) {
	l.Put(tree.String, r, unescapeTemplate(l.Source(i)), i)
}

// lowerInterpolation lowers "${a}" of a template to its expression.
func lowerInterpolation(l *lang.Lowering, r tree.Role, i int32) {
	l.Need(r, i, l.Find(i, "expression"))
}

// simpleEscapes are the escapes of one character, hexDigits the numbers of digits of the
// others.
var (
	simpleEscapes = map[byte]string{'n': "\n", 'r': "\r", 't': "\t", '"': `"`, '\\': `\`}
	hexDigits     = map[byte]int{'u': 4, 'U': 8}
)

// unescapeTemplate resolves the escapes of quoted templates; see "Quoted Literals" in the
// specification of the native syntax. What is none stays.
func unescapeTemplate(s string) string {
	if strings.Contains(s, "{") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "$${", "${"), "%%{", "%{")
	}
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch digits := hexDigits[s[i]]; {
		case simpleEscapes[s[i]] != "":
			b.WriteString(simpleEscapes[s[i]])
		case digits > 0 && i+digits < len(s):
			v, err := strconv.ParseUint(s[i+1:i+1+digits], 16, 32)
			if err != nil {
				b.WriteString(s[i-1 : i+1])
				continue
			}
			b.WriteRune(rune(v))
			i += digits
		default:
			b.WriteString(s[i-1 : i+1])
		}
	}
	return b.String()
}
