package codeinjection

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/attack/attacktest"
)

var product = regexp.MustCompile(`^\(?(\d+)\*(\d+)\)?$`)

// evaluate is an interpreter of expressions: strings in quotes, and products, joined by
// the operator.
func evaluate(program, quote, join string) (string, error) {
	out := ""
	for _, part := range strings.Split(program, join) {
		part = strings.TrimSuffix(strings.TrimPrefix(part, "str"), ".to_s")
		if m := product.FindStringSubmatch(part); m != nil {
			a, _ := strconv.Atoi(m[1])
			b, _ := strconv.Atoi(m[2])
			out += fmt.Sprint(a * b)
			continue
		}
		if len(part) < 2 || !strings.HasPrefix(part, quote) || !strings.HasSuffix(part, quote) || strings.Count(part, quote) != 2 {
			return "", fmt.Errorf("syntax error")
		}
		out += strings.Trim(part, quote)
	}
	return out, nil
}

func TestCheck(t *testing.T) {
	mux := http.NewServeMux()
	page := func(path string, f func(v string) (string, error)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			out, err := f(r.FormValue("q"))
			if err != nil {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			fmt.Fprintf(w, "<p>%s</p>", html.EscapeString(out))
		})
	}
	page("/bad/php", func(v string) (string, error) { return evaluate("'"+v+"'", "'", ".") })
	page("/bad/script", func(v string) (string, error) { return evaluate(`"`+v+`"`, `"`, "+") })
	page("/bad/formula", func(v string) (string, error) {
		if v == "7" {
			return v, nil
		}
		return evaluate(v, "'", "+")
	})
	page("/good/echo", func(v string) (string, error) { return v, nil })
	page("/good/number", func(v string) (string, error) { _, err := strconv.Atoi(v); return v, err })
	page("/good/quotes", func(v string) (string, error) {
		if strings.ContainsAny(v, `'"`) {
			return "", fmt.Errorf("no quotes")
		}
		return v, nil
	})
	page("/good/escaped", func(v string) (string, error) {
		return evaluate("'"+strings.ReplaceAll(v, "'", "’")+"'", "'", "\x00")
	})
	var operations []string
	for _, p := range []string{"/bad/php", "/bad/script", "/bad/formula", "/good/echo", "/good/number", "/good/quotes", "/good/escaped"} {
		operations = append(operations, "GET "+p+"?q=7")
	}
	got := attacktest.Attack(t, mux, []*attack.Check{Check}, operations)
	attacktest.Expect(t, got, "dast/codeinjection/evaluation GET /bad/php query:q", "dast/codeinjection/evaluation GET /bad/script query:q", "dast/codeinjection/evaluation GET /bad/formula query:q")
}
