package javascript

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// This file finds the scripts in single-file components: the elements <script> of Vue
// and Svelte, those of Astro, and the code between the lines "---" with which a
// component of Astro begins.

var (
	scriptOpen   = regexp.MustCompile(`(?i)^<(script|style)(?:[\s/>])`)
	scriptClose  = regexp.MustCompile(`(?i)</script[\s>]`)
	styleClose   = regexp.MustCompile(`(?i)</style[\s>]`)
	tagAttribute = regexp.MustCompile(`(?i)(?:^|\s)(lang|type)\s*=\s*["']?([^\s"'>]*)`)
	fence        = regexp.MustCompile(`(?m)^---[ \t]*\r?$`)
)

// scriptLanguages are the values of the attributes lang and type of a script in
// JavaScript or TypeScript.
var scriptLanguages = map[string]bool{
	"": true, "js": true, "jsx": true, "ts": true, "tsx": true, "javascript": true, "typescript": true, "module": true,
	"text/javascript": true, "application/javascript": true, "text/ecmascript": true, "text/babel": true,
	"text/typescript": true, "application/typescript": true,
}

// extractScripts returns the component with blanks in place of everything that is no script.
func extractScripts(name string, src []byte) []byte {
	out := make([]byte, len(src))
	for i, c := range src {
		if out[i] = ' '; c == '\n' || c == '\r' {
			out[i] = c
		}
	}
	at := 0
	if strings.EqualFold(path.Ext(name), ".astro") {
		at = frontMatter(src, out)
	}
	for at < len(src) {
		n := bytes.IndexByte(src[at:], '<')
		if n < 0 {
			break
		}
		at = copyScript(src, out, at+n)
	}
	return out
}

// frontMatter copies the code with which a component of Astro begins, and returns where
// it ends.
func frontMatter(src, out []byte) int {
	lines := fence.FindAllIndex(src, 2)
	if len(lines) < 2 || len(bytes.TrimSpace(src[:lines[0][0]])) > 0 {
		return 0
	}
	from, to := lines[0][1], lines[1][0]
	copy(out[from:to], src[from:to])
	return lines[1][1]
}

// copyScript copies the script that begins at the "<", if one does, and returns where to
// go on. What is in a comment or a style sheet is no script.
func copyScript(src, out []byte, at int) int {
	rest := src[at:]
	if bytes.HasPrefix(rest, []byte("<!--")) {
		if n := bytes.Index(rest, []byte("-->")); n >= 0 {
			return at + n + 3
		}
		return len(src)
	}
	open := scriptOpen.FindSubmatch(rest)
	if open == nil {
		return at + 1
	}
	end := tagEnd(rest)
	if end < 0 {
		return len(src)
	}
	tag, from := rest[:end], at+end
	if bytes.HasSuffix(tag, []byte("/>")) {
		return from
	}
	close, script := styleClose, strings.EqualFold(string(open[1]), "script")
	if script {
		close = scriptClose
	}
	to := len(src)
	if m := close.FindIndex(src[from:]); m != nil {
		to = from + m[0]
	}
	if script && isScript(tag) {
		copy(out[from:to], src[from:to])
	}
	return to
}

// tagEnd returns the number of bytes of the tag with which a text begins, -1 when it
// does not end.
func tagEnd(text []byte) int {
	quote := byte(0)
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return -1
}

// isScript reports whether the tag says that a script is in JavaScript or TypeScript.
func isScript(tag []byte) bool {
	for _, m := range tagAttribute.FindAllSubmatch(tag, -1) {
		if !scriptLanguages[strings.ToLower(string(m[2]))] {
			return false
		}
	}
	return true
}
