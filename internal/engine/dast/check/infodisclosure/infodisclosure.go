// Package infodisclosure finds answers that tell what only the makers of the application should
// know: traces of errors, its source, lists of files, private keys. It only looks.
package infodisclosure

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

var (
	traces  = texts.Get("error-details")
	source  = texts.Get("source-code")
	listing = texts.Get("directory-listing")
	key     = texts.Get("private-key")
)

// Rule is the check.
var Rule = &activescan.Rule{ID: "leaks", FindingRules: []*finding.Rule{traces, source, listing, key},
	InspectResponse: inspectResponse}

// A sign is text that an answer holds only when it leaks.
type sign struct {
	what string
	// failed: an answer counts only when it says that the server failed. Others tell of
	// errors too, as text about programs does.
	failed bool
	text   *lazyregexp.Regexp
}

// errors are signs of traces, as runtimes and frameworks write them.
var errors = []sign{
	{"Java", true, lazyregexp.New(`(?m)(?:^|>|\n|\\n)\s*(?:Caused by: )?(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)\b[\s\S]*?\bat (?:[\w$]+\.)+(?:[\w$]+|&lt;init&gt;|<init>)\((?:\w+\.(?:java|kt|scala|groovy):\d+|Native Method|Unknown Source)\)`)},
	{"Python", true, lazyregexp.New(`Traceback \(most recent call last\):?[\s\S]*?File (?:"|&quot;|&#34;|\\")[^"&\n]{1,200}\.py(?:"|&quot;|&#34;|\\"), line \d+`)},
	{"the Werkzeug debugger", false, lazyregexp.New(`__debugger__=yes&(?:amp;)?cmd=resource[\s\S]*?EVALEX\s*=`)},
	{"Django", false, lazyregexp.New(`You(?:'|&#x27;|&#39;)re seeing this error because you have <code>DEBUG = True</code>`)},
	{"PHP", false, lazyregexp.New(`<b>(?:Warning|Fatal error|Parse error|Notice|Deprecated)</b>:\s[^\n]{1,1000}? in <b>(?:/|[A-Z]:\\)[^<\n]{1,300}</b> on line <b>\d+</b>`)},
	{"PHP", true, lazyregexp.New(`(?:Fatal error|Uncaught [\w\\]*(?:Exception|Error)):?[\s\S]*?Stack trace:\s+#0 [^\n]{1,400}`)},
	{".NET", true, lazyregexp.New(`\bat (?:[\w.]+\.)[\w.<>` + "`" +
		`]+\([^)\n]{0,300}\) in [A-Za-z]?:?[\\/][^\n]{1,300}\.(?:cs|vb|fs):line \d+`)},
	{"ASP.NET", true, lazyregexp.New(`<h1>Server Error in '[^']{1,100}' Application\.[\s\S]*?<b>Stack Trace:</b>`)},
	{"Node.js", true, lazyregexp.New(`\w*Error: [\s\S]*?(?:\s|<br>|&nbsp;|\\n)+at [\s\S]{0,200}?\(?(?:/|file:///|[A-Z]:\\|node:)[^\s()<]{1,300}:\d+:\d+\)?`)},
	{"Ruby", true, lazyregexp.New(`(?:/gems/[\w.-]+-\d[\w.]*/|app/(?:controllers|models|views)/)[\w/.-]{1,200}\.rb:\d+:in (?:` + "`" + `|'|&#39;|&#x27;)`)},
	{"Go", true, lazyregexp.New(`goroutine \d+ \[[a-z ,0-9]+\]:\s+[\s\S]{1,400}?\.go:\d+`)},
}

// codes are signs of source code.
var codes = []sign{
	{what: "PHP", text: lazyregexp.New(`<\?php\s[\s\S]*?(?:\$\w+\s*=[^=]|->\w+\(|\b(?:require|include)(?:_once)?\b|\bfunction \w+\s*\(|\becho\b)`)},
	{what: "JSP or ASP", text: lazyregexp.New(`<%@\s*(?:page|Page|include|taglib|Control)\s[^%]{1,500}%>`)},
}

// lists are signs of lists of files, as servers write them.
var lists = lazyregexp.New(`(?i)<title>Index of /[^<]{0,300}</title>[\s\S]*?(?:<a href="(?:\.\./|\?C=N;O=D|/)|Parent Directory)|<title>Directory listing for /[^<]{0,300}</title>|<title>Directory Listing For \[?/|<pre>\s*<a href="[^"]{0,200}">\[To Parent Directory\]</a>`)

// maxText bounds what of an answer is searched, in bytes.
const maxText = 1 << 20

// inspectResponse searches an answer.
func inspectResponse(t *activescan.OperationScan, resp *message.Response) {
	text := resp.Text()
	text = text[:min(len(text), maxText)]
	failed := resp.Status >= http.StatusInternalServerError
	report := func(rule *finding.Rule, shown *message.Response, proof string) {
		t.RaiseAlert(activescan.Alert{Rule: rule, Request: resp.Request, Responses: []*message.Response{shown},
			ResponseNotes: []string{"the response"}, Proof: []string{proof}})
	}
	for _, s := range errors {
		if s.failed && !failed {
			continue
		}
		if at := s.text.FindString(text); at != "" {
			// Whether errors are shown is set once for the whole application: it is one vulnerability,
			// however many pages fail.
			t.RaiseAlert(activescan.Alert{Rule: traces, Location: "/", Key: s.what, Request: resp.Request,
				Responses: []*message.Response{resp}, ResponseNotes: []string{"the response"},
				Proof: []string{"The response shows error details of " + s.what + ": " + firstLine(at)}})
			break
		}
	}
	if resp.Status == http.StatusOK {
		if lists.MatchString(text) && strings.HasSuffix(resp.Request.Path, "/") {
			t.RaiseAlert(activescan.Alert{Rule: listing, Request: resp.Request,
				Location:  topFolder(t, resp.Request.Path),
				Responses: []*message.Response{resp}, ResponseNotes: []string{"the response"},
				Proof: []string{"The response is a directory listing."}})
		}
		if !resp.IsDownload() { // an example that is offered is no program of the server
			findSourceCode(resp, text, report)
		}
		if hidden, ok := findPrivateKey(text); ok {
			shown := &message.Response{Request: resp.Request, Status: resp.Status, Proto: resp.Proto,
				Header: resp.Header, Body: []byte(hidden), Took: resp.Took, Sent: resp.Sent}
			report(key, shown, "The response contains a readable private key; it is omitted here.")
		}
	}
}

// topFolder is the folder of the path that is next below the base: what lists one folder lists
// those in it, by one setting.
func topFolder(t *activescan.OperationScan, path string) string {
	base := strings.TrimRight(t.Scope.Base().EscapedPath(), "/") + "/"
	rest, below := strings.CutPrefix(path, base)
	if i := strings.IndexByte(rest, '/'); below && i >= 0 {
		return base + rest[:i+1]
	}
	return path
}

// findSourceCode reports source code that no page shows on purpose: it stands in the answer as
// it is, where a page would encode it.
func findSourceCode(resp *message.Response, text string, report func(*finding.Rule, *message.Response, string)) {
	switch resp.MediaType() {
	case "text/html", "text/plain", "application/octet-stream":
	default:
		if !strings.Contains(resp.MediaType(), "php") {
			return
		}
	}
	for _, s := range codes {
		if at := s.text.FindStringIndex(text); at != nil && (resp.IsHTML() || strings.TrimSpace(text[:at[0]]) == "") {
			if inScript(text[:at[0]]) {
				continue
			}
			report(source, resp, "The response contains source code of "+s.what+" as the server should have "+
				"run it: "+firstLine(text[at[0]:at[1]]))
			return
		}
	}
}

// inScript reports whether the place behind the text is in an element whose text may
// hold anything.
func inScript(before string) bool {
	before = strings.ToLower(before)
	for _, name := range []string{"script", "textarea", "style", "template"} {
		if strings.LastIndex(before, "<"+name) > strings.LastIndex(before, "</"+name) {
			return true
		}
	}
	return false
}

// firstLine returns the first line, shortened.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return strings.ToValidUTF8(s[:min(len(s), 200)], "")
}

var block = lazyregexp.New(`-----BEGIN (?:RSA |EC )?PRIVATE KEY-----[A-Za-z0-9+/=\s]+-----END (?:RSA |EC )?PRIVATE KEY-----`)

// findPrivateKey finds a private key that can be read, and returns the text without any.
func findPrivateKey(text string) (hidden string, found bool) {
	for _, b := range block.FindAllString(text, 5) {
		p, _ := pem.Decode([]byte(b))
		if p == nil {
			continue
		}
		_, err := x509.ParsePKCS8PrivateKey(p.Bytes)
		if err != nil {
			_, err = x509.ParsePKCS1PrivateKey(p.Bytes)
		}
		if err != nil {
			_, err = x509.ParseECPrivateKey(p.Bytes)
		}
		found = found || err == nil
	}
	if !found {
		return "", false
	}
	return block.ReplaceAllString(text, finding.Redacted), true
}
