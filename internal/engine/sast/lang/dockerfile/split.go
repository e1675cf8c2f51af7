package dockerfile

import (
	"regexp"
	"strings"
)

// An instruction is one instruction of a file, over all its lines.
type instruction struct {
	start, end uint32 // without here-documents
	escape     byte
	docs       []document // behind it
}

// lastByte is the end of the instruction with its here-documents.
func (in instruction) lastByte() uint32 {
	if n := len(in.docs); n > 0 {
		return in.docs[n-1].next
	}
	return in.end
}

// A document is a here-document.
type document struct {
	start, end uint32 // of its text
	next       uint32 // behind its last line
}

var (
	// heredocStart finds the words that begin here-documents.
	heredocStart = regexp.MustCompile(`(?:^|[\s\d])<<-?\s*(["']?)([A-Za-z_]\w*)["']?`)
	// directive finds the line that changes the escape character.
	directive = regexp.MustCompile("(?i)^#[ \t]*escape[ \t]*=[ \t]*([\\\\`])[ \t]*\r?$")
	// anyDirective finds lines that are directives: those end at the first other line.
	anyDirective = regexp.MustCompile(`^#[ \t]*\w+[ \t]*=`)
)

// splitInstructions finds the instructions. The text that it returns has the bytes of the
// source, with blanks in the place of continuations and of comments between them.
func splitInstructions(source string) ([]instruction, string) {
	masked := []byte(source)
	escape := byte('\\')
	var list []instruction
	head := true
	for at := 0; at < len(source); {
		line, next := lineAt(source, at)
		switch {
		case strings.TrimSpace(line) == "":
			head = false
			at = next
		case strings.TrimLeft(line, " \t")[0] == '#':
			if m := directive.FindStringSubmatch(line); head && m != nil {
				escape = m[1][0]
			}
			head = head && anyDirective.MatchString(line)
			at = next
		default:
			head = false
			var in instruction
			in, at = instructionAt(masked, source, at, escape)
			list = append(list, in)
		}
	}
	return list, string(masked)
}

// lineAt returns the line at a place without its end, and where the next one begins.
func lineAt(source string, at int) (line string, next int) {
	if n := strings.IndexByte(source[at:], '\n'); n >= 0 {
		return strings.TrimSuffix(source[at:at+n], "\r"), at + n + 1
	}
	return source[at:], len(source)
}

// instructionAt reads the instruction that begins in the line at a place, and returns
// where the next one may begin.
func instructionAt(masked []byte, source string, at int, escape byte) (instruction, int) {
	line, next := lineAt(source, at)
	start := at + len(line) - len(strings.TrimLeft(line, " \t"))
	end := at + len(line)
	for {
		trimmed := strings.TrimRight(line, " \t")
		if trimmed == "" || trimmed[len(trimmed)-1] != escape {
			break
		}
		blankOut(masked, at+len(trimmed)-1, next)
		for next < len(source) { // comments and empty lines do not end it
			line, _ = lineAt(source, next)
			if t := strings.TrimLeft(line, " \t"); t != "" && t[0] != '#' {
				break
			}
			_, after := lineAt(source, next)
			blankOut(masked, next, after)
			next = after
		}
		if next >= len(source) {
			end = len(source)
			break
		}
		at = next
		line, next = lineAt(source, at)
		end = at + len(line)
	}
	text := strings.TrimRight(string(masked[start:end]), " \t\r")
	in := instruction{start: uint32(start), end: uint32(start + len(text)), escape: escape}
	for _, m := range heredocStart.FindAllStringSubmatch(text, maxDocuments) {
		doc, ok := documentAt(source, next, m[2])
		if !ok {
			break
		}
		in.docs = append(in.docs, doc)
		next = int(doc.next)
	}
	return in, next
}

// maxDocuments bounds the here-documents of one instruction.
const maxDocuments = 100

// documentAt reads the text up to the line that is the word.
func documentAt(source string, at int, word string) (document, bool) {
	doc := document{start: uint32(at)}
	for at < len(source) {
		line, next := lineAt(source, at)
		if strings.TrimLeft(line, "\t") == word {
			doc.end, doc.next = uint32(at), uint32(next)
			return doc, true
		}
		at = next
	}
	return doc, false
}

// blankOut overwrites a part of the text.
func blankOut(text []byte, start, end int) {
	for i := start; i < end; i++ {
		text[i] = ' '
	}
}
