package blindinjection

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/scan"
)

var (
	asked  = regexp.MustCompile(`@file_get_contents\(((?:\.?chr\(\d+\))+)\)`)
	code   = regexp.MustCompile(`\d+`)
	opened = regexp.MustCompile(`<%=\(require\(%q\(open-uri\)\);URI\.open\(%q\((\w+)\)\+%q\(([^)]*)\)`)
	link   = regexp.MustCompile(`https?://[^\s"'()<>]+`)
)

// outside returns what of a program stands outside of its strings; false: one does not end.
func outside(program string) (string, bool) {
	out := ""
	for program != "" {
		i := strings.IndexAny(program, `'"`)
		if i < 0 {
			return out + program, true
		}
		_, rest, ok := strings.Cut(program[i+1:], program[i:i+1])
		if !ok {
			return "", false
		}
		out, program = out+program[:i]+" ", rest
	}
	return out, true
}

// run is a program of PHP that does nothing but ask for addresses.
func run(program string, fetch func(string) string) {
	rest, ok := outside(program)
	if !ok {
		return
	}
	for _, m := range asked.FindAllStringSubmatch(rest, -1) {
		address := ""
		for _, c := range code.FindAllString(m[1], -1) {
			n, _ := strconv.Atoi(c)
			address += string(rune(n))
		}
		fetch(address)
	}
}

func TestCheck(t *testing.T) {
	fetch := activescantest.Fetch(t)
	applications := map[string]func(v string){
		"/program/bare":   func(v string) { run("x = "+v, fetch) },
		"/program/single": func(v string) { run("x = '"+v+"'", fetch) },
		"/program/double": func(v string) { run(`x = "`+v+`"`, fetch) },
		"/template/erb": func(v string) {
			for _, m := range opened.FindAllStringSubmatch(v, -1) {
				fetch(m[1] + m[2])
			}
		},
		"/good/nothing": func(string) {},
		"/good/escaped": func(v string) { run("x = '"+strings.ReplaceAll(v, "'", "’")+"'", fetch) },
		"/good/links": func(v string) {
			for _, address := range link.FindAllString(v, -1) {
				fetch(address)
			}
		},
	}
	mux := http.NewServeMux()
	var operations, want []string
	for path, f := range applications {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Powered-By", "PHP/8.2")
			if _, err := strconv.Atoi(r.FormValue("id")); err != nil {
				http.Error(w, "bad number", http.StatusBadRequest)
				return
			}
			f(r.FormValue("text"))
			fmt.Fprint(w, "<p>Thank you.</p>")
		})
		operations = append(operations, "POST "+path+" id=7&text=hello")
		if kind := strings.Split(path, "/")[1]; kind != "good" {
			want = append(want, "dast/evaluation/"+kind+" POST "+path+" form:text")
		}
	}
	mux.HandleFunc("/shown", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.FormValue("text")) })
	operations = append(operations, "GET /shown?text=hello")
	checks := []*activescan.Rule{Rule, Slow}
	got := activescantest.Attack(t, mux, checks, operations, activescantest.Listening(t))
	activescantest.Expect(t, got, want...)
	if got.Requests > 15*len(operations) {
		t.Errorf("%d requests for %d operations", got.Requests, len(operations))
	}
	activescantest.Expect(t, activescantest.Attack(t, mux, checks, operations))
	activescantest.Expect(t, activescantest.Attack(t, mux, checks, operations, activescantest.Listening(t),
		activescantest.Profile(scan.Safe)))
}

// TestPayloads looks at what is sent: programs hold no quotation marks of their own, and
// nothing holds an address that is only a link in a text.
func TestPayloads(t *testing.T) {
	const address = "http://192.0.2.1:8099/abcdefghijklmnopqrstuvwxyz23"
	bait := func() activescan.OASTPayload { return activescan.OASTPayload{URL: address} }
	for i, p := range payloads {
		text, parts := p.write("v", bait)
		if len(parts) == 0 || len(text) < len(address) || link.MatchString(text) {
			t.Errorf("payload %d has %d parts, or a link: %s", i, len(parts), text)
		}
	}
	for name, c := range map[string]call{"python": python, "node": node, "ruby": ruby, "perl": perl, "php": php} {
		if text := c(address); strings.ContainsAny(text, `"'`) {
			t.Errorf("%s has quotation marks: %s", name, text)
		}
	}
}
