package attack

import (
	"html"
	"net/url"
	"strings"
	"unicode"

	"merlon/internal/engine/dast/message"
)

// A Page is an answer as it is compared: its words, without payloads and digits.
type Page struct {
	words map[string]int // pairs of neighbouring words, with how often they occur
	total int
	only  map[string]bool // of a common page: the pairs that both have; nil: all count
}

// maxWords bounds the words of a page that are compared.
const maxWords = 20_000

// NewPage reads an answer. Payloads that it repeats, in any of the usual encodings, do
// not count.
func NewPage(resp *message.Response, payloads ...string) *Page {
	text := resp.Text()
	for _, p := range payloads {
		if len(p) < 2 {
			continue
		}
		for _, form := range Encodings(p) {
			text = strings.ReplaceAll(text, form, " ")
		}
	}
	p := &Page{words: map[string]int{}}
	last := ""
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool {
		return unicode.IsSpace(c) || c == '<' || c == '>' || c == '"' || c == '\'' || c == '&' || c == '='
	}) {
		word = strings.Map(func(c rune) rune {
			if c >= '0' && c <= '9' {
				return -1
			}
			return c
		}, word)
		if word == "" {
			continue
		}
		p.words[last+" "+word]++
		last = word
		if p.total++; p.total == maxWords {
			break
		}
	}
	if to := resp.Header.Get("Location"); to != "" {
		if u, err := url.Parse(to); err == nil {
			p.words["location "+u.Host+u.Path]++
			p.total++
		}
	}
	return p
}

// Encodings returns the forms in which a page may repeat a text: as it is, with HTML
// entities of several dialects, URL-encoded, as a string of JSON.
func Encodings(s string) []string {
	numeric := strings.NewReplacer("<", "&#60;", ">", "&#62;", "&", "&#38;", `"`, "&#34;", "'", "&#39;")
	hex := strings.NewReplacer("<", "&#x3c;", ">", "&#x3e;", "&", "&#x26;", `"`, "&#x22;", "'", "&#x27;", "/", "&#x2f;", "(", "&#x28;", ")", "&#x29;", "=", "&#x3d;")
	php := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#039;")
	slashes := strings.NewReplacer(`\`, `\\`, "'", `\'`, `"`, `\"`)
	script := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`, `"`, `\"`)
	forms := []string{s, html.EscapeString(s), php.Replace(s), strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s), numeric.Replace(s), hex.Replace(s),
		url.QueryEscape(s), url.PathEscape(s), slashes.Replace(s), script.Replace(s)}
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

// Common returns the page of what both have: what differs between two answers to the
// same request changes by itself.
func (p *Page) Common(other *Page) *Page {
	c := &Page{words: map[string]int{}, only: map[string]bool{}}
	for w, n := range p.words {
		if m := min(n, other.words[w]); m > 0 {
			c.words[w], c.total = m, c.total+m
		}
		if other.words[w] != n {
			c.only[w] = true
		}
	}
	for w := range other.words {
		if p.words[w] == 0 {
			c.only[w] = true
		}
	}
	return c
}

// Like returns how alike two pages are: the share of neighbouring words that both
// have (the Sørensen–Dice coefficient), from 0 to 1. Words that a common page has left
// out do not count.
func (p *Page) Like(other *Page) float64 {
	common, a, b := 0, 0, 0
	for w, n := range p.words {
		if !p.only[w] && !other.only[w] {
			a += n
			common += min(n, other.words[w])
		}
	}
	for w, n := range other.words {
		if !p.only[w] && !other.only[w] {
			b += n
		}
	}
	if a+b == 0 {
		return 1
	}
	return 2 * float64(common) / float64(a+b)
}
