package codeinjection

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

// program runs an expression in one of the small languages.
func program(join string, str bool, text string) (string, error) {
	v, err := (&interpreter{join: join, str: str}).expression(text)
	return fmt.Sprint(v), err
}

func calculator(v string) (string, error) {
	if strings.Trim(v, "0123456789+-*%() ") != "" {
		return "", errProgram
	}
	return program("+", false, v)
}

// exit is a function that is made of text, and called.
var exit = regexp.MustCompile(`^cos\.constructor\("return '(\w+)'\+(\d+\*\d+)\+'(\w+)'"\)\(\)$`)

// calculatorWithFunctions is one whose functions are those of its language.
func calculatorWithFunctions(v string) (string, error) {
	if m := exit.FindStringSubmatch(v); m != nil {
		return m[1] + multiplied(m[2]) + m[3], nil
	}
	return calculator(v)
}

var product = regexp.MustCompile(`(\d+)\*(\d+)`)

// multiplied computes products wherever they stand.
func multiplied(v string) string {
	return product.ReplaceAllStringFunc(v, func(s string) string {
		m := product.FindStringSubmatch(s)
		a, _ := strconv.Atoi(m[1])
		b, _ := strconv.Atoi(m[2])
		return fmt.Sprint(a * b)
	})
}

var braces = regexp.MustCompile(`\{\$\{print\(([0-9*-]+)\)\}\}`)

// interpolated is a string in double quotes, as PHP evaluates it: what is printed comes
// before the string. Quotes and backslashes of the value would end it.
func interpolated(v string) (string, error) {
	m := braces.FindStringSubmatch(v)
	if m == nil {
		return v, nil
	}
	out, err := (&interpreter{join: "."}).program("print(" + m[1] + ")")
	return out + braces.ReplaceAllString(v, ""), err
}

// applications evaluate values, or do not; the first word of the name tells
// whether they should be told, and with which rule.
var applications = map[string]func(v string) (string, error){
	"/evaluation/php":       func(v string) (string, error) { return program(".", false, "'"+v+"'") },
	"/evaluation/script":    func(v string) (string, error) { return program("+", false, `"`+v+`"`) },
	"/evaluation/python":    func(v string) (string, error) { return program("+", true, "'"+v+"'") },
	"/evaluation/template":  func(v string) (string, error) { return program("~", false, "'"+v+"'") },
	"/evaluation/functions": calculatorWithFunctions,
	"/evaluation/formula":   func(v string) (string, error) { return program("+", false, v) },
	"/evaluation/call":      func(v string) (string, error) { return program("+", true, "str('"+v+"')") },
	"/evaluation/statement": func(v string) (string, error) {
		return (&interpreter{join: "."}).program("'" + v + "';print('done')")
	},
	"/evaluation/statements": func(v string) (string,
		error) { // a word alone is none, and neither is an expression without a sign behind it
		if !strings.HasPrefix(v, "print(") {
			return "", errProgram
		}
		return (&interpreter{join: "."}).program(v)
	},
	"/evaluation/braces": func(v string) (string, error) {
		return interpolated(strings.NewReplacer(`\`, "", "'", "", `"`, "").Replace(v))
	},
	"/error/compared": func(v string) (string, error) {
		out, err := program("+", true, `"`+v+`"`)
		return fmt.Sprint(out == "secret"), err
	},
	"/error/threshold": func(v string) (string, error) {
		out, err := program("+", true, "100-("+v+")")
		return fmt.Sprint(len(out) > 1), err
	},
	"/good/echo":       func(v string) (string, error) { return v, nil },
	"/good/number":     func(v string) (string, error) { _, err := strconv.Atoi(v); return v, err },
	"/good/calculator": calculator,
	"/good/names": func(v string) (string, error) { // says what it does not know
		if out, err := calculator(v); err == nil {
			return out, nil
		}
		return "there is no " + multiplied(v), nil
	},
	"/good/search":   func(v string) (string, error) { out, _ := calculator(v); return v + " = " + out, nil },
	"/good/braces":   func(v string) (string, error) { return braces.ReplaceAllString(v, "$1"), nil },
	"/good/products": func(v string) (string, error) { return multiplied(v), nil },
	"/good/pairs": func(v string) (string, error) {
		return strings.Join(product.FindAllString(multiplied(v), -1), " "), nil
	},
	"/good/prefix": func(v string) (string, error) { return v[:len(v)-len(strings.TrimLeft(v, "0123456789"))], nil },
	"/good/minus":  func(v string) (string, error) { return fmt.Sprint(strings.Count(v, "-")), nil },
	"/good/quotes": func(v string) (string, error) {
		if strings.ContainsAny(v, `'"`) {
			return "", errProgram
		}
		return v, nil
	},
	"/good/escaped": func(v string) (string, error) {
		return program(".", false, "'"+strings.ReplaceAll(v, "'", "’")+"'")
	},
}

func TestCheck(t *testing.T) {
	mux := http.NewServeMux()
	var operations, want []string
	for path, f := range applications {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			out, err := f(r.FormValue("q"))
			if err != nil {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			fmt.Fprintf(w, "<p>%s</p>", html.EscapeString(out))
		})
		operations = append(operations, "GET "+path+"?q=7")
		if kind := strings.Split(path, "/")[1]; kind != "good" {
			want = append(want, "dast/codeinjection/"+kind+" GET "+path+" query:q")
		}
	}
	slices.Sort(operations)
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations)
	activescantest.Expect(t, got, want...)
	if got.Requests > 22*len(operations) {
		t.Errorf("%d requests for %d operations", got.Requests, len(operations))
	}
}
