package xpathinjection

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

var errExpression = errors.New("javax.xml.xpath.XPathExpressionException")

// The grammar of XPath that the test knows: comparisons joined by "and" and "or".
var (
	token      = regexp.MustCompile(`^\s*(?:'([^']*)'|"([^"]*)"|(\d+)|(string-length|contains)\(|(name|id)|(and|or)\b|(=)|(\))|(,))`)
	comparison = regexp.MustCompile(`^(?:S=S|N=N|B)$`)
)

// evaluate computes a condition for a node with a name and a number.
func evaluate(text, name string, id int) (bool, error) {
	result, any := false, false
	for _, part := range strings.Split(text, " or ") {
		all := true
		for _, condition := range strings.Split(part, " and ") {
			ok, err := compare(condition, name, id)
			if err != nil {
				return false, err
			}
			all = all && ok
		}
		result, any = result || all, true
	}
	return result && any, nil
}

func compare(text, name string, id int) (bool, error) {
	var values []string
	kinds := ""
	for strings.TrimSpace(text) != "" {
		m := token.FindStringSubmatch(text)
		if m == nil {
			return false, errExpression
		}
		text = text[len(m[0]):]
		switch {
		case m[3] != "":
			values, kinds = append(values, m[3]), kinds+"N"
		case m[4] == "string-length":
			end := strings.IndexByte(text, ')')
			if end < 2 || text[0] != '\'' || strings.Count(text[:end], "'") != 2 {
				return false, errExpression
			}
			values, kinds = append(values, strconv.Itoa(end-2)), kinds+"N"
			text = text[end+1:]
		case m[4] == "contains":
			inner := regexp.MustCompile(`^(name|'[^']*'),'([^']*)'\)`).FindStringSubmatch(text)
			if inner == nil {
				return false, errExpression
			}
			whole := strings.Trim(inner[1], "'")
			if inner[1] == "name" {
				whole = name
			}
			if !strings.Contains(whole, inner[2]) {
				whole = ""
			}
			values, kinds = append(values, whole), kinds+"B"
			text = text[len(inner[0]):]
		case m[5] == "name":
			values, kinds = append(values, name), kinds+"S"
		case m[5] == "id":
			values, kinds = append(values, strconv.Itoa(id)), kinds+"N"
		case m[7] != "":
			kinds += "="
		case m[6] != "" || m[8] != "" || m[9] != "":
			return false, errExpression
		default:
			values, kinds = append(values, m[1]+m[2]), kinds+"S"
		}
	}
	if !comparison.MatchString(kinds) {
		return false, errExpression
	}
	return kinds == "B" && values[0] != "" || kinds != "B" && values[0] == values[1], nil
}

func TestCheck(t *testing.T) {
	mux := http.NewServeMux()
	var operations, want []string
	people := []string{"alice", "bob", "carol"}
	for kind, expression := range map[string]string{"single": "name='%s'", "double": `name="%s"`, "number": "id=%s",
		"contains": "contains(name,'%s')"} {
		for _, good := range []bool{false, true} {
			for _, errors := range []bool{false, true} {
				p := fmt.Sprintf("/%s/%v/%v", kind, good, errors)
				mux.HandleFunc(p, func(w http.ResponseWriter, r *http.Request) {
					v := r.FormValue("q")
					if good { // what no value of the document holds is no value
						v = strings.Map(func(c rune) rune {
							if strings.ContainsRune(`'"() =`, c) {
								return -1
							}
							return c
						}, v)
					}
					found := []string{}
					for i, name := range people {
						ok, err := evaluate(fmt.Sprintf(expression, v), name, i+1)
						if err != nil && errors {
							http.Error(w, err.Error(), http.StatusInternalServerError)
							return
						}
						if ok && err == nil {
							found = append(found, name)
						}
					}
					fmt.Fprintf(w, "<p>%s: %s</p>", html.EscapeString(r.FormValue("q")), strings.Join(found, "; "))
				})
				values := []string{"alice", "nobody"}
				if kind == "number" {
					values = []string{"2"}
				}
				for _, v := range values {
					operations = append(operations, "GET "+p+"?q="+v+"&x"+v+"=1")
				}
				if !good {
					want = append(want, "dast/xpathinjection/expression GET "+p+" query:q")
				}
			}
		}
	}
	for p, f := range map[string]func(string) string{
		"/echo":   html.EscapeString,
		"/equal":  func(v string) string { return fmt.Sprint(v == "alice") },
		"/length": func(v string) string { return strings.Repeat("x", len(v)%5) },
		"/quotes": func(v string) string { return fmt.Sprint(strings.Count(v, "'")%2 == 0) },
		"/firewall": func(v string) string {
			return fmt.Sprint(strings.Contains(v, "'")) + " XPathExpressionException"
		},
		"/words": func(v string) string {
			return fmt.Sprint(strings.Contains("alice and bob or carol", strings.Fields(v + " x")[0]))
		},
	} {
		mux.HandleFunc(p, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, f(r.FormValue("q"))) })
		operations = append(operations, "GET "+p+"?q=alice", "GET "+p+"?q=alice&n=2")
	}
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations)
	activescantest.Expect(t, got, want...)
	if got.Requests > 20*len(operations) {
		t.Errorf("%d requests for %d operations", got.Requests, len(operations))
	}
}

// TestMessages is silent where a search shows a message once of what another form has done,
// just when a condition is true.
func TestMessages(t *testing.T) {
	var mu sync.Mutex
	waiting := false
	done := 0
	mux := http.NewServeMux()
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		q := r.FormValue("q")
		if m := length.FindStringSubmatch(q); m != nil && len(m[1]) == int(m[2][0]-'0') && done < 4 {
			waiting = true // as if another operation had just been at work
			done++
		}
		_, _ = fmt.Fprint(w, "<html><p>nothing was found")
		if strings.Contains(q, "\"(") {
			_, _ = fmt.Fprint(w, "<p>that is no name")
		}
		if waiting {
			waiting = false
			_, _ = fmt.Fprint(w, "<p class=alert>your note was saved")
		}
	})
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, []string{"GET /search?q=jane"})
	activescantest.Expect(t, got)
}

var length = regexp.MustCompile(`string-length\('(\w*)'\)=(\d)`)
