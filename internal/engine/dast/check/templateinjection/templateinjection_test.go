package templateinjection

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

// engine computes products between delimiters, as small engines do.
func engine(open, end string) func(v string) string {
	product := regexp.MustCompile(regexp.QuoteMeta(open) + `\s*(\d+)\s*\*\s*(\d+)\s*` + regexp.QuoteMeta(end))
	return func(v string) string {
		out := product.ReplaceAllStringFunc(v, func(s string) string {
			m := product.FindStringSubmatch(s)
			a, _ := strconv.Atoi(m[1])
			b, _ := strconv.Atoi(m[2])
			return fmt.Sprint(a * b)
		})
		if strings.Contains(product.ReplaceAllString(v, ""), open) {
			return "template error"
		}
		return out
	}
}

func TestCheck(t *testing.T) {
	mux := http.NewServeMux()
	bad := map[string]func(string) string{
		"/go": func(v string) string { // a real engine
			parsed, err := template.New("x").Parse("Hello " + v)
			if err != nil {
				return "error"
			}
			var b strings.Builder
			_ = parsed.Execute(&b, nil)
			return b.String()
		},
		"/quoting": func(v string) string { // an error quotes the template
			if out := engine("{{", "}}")(v); out != "template error" {
				return "<p>Hello " + out + "</p>"
			}
			return "ERROR: unexpected sign in " + v
		},
		"/jinja": engine("{{", "}}"), "/el": engine("${", "}"), "/erb": engine("<%=", "%>"),
		"/smarty": engine("{", "}"), "/spring": engine("#{", "}"), "/razor": engine("@(", ")"),
		"/tt": engine("[%", "%]"),
		"/words": func(v string) string { // knows how long words are, and comes out in capitals
			return strings.ToUpper(regexp.MustCompile(`\{\{#with "(\w+)"\}\}\{\{length\}\}\{\{/with\}\}`).ReplaceAllStringFunc(v, func(s string) string {
				return fmt.Sprint(len(strings.Split(s, `"`)[1]))
			}))
		},
	}
	good := map[string]func(string) string{
		"/echo": html.EscapeString,
		"/raw":  func(v string) string { return v },
		"/data": func(v string) string {
			var b strings.Builder
			_ = template.Must(template.New("x").Parse("Hello {{.}}")).Execute(&b, v)
			return html.EscapeString(b.String())
		},
		"/removed": func(v string) string {
			return strings.Map(func(c rune) rune {
				if strings.ContainsRune("{}<>%$#", c) {
					return -1
				}
				return c
			}, v)
		},
		"/quotes": func(v string) string {
			return strings.NewReplacer(`"`, "", "'", "", " ", "", "<", "", ">", "").Replace(v)
		},
		"/products": func(v string) string { // computes them wherever they stand
			return regexp.MustCompile(`\d+\*\d+`).ReplaceAllStringFunc(v, func(s string) string {
				return engine("", "")(s)
			})
		},
		"/upper":   strings.ToUpper,
		"/refused": func(v string) string { return fmt.Sprint("error: ", strings.ContainsAny(v, "{}<%")) },
		"/browser": func(v string) string { return `<div ng-app>` + html.EscapeString(v) + `</div>` },
	}
	var operations, want []string
	for _, list := range []map[string]func(string) string{bad, good} {
		for p, f := range list {
			mux.HandleFunc(p, func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprintf(w, "<p>%s</p>", f(r.FormValue("q")))
			})
			operations = append(operations, "GET "+p+"?q=world")
		}
	}
	for p := range bad {
		want = append(want, "dast/templateinjection/expression GET "+p+" query:q")
	}
	remainder := regexp.MustCompile(`\{\{1%\((\d+)-(\d+)\)\}\}`)
	unseen := func(path string, fails func(v string) bool) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if fails(r.FormValue("q")) {
				w.WriteHeader(http.StatusInternalServerError)
			}
			fmt.Fprint(w, "<p>Thank you.</p>")
		})
		operations = append(operations, "GET "+path+"?q=world")
	}
	unseen("/silent", func(v string) bool {
		m := remainder.FindStringSubmatch(v)
		return m != nil && m[1] == m[2] || strings.Contains(remainder.ReplaceAllString(v, ""), "{{")
	})
	want = append(want, "dast/templateinjection/error GET /silent query:q")
	unseen("/refuses", func(v string) bool { return strings.ContainsAny(v, "{}<>") })
	unseen("/opens", func(v string) bool { return strings.Contains(v, "{{") })
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations)
	activescantest.Expect(t, got, want...)
	if got.Requests > 14*len(operations) {
		t.Errorf("%d requests for %d operations", got.Requests, len(operations))
	}
}
