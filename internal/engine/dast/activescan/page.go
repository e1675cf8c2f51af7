package activescan

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"merlon/internal/engine/dast/message"
)

// A Page is an answer as it is compared: its words in order, in lower case, with
// runs of digits as "0". Payloads that it repeats do not count, and what is known to
// change by itself is left out.
type Page struct {
	status int
	words  []string
	pairs  map[string]int // of neighbouring words, with how often they occur
	total  int
}

// maxWords bounds the words of a page that are compared.
const maxWords = 20_000

// changing is what of a page changes by itself, learnt from two answers to the same
// request.
type changing struct {
	behind map[string]bool // two words, behind which something changes
	stable map[string]bool // words that both have
}

// gap stands for words that change by themselves.
const gap = "\x00"

// NewPage reads an answer. Payloads that it repeats, in any of the usual encodings, do
// not count.
func NewPage(resp *message.Response, payloads ...string) *Page {
	return newPage(resp, nil, " ", payloads...)
}

// newPage reads an answer, with something else in the place of payloads.
func newPage(resp *message.Response, known *changing, instead string, payloads ...string) *Page {
	p := &Page{status: resp.Status, words: known.leaveOut(splitWords(resp, instead, payloads)), pairs: map[string]int{}}
	last := ""
	for _, w := range p.words {
		p.pairs[last+" "+w]++
		last = w
	}
	p.total = len(p.words)
	return p
}

// splitWords returns the words of an answer and, of a redirect, where it leads.
func splitWords(resp *message.Response, instead string, payloads []string) []string {
	text := replacePayloads(resp.Text(), instead, payloads)
	var words []string
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune(`<>"'&=;,:`, c)
	}) {
		if words = append(words, normalizeWord(word)); len(words) == maxWords {
			break
		}
	}
	if to := resp.Header.Get("Location"); to != "" {
		to = replacePayloads(to, instead, payloads)
		if u, err := url.Parse(to); err == nil {
			words = append(words, "location", normalizeWord(u.Host+u.Path))
		}
	}
	return words
}

// replacePayloads puts something in the place of payloads, longest encodings first.
func replacePayloads(text, instead string, payloads []string) string {
	for _, p := range payloads {
		if len(p) < 2 {
			continue
		}
		for _, form := range Encodings(p) {
			text = strings.ReplaceAll(text, form, instead)
		}
	}
	return text
}

// normalizeWord is a word in lower case, runs of digits replaced by "0".
func normalizeWord(word string) string {
	var b strings.Builder
	digit := false
	for _, c := range word {
		if c >= '0' && c <= '9' {
			if !digit {
				b.WriteByte('0')
			}
			digit = true
			continue
		}
		digit = false
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// learnChanges compares two answers to the same request.
func learnChanges(a, b *Page) *changing {
	c := &changing{behind: map[string]bool{}, stable: map[string]bool{}}
	in := map[string]bool{}
	for _, w := range a.words {
		in[w] = true
	}
	for _, w := range b.words {
		if in[w] {
			c.stable[w] = true
		}
	}
	c.markChanges(a.words, wordTriples(b.words))
	c.markChanges(b.words, wordTriples(a.words))
	return c
}

// wordTriples are the words of a page with the two before each.
func wordTriples(words []string) map[string]bool {
	out := map[string]bool{}
	one, two := "", ""
	for _, w := range words {
		out[one+" "+two+" "+w] = true
		one, two = two, w
	}
	return out
}

// markChanges notes behind which words something changes.
func (c *changing) markChanges(words []string, other map[string]bool) {
	one, two := "", ""
	for _, w := range words {
		if !other[one+" "+two+" "+w] && !c.stable[w] {
			c.behind[one+" "+two] = true
		}
		if one, two = two, w; !c.stable[w] {
			two = gap
		}
	}
}

// leaveOut replaces runs of words that change by themselves with a gap. It changes
// the slice.
func (c *changing) leaveOut(words []string) []string {
	if c == nil || len(c.behind) == 0 {
		return words
	}
	out := words[:0]
	one, two := "", ""
	for _, w := range words {
		if !c.stable[w] && (two == gap || c.behind[one+" "+two]) {
			if two != gap {
				out = append(out, gap)
				one, two = two, gap
			}
			continue
		}
		out = append(out, w)
		one, two = two, w
	}
	return out
}

// Encodings returns the forms in which a page may repeat a text: as it is, with HTML
// entities of several dialects, URL-encoded, as a string of JSON; a text of several lines
// with either end of line, because fields of forms change it.
func Encodings(s string) []string {
	unix := strings.ReplaceAll(s, "\r\n", "\n")
	if network := strings.ReplaceAll(unix, "\n", "\r\n"); network != unix {
		return append(encodedForms(network), encodedForms(unix)...)
	}
	return encodedForms(s)
}

// encoders write texts as HTML, XML, strings and script.
var encoders = []*strings.Replacer{
	// Go, Jinja, EJS
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;"),
	// PHP
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#039;"),
	// text alone
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;"),
	// Rails, Spring, ASP.NET, Express, lodash
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;"),
	// Python, Django, React
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;"),
	// Handlebars
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;", "`", "&#x60;", "=",
		"&#x3D;"),
	// Mustache
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;", "/", "&#x2F;", "`",
		"&#x60;", "=", "&#x3D;"),
	// XML
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;"),
	// numbers
	strings.NewReplacer("<", "&#60;", ">", "&#62;", "&", "&#38;", `"`, "&#34;", "'", "&#39;"),
	// hexadecimal numbers
	strings.NewReplacer("<", "&#x3c;", ">", "&#x3e;", "&", "&#x26;", `"`, "&#x22;", "'", "&#x27;", "/", "&#x2f;", "(",
		"&#x28;", ")", "&#x29;", "=", "&#x3d;"),
	strings.NewReplacer(`\`, `\\`, "'", `\'`, `"`, `\"`),
	strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`, `"`, `\"`),
}

// encodedForms are the forms of a text with its own ends of lines.
func encodedForms(s string) []string {
	forms := []string{s, message.Escape(s), url.QueryEscape(s), url.PathEscape(s), encodeAllBut(s, ""),
		encodeAllBut(s, ",.-_ ")}
	for _, e := range encoders {
		forms = append(forms, e.Replace(s))
	}
	out := forms[:0]
	seen := map[string]bool{}
	for _, f := range forms {
		if !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	}
	return out
}

// encodeAllBut encodes everything but letters, digits and the characters to keep, as the
// encoders of OWASP do: named entities where HTML 4 has them, else hexadecimal ones.
func encodeAllBut(s, keep string) string {
	named := map[rune]string{'<': "&lt;", '>': "&gt;", '&': "&amp;", '"': "&quot;"}
	var b strings.Builder
	for _, c := range s {
		switch {
		case c < 0x80 && (unicode.IsLetter(c) || unicode.IsDigit(c)), strings.ContainsRune(keep, c):
			b.WriteRune(c)
		case named[c] != "":
			b.WriteString(named[c])
		default:
			fmt.Fprintf(&b, "&#x%x;", c)
		}
	}
	return b.String()
}

// Similarity returns how alike two pages are: the share of neighbouring words that both
// have (the Sørensen–Dice coefficient), from 0 to 1. Pages of different status are
// not alike.
func (p *Page) Similarity(other *Page) float64 {
	if p.status != other.status {
		return 0
	}
	if p.total+other.total == 0 {
		return 1
	}
	common := 0
	for w, n := range p.pairs {
		common += min(n, other.pairs[w])
	}
	return 2 * float64(common) / float64(p.total+other.total)
}

// Equal reports whether the pages have the same status, and the same words with the
// same neighbours. A page of thousands of words that tells one bit by one of them is
// another page then.
func (p *Page) Equal(other *Page) bool {
	if p.status != other.status || p.total != other.total || len(p.pairs) != len(other.pairs) {
		return false
	}
	for w, n := range p.pairs {
		if other.pairs[w] != n {
			return false
		}
	}
	return true
}

// CommonWords returns the words that all of the pages have and none of the others: by them
// answers of an application that changes by itself are told apart.
func CommonWords(pages, others []*Page) []string {
	in := map[string]int{}
	count := func(p *Page, n int) {
		seen := map[string]bool{}
		for _, w := range p.words {
			if !seen[w] {
				seen[w] = true
				in[w] += n
			}
		}
	}
	for _, p := range pages {
		count(p, 1)
	}
	for _, p := range others {
		count(p, len(pages)+1)
	}
	var out []string
	for w, n := range in {
		if n == len(pages) {
			out = append(out, w)
		}
	}
	return out
}

// ContainsWords reports whether the page has all of the words.
func (p *Page) ContainsWords(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(p.words, w) })
}
