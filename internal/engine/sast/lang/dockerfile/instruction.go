package dockerfile

import (
	"encoding/json"
	"strings"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/lang/bash"
	"merlon/internal/engine/sast/tree"
)

// A span is a part of the source, in bytes.
// Continuations are blanked out beforehand, without a change of offsets, so that spans refer
// to the file.
type span struct{ start, end uint32 }

// sourceText returns the text of the span as the file has it, with continuations blank.
func (s span) sourceText(l *lang.Lowering) string { return l.File.Source[s.start:s.end] }

// trimBlanks returns the part without blanks around it.
func (s span) trimBlanks(l *lang.Lowering) span {
	text := s.sourceText(l)
	left := strings.TrimLeft(text, " \t\r\n")
	s.start += uint32(len(text) - len(left))
	s.end = s.start + uint32(len(strings.TrimRight(left, " \t\r\n")))
	return s
}

// lowerers holds what follows the name of each instruction, but for those that hold
// another one.
// A row is the name in upper case and the function that lowers what follows. ONBUILD and
// HEALTHCHECK contain an instruction and are handled separately.
var lowerers = map[string]func(*lang.Lowering, instruction, span){
	"FROM": lowerFrom, "RUN": lowerCommandForm, "CMD": lowerCommandForm, "ENTRYPOINT": lowerCommandForm,
	"SHELL":  lowerCommandForm,
	"VOLUME": lowerListOrWords, "ADD": lowerFiles, "COPY": lowerFiles, "LABEL": lowerPairs, "ENV": lowerPairs,
	"ARG":    lowerArgument,
	"EXPOSE": lowerPlainWords, "USER": lowerUser, "WORKDIR": lowerPlainWords, "STOPSIGNAL": lowerPlainWords,
	"MAINTAINER": lowerMaintainer,
}

// lowerInstruction adds an instruction. A sign of a pattern in its place is that sign.
func lowerInstruction(l *lang.Lowering, in instruction, r tree.Role) {
	whole := span{in.start, in.end}
	text := whole.sourceText(l)
	// Names of instructions are not case-sensitive.
	n := strings.IndexAny(text, " \t")
	if n < 0 {
		n = len(text)
	}
	name := strings.ToUpper(text[:n])
	rest := span{in.start + uint32(n), in.end}.trimBlanks(l)
	lower, known := lowerers[name]
	switch {
	case lang.Holder(text):
		l.Leaf(tree.Name, r, text, in.start, in.end)
		return
	// ONBUILD runs its instruction in images that build on this one. It could nest; Docker forbids
	// that, the depth is limited anyway.
	case name == "ONBUILD" && rest.start < rest.end && !l.TooDeep():
		lower = func(l *lang.Lowering, in instruction, rest span) {
			in.start, in.end = rest.start, rest.end
			lowerInstruction(l, in, tree.RoleArgument)
		}
	case name == "HEALTHCHECK" && !l.TooDeep():
		lower = lowerHealthcheck
	// An unknown instruction: a misspelling or a newer Docker. It is recorded as not understood.
	case !known:
		l.Unknown(r, in.start, in.end)
		return
	}
	// The range ends with the last here-document.
	l.Open(tree.Call, r, in.start, in.lastByte())
	l.Leaf(tree.Name, tree.RoleCallee, name, in.start, in.start+uint32(n))
	lower(l, in, rest)
	l.Close()
}

// takeFlags takes the flags at the beginning, "--a=b" and "--c".
// Flags must stand first: COPY --from=build --chown=app a b.
func takeFlags(l *lang.Lowering, in instruction, rest span) (list []span, behind span) {
	for strings.HasPrefix(rest.sourceText(l), "--") {
		ws := splitWords(l, rest, in.escape)
		list = append(list, ws[0])
		rest = span{ws[0].end, rest.end}.trimBlanks(l)
	}
	return list, rest
}

// addFlags adds the flags.
func addFlags(l *lang.Lowering, list []span) {
	for _, s := range list {
		name, value, ok := strings.Cut(s.sourceText(l)[2:], "=")
		l.Open(tree.Keyword, tree.RoleModifier, s.start, s.end)
		start := s.start + 2
		l.Leaf(tree.Name, tree.RoleName, name, start, start+uint32(len(name)))
		if ok {
			lowerWord(l, tree.RoleValue, span{s.end - uint32(len(value)), s.end})
		} else {
			// A flag without a value, such as --link, is true.
			l.Flag(l.Leaf(tree.Bool, tree.RoleValue, "true", s.end, s.end), tree.Implied)
		}
		l.Close()
	}
}

// addModifier adds a Keyword that patterns may leave out.
// Modifiers are the parts that a pattern may leave out: FROM image matches with any tag, "as"
// or platform.
func addModifier(l *lang.Lowering, name string, value span) {
	l.Open(tree.Keyword, tree.RoleModifier, value.start, value.end)
	l.Flag(l.Leaf(tree.Name, tree.RoleName, name, value.start, value.start), tree.Implied)
	lowerWord(l, tree.RoleValue, value)
	l.Close()
}

// addForm adds the Modifier that tells shell form and exec form apart.
// CMD ["a"] runs a, CMD a runs a shell that runs a: signals and variables differ, and rules
// ask for the form.
func addForm(l *lang.Lowering, name string, s span) {
	l.Flag(l.Open(tree.Keyword, tree.RoleModifier, s.start, s.start), tree.Implied)
	l.Flag(l.Leaf(tree.Name, tree.RoleName, name, s.start, s.start), tree.Implied)
	l.Flag(l.Leaf(tree.Bool, tree.RoleValue, "true", s.start, s.start), tree.Implied)
	l.Close()
}

// lowerFrom lowers "--flag image:tag@digest AS name".
func lowerFrom(l *lang.Lowering, in instruction, rest span) {
	list, rest := takeFlags(l, in, rest)
	ws := splitWords(l, rest, in.escape)
	// FROM alone is an error of the file.
	if len(ws) == 0 {
		l.Unknown(tree.RoleArgument, rest.start, rest.end)
		return
	}
	image, tag, digest := imageParts(l, ws[0])
	lowerWord(l, tree.RoleArgument, image)
	// "FROM $IMAGE ..." of a rule leaves open what follows the image.
	if len(ws) > 1 && lang.Holder(ws[1].sourceText(l)) {
		for _, w := range ws[1:] {
			lowerWord(l, tree.RoleArgument, w)
		}
	}
	addFlags(l, list)
	// Offsets of 0 stand for missing parts, as the instruction begins with its name.
	if tag.start > 0 {
		addModifier(l, "tag", tag)
	}
	if digest.start > 0 {
		addModifier(l, "digest", digest)
	}
	if len(ws) >= 3 && strings.EqualFold(ws[1].sourceText(l), "as") {
		addModifier(l, "as", ws[2])
	}
}

// imageParts cuts a reference: the tag is behind the colon after the last slash,
// outside of variables.
// registry:5000/image:tag@sha256:…: the first colon is that of a port. ${TAG:-latest} contains
// one as well.
func imageParts(l *lang.Lowering, s span) (image, tag, digest span) {
	text := s.sourceText(l)
	image = s
	if n := strings.IndexByte(text, '@'); n >= 0 {
		digest = span{s.start + uint32(n) + 1, s.end}
		image.end = s.start + uint32(n)
		text = text[:n]
	}
	depth, colon := 0, -1
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth--
		// A slash shows that the colon before it was the port.
		case '/':
			colon = -1
		case ':':
			if depth == 0 && colon < 0 {
				colon = i
			}
		}
	}
	if colon >= 0 {
		tag = span{s.start + uint32(colon) + 1, image.end}
		image.end = s.start + uint32(colon)
	}
	return image, tag, digest
}

// lowerCommandForm lowers a command in exec form or shell form, or a sign for either.
// RUN --mount=… has flags; the others have none.
func lowerCommandForm(l *lang.Lowering, in instruction, rest span) {
	list, rest := takeFlags(l, in, rest)
	text := rest.sourceText(l)
	if lang.Holder(text) {
		l.Leaf(tree.Name, tree.RoleArgument, text, rest.start, rest.end)
		addFlags(l, list)
		return
	}
	if jsonList(l, rest) {
		addFlags(l, list)
		// A list is the exec form only if it is valid JSON: Docker takes ['a'] with single quotes
		// for shell form.
		addForm(l, "exec", rest)
		return
	}
	lowerShell(l, in, rest)
	addFlags(l, list)
	addForm(l, "shell", rest)
}

// lowerListOrWords lowers a JSON list or words.
func lowerListOrWords(l *lang.Lowering, in instruction, rest span) {
	if !jsonList(l, rest) {
		lowerPlainWords(l, in, rest)
	}
}

// splitJSON returns the elements of a JSON array, which the span holds with its brackets;
// it reports false when they are not strings or signs of a pattern with commas between
// them. Docker then takes the text for shell form.
func splitJSON(l *lang.Lowering, s span) (parts []span, ok bool) {
	at := skipBlanks(l, s.start+1, s.end)
	// "[ ]" is an empty list, which removes the command of the base image.
	if at == s.end-1 {
		return nil, true
	}
	for {
		end := jsonTokenLength(l.File.Source[at : s.end-1])
		if end == 0 {
			return nil, false
		}
		parts = append(parts, span{at, at + end})
		if at = skipBlanks(l, at+end, s.end); at == s.end-1 {
			return parts, true
		}
		if l.File.Source[at] != ',' {
			return nil, false
		}
		// A comma is followed by another element; a trailing comma is no JSON.
		at = skipBlanks(l, at+1, s.end)
	}
}

// skipBlanks returns the first byte at or behind a place, before the end, that is no
// white space of JSON (RFC 8259, section 2).
func skipBlanks(l *lang.Lowering, at, end uint32) uint32 {
	for at < end && strings.IndexByte(" \t\r\n", l.File.Source[at]) >= 0 {
		at++
	}
	return at
}

// jsonList adds the List of an exec form, if it is one: a JSON array of strings. In
// patterns signs stand among them.
func jsonList(l *lang.Lowering, s span) bool {
	text := s.sourceText(l)
	if len(text) < 2 || text[0] != '[' || text[len(text)-1] != ']' {
		return false
	}
	parts, ok := splitJSON(l, s)
	if !ok {
		return false
	}
	l.Open(tree.List, tree.RoleArgument, s.start, s.end)
	for _, p := range parts {
		var value string
		if lang.Holder(p.sourceText(l)) {
			l.Leaf(tree.Name, tree.RoleElement, p.sourceText(l), p.start, p.end)
		} else if json.Unmarshal([]byte(p.sourceText(l)), &value) == nil { // element has checked it
			// splitJSON has validated the token, so the text cannot fail here.
			l.Leaf(tree.String, tree.RoleElement, value, p.start, p.end)
		}
	}
	l.Close()
	return true
}

// jsonTokenLength returns the length of the JSON string or the sign that the text begins
// with, 0 for anything else.
// Validity is checked by the JSON package, so that escapes follow its rules.
func jsonTokenLength(text string) uint32 {
	if text == "" {
		return 0
	}
	if text[0] != '"' {
		n := strings.IndexAny(text, " \t\r\n,")
		if n < 0 {
			n = len(text)
		}
		if !lang.Holder(text[:n]) {
			return 0
		}
		return uint32(n)
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			if !json.Valid([]byte(text[:i+1])) {
				return 0
			}
			return uint32(i + 1)
		}
	}
	return 0
}

// lowerFiles lowers ADD and COPY.
func lowerFiles(l *lang.Lowering, in instruction, rest span) {
	list, rest := takeFlags(l, in, rest)
	if !jsonList(l, rest) {
		lowerPlainWords(l, in, rest)
	}
	addFlags(l, list)
	// COPY <<EOF /file: the text of the here-document is the content of the file.
	for _, doc := range in.docs {
		l.Open(tree.Keyword, tree.RoleModifier, doc.start, doc.end)
		l.Flag(l.Leaf(tree.Name, tree.RoleName, "<<", doc.start, doc.start), tree.Implied)
		l.Flag(l.Leaf(tree.String, tree.RoleValue, l.File.Source[doc.start:doc.end], doc.start, doc.end), tree.Raw)
		l.Close()
	}
}

// lowerPlainWords lowers arguments that are words.
func lowerPlainWords(l *lang.Lowering, in instruction, rest span) {
	for _, w := range splitWords(l, rest, in.escape) {
		lowerWord(l, tree.RoleArgument, w)
	}
}

// lowerUser lowers "user:group"; the group is a Modifier.
// It has the same separator as the tag of an image: user:group.
func lowerUser(l *lang.Lowering, in instruction, rest span) {
	name, group, _ := imageParts(l, rest)
	lowerWord(l, tree.RoleArgument, name)
	if group.start > 0 {
		addModifier(l, "group", group)
	}
}

// lowerPairs lowers "a=b c=d", and the old form "a b", whose value is the rest.
// ENV and LABEL had a form without an equals sign, "ENV key the value", in which everything
// behind the key is the value.
func lowerPairs(l *lang.Lowering, in instruction, rest span) {
	ws := splitWords(l, rest, in.escape)
	// A sign of a pattern may stand for pairs, so the new form is assumed.
	equals := len(ws) > 0 && lang.Holder(ws[0].sourceText(l))
	for _, w := range ws {
		equals = equals || strings.Contains(w.sourceText(l), "=")
	}
	if !equals && len(ws) > 1 {
		value := span{ws[1].start, rest.end}
		addKeyword(l, ws[0], &value)
		return
	}
	for _, w := range ws {
		if name, _, ok := strings.Cut(w.sourceText(l), "="); ok {
			key := span{w.start, w.start + uint32(len(name))}
			addKeyword(l, key, &span{key.end + 1, w.end})
		} else {
			lowerWord(l, tree.RoleArgument, w)
		}
	}
}

// addKeyword adds a Keyword.
func addKeyword(l *lang.Lowering, name span, value *span) {
	l.Open(tree.Keyword, tree.RoleArgument, name.start, value.end)
	l.Leaf(tree.Name, tree.RoleName, strings.Trim(name.sourceText(l), `"'`), name.start, name.end)
	lowerWord(l, tree.RoleValue, *value)
	l.Close()
}

// lowerArgument lowers ARG.
// ARG name=default; several on one line are allowed by BuildKit.
func lowerArgument(l *lang.Lowering, in instruction, rest span) {
	for _, w := range splitWords(l, rest, in.escape) {
		if name, _, ok := strings.Cut(w.sourceText(l), "="); ok {
			key := span{w.start, w.start + uint32(len(name))}
			addKeyword(l, key, &span{key.end + 1, w.end})
		} else {
			l.Leaf(tree.Name, tree.RoleArgument, w.sourceText(l), w.start, w.end)
		}
	}
}

// lowerMaintainer lowers a text that is not made of words.
// The instruction is deprecated in favor of LABEL.
func lowerMaintainer(l *lang.Lowering, _ instruction, rest span) {
	lowerWord(l, tree.RoleArgument, rest)
}

// lowerHealthcheck lowers "NONE", and the command "CMD …" as the instruction that it is.
func lowerHealthcheck(l *lang.Lowering, in instruction, rest span) {
	list, rest := takeFlags(l, in, rest)
	if ws := splitWords(l, rest, in.escape); len(ws) > 1 && lang.Holder(ws[0].sourceText(l)) {
		rest = span{ws[1].start, rest.end} // "... CMD": a pattern's ellipsis for flags
	}
	text := rest.sourceText(l)
	switch {
	case lang.Holder(text) || strings.EqualFold(text, "none"):
		lowerWord(l, tree.RoleArgument, rest)
	// The command of a health check has the forms of CMD.
	default:
		in.start, in.end = rest.start, rest.end
		lowerInstruction(l, in, tree.RoleArgument)
	}
	addFlags(l, list)
}

// lowerShell lowers shell code: the script of a here-document that stands alone, or the
// line, with the here-documents that belong to it.
// The shell code is parsed by the grammar of Bash. SHELL may set another shell; most commands
// read the same there.
func lowerShell(l *lang.Lowering, in instruction, rest span) {
	code := rest
	if n := len(in.docs); n > 0 {
		// The code ends behind the last here-document, whose lines the shell reads.
		code.end = in.docs[n-1].next
		// RUN <<EOF: the here-document itself is the script.
		if m := heredocStart.FindString(rest.sourceText(l)); n == 1 && strings.TrimSpace(m) == rest.sourceText(l) {
			code = span{in.docs[0].start, in.docs[0].end}.trimBlanks(l)
		}
	}
	t, err := cst.Bash.Parse([]byte(code.sourceText(l)), cst.Limits{})
	if err != nil {
		l.Unknown(tree.RoleArgument, code.start, code.end)
		return
	}
	// Offsets are moved to those of the Dockerfile, so that findings point into it.
	for i := range t.Nodes {
		t.Nodes[i].Start += code.start
		t.Nodes[i].End += code.start
	}
	inner := &lang.Lowering{Builder: tree.Builder{File: &tree.File{Source: l.File.Source}}, CST: t}
	bash.Language.Lower(inner)
	script := inner.Finish()
	for _, u := range script.Unknown {
		l.File.Missed(u.Start, u.End)
	}
	// Statements are unwrapped, as the command is an argument of RUN.
	var statements []int32
	for c := range script.Children(tree.Root) {
		if script.Is(c, tree.ExpressionStatement) {
			c = script.Child(c, tree.RoleValue)
		}
		statements = append(statements, c)
	}
	switch len(statements) {
	case 0:
		l.Leaf(tree.Sequence, tree.RoleArgument, "", code.start, code.end)
	case 1:
		lang.Copy(&l.Builder, script, statements[0], tree.RoleArgument)
	default:
		l.Open(tree.Sequence, tree.RoleArgument, code.start, code.end)
		for _, c := range statements {
			lang.Copy(&l.Builder, script, c, tree.RoleElement)
		}
		l.Close()
	}
}
