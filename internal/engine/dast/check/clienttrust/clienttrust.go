// Package clienttrust finds protection that the page's own script computes (CWE-602): a hidden
// field that the server takes as a proof that a form was not changed, and that the script derives
// from what stands in the form.
//
// The proof: a browser opens the page with another value in the form, its script computes the
// field, and the server accepts the value only with that field. Tokens from the server differ with
// each page and are left out.
//
// Budget: maxForms forms of a scan, up to a dozen openings of the page in the browser each.
package clienttrust

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/browser"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var rule = texts.Get("client-side")

// Rule is the check.
var Rule = &activescan.Rule{ID: "enforcement", FindingRules: []*finding.Rule{rule}, BrowserRules: []*finding.Rule{rule},
	Profile: scan.Standard, ScanOperation: scanPage}

// proves matches names of fields that prove something: token, checksum, signature, hmac.
var proves = lazyregexp.New(`(?i)token|hash|digest|check_?sum|signature|(^|[-_])(sig|sign|mac|hmac|crc|proof)($|[-_])`)

const (
	// maxForms bounds the forms that the browser opens.
	maxForms = 10
	// maxWords bounds the quoted words of a page that are tried as values.
	maxWords = 5
)

// A form is a form under test with one token and one text.
type form struct {
	*activescan.OperationScan
	prover browser.Prover
	page   *message.Request
	// The hidden field that proves something.
	token message.Point
	// The text that the script may derive it from.
	typed message.Point
}

// scanPage sends a form of a page in a browser with what its fields refuse, where a
// token keeps everything else from sending it.
func scanPage(t *activescan.OperationScan) error {
	prover, ok := t.Browser.(browser.Prover)
	if !ok || t.Request.Origin != "form" || t.Request.Referer == "" {
		return nil
	}
	tokens, typed := protectedFields(t.Request)
	if len(tokens) == 0 || len(typed) == 0 {
		return nil
	}
	page, err := message.Parse(t.Request.Referer)
	if err != nil || !t.FirstTime("enforcement "+sitemap.OperationKey(t.Request)) {
		return nil //nolint:nilerr // nobody knows where it stands
	}
	resp, err := t.Send(page)
	if err != nil || !resp.IsHTML() {
		return err
	}
	for _, token := range tokens {
		// A token with a value that no script names comes from the server.
		if token.Value != "" && !isUsedByScript(resp.Document(), token.Name) ||
			t.IncrementCount("enforcement") > maxForms {
			continue
		}
		for _, text := range typed {
			f := &form{OperationScan: t, prover: prover, page: page, token: token, typed: text}
			if done, err := f.proveClientToken(quotedWords(resp.Document())); done || err != nil {
				return err
			}
		}
	}
	return nil
}

// protectedFields returns the hidden fields that prove something, and the texts.
func protectedFields(r *message.Request) (tokens, typed []message.Point) {
	for _, p := range r.Points() {
		switch p.In {
		case message.InQuery, message.InForm, message.InMultipart:
		default:
			continue
		}
		switch {
		case p.Type == "hidden" && proves.MatchString(p.Name):
			tokens = append(tokens, p)
		case (p.Type == "" || p.Type == "text") && len(typed) < 3:
			typed = append(typed, p)
		}
	}
	return tokens, typed
}

// proveClientToken looks whether the script makes the token of the text alone, and the server
// asks for it.
func (f *form) proveClientToken(named []string) (bool, error) {
	mine, other := f.RandomLetters(9), f.RandomLetters(9)
	var made []string
	// Equal for equal texts, and different for others: then nothing but the text, no time and no
	// random value, is in the token.
	for _, value := range []string{mine, other, mine} {
		token, err := f.fillInBrowser(value)
		if err != nil || token == "" || strings.Contains(token, value) {
			return false, err
		}
		made = append(made, token)
	}
	if made[0] != made[2] || made[0] == made[1] {
		return false, nil // it is made of something else
	}
	tried := map[string]bool{}
	// The server may accept only certain values, such as the word that the page asks for.
	for _, value := range append([]string{f.typed.Value, mine}, named...) {
		if value == "" || tried[value] {
			continue
		}
		tried[value] = true
		token, err := f.fillInBrowser(value)
		if err != nil || token == "" {
			return false, err
		}
		if found, err := f.reportDifference(value, token, made[1]); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// fillInBrowser opens the page with the value and returns the token that its script has made.
func (f *form) fillInBrowser(value string) (string, error) {
	forms, err := f.prover.Browser.Fill(f.Context, f.prover.As, f.page, map[string]string{f.typed.Name: value})
	if err != nil {
		return "", err
	}
	for _, fields := range forms {
		has := func(name, value string) bool {
			return slices.ContainsFunc(fields, func(x browser.Field) bool {
				return x.Name == name && (value == "" || x.Value == value)
			})
		}
		if !has(f.typed.Name, value) || !has(f.token.Name, "") {
			continue
		}
		for _, x := range fields {
			if x.Name == f.token.Name && x.Value != f.token.Value {
				return x.Value, nil
			}
		}
	}
	return "", nil
}

// reportDifference reports a form that gets one answer with the token of the value, and another
// one with that of another value, twice.
func (f *form) reportDifference(value, token, wrong string) (bool, error) {
	var answers []*message.Response
	var pages []*activescan.Page
	// In this order the first and the last agree only where the response depends on the token, not
	// on how often the form was sent.
	for _, sent := range []string{token, wrong, wrong, token} {
		r := f.Request.With(f.typed, value).With(f.token, sent)
		r.Origin = "browser" // its token is this one, not that of a new page
		resp, err := f.Send(r)
		if err != nil {
			return false, err
		}
		answers, pages = append(answers, resp), append(pages, activescan.NewPage(resp, value, sent))
		if len(pages) == 2 && pages[0].Equal(pages[1]) {
			return false, nil
		}
	}
	if answers[0].Status >= http.StatusBadRequest || !pages[0].Equal(pages[3]) || !pages[1].Equal(pages[2]) ||
		pages[0].Equal(pages[1]) {
		return false, nil
	}
	f.RaiseAlert(activescan.Alert{Rule: rule, Request: answers[3].Request, Point: &f.token, Payload: token,
		Responses: answers,
		ResponseNotes: []string{"the token that the script makes of the value", "the token of another value",
			"the same once more", "the right one once more"},
		Message: fmt.Sprintf("The server takes the field %s as a proof, and the script of the page makes it of the "+
			"field %s.", f.token.Name, f.typed.Name),
		Proof: []string{fmt.Sprintf("A browser opened the page with random texts in %s: the script made %s of them, "+
			"the same of the same text, another one of another.", f.typed.Name, f.token.Name),
			fmt.Sprintf("With %q in the page the script made %q. The server responds to this pair differently than "+
				"to the same value with the token of another one; both twice.", value, token)}})
	return true, nil
}

// isUsedByScript reports whether a script of the page names the field, by its name or id.
func isUsedByScript(doc *html.Node, name string) bool {
	names := []string{name}
	var code strings.Builder
	for n := range doc.Descendants() {
		switch {
		case n.Type == html.ElementNode && n.Data == "input" && attributeOf(n, "name") == name &&
			attributeOf(n, "id") != "":
			names = append(names, attributeOf(n, "id"))
		case n.Type == html.TextNode && n.Parent != nil && n.Parent.Data == "script":
			code.WriteString(n.Data + "\n")
		}
	}
	return slices.ContainsFunc(names, func(s string) bool {
		return strings.Contains(code.String(), `"`+s+`"`) || strings.Contains(code.String(), "'"+s+"'") ||
			strings.Contains(code.String(), "."+s+".value")
	})
}

// attributeOf returns the value of an attribute; empty: there is none.
func attributeOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// quoted matches words in quotation marks of several languages, as in: write "yes" to continue.
var quoted = lazyregexp.New(`["'“‘«]([\pL\pN_-]{2,30})["'”’»]`)

// quotedWords returns what the text of a page names in quotation marks.
func quotedWords(doc *html.Node) []string {
	var out []string
	for n := range doc.Descendants() {
		if n.Type != html.TextNode || n.Parent == nil || n.Parent.Data == "script" || n.Parent.Data == "style" {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(n.Data, maxWords) {
			if len(out) < maxWords && !slices.Contains(out, m[1]) {
				out = append(out, m[1])
			}
		}
	}
	return out
}
