package sqlinjection

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

// slashed writes backslashes before quotes and backslashes, byte by byte.
func slashed(s string) string {
	return strings.NewReplacer(`\`, `\\`, "'", `\'`, `"`, `\"`).Replace(s)
}

// unslashed reads the inside of a string as MySQL does, and writes it as SQLite reads it:
// what a backslash stands before does not end it. With wide, two bytes from 0x81 on are one
// character.
func unslashed(s string, wide bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case wide && s[i] >= 0x81 && i+1 < len(s):
			i++
			b.WriteByte('?')
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteString(strings.ReplaceAll(s[i:i+1], "'", "''"))
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func TestHalves(t *testing.T) {
	db := database(t)
	mux := http.NewServeMux()
	serve := func(path, charset, show string, inside func(string) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset="+charset)
			names, err := find(db, "SELECT name FROM people WHERE name='"+inside(r.FormValue("q"))+"'")
			views[show](w, r.FormValue("q"), names, err)
		})
	}
	wide := func(s string) string { return unslashed(slashed(s), true) }
	serve("/wide/text", "gbk", "text", wide)
	serve("/wide/page", "gbk", "page", wide)
	serve("/wide/bit", "gbk", "bit", wide)
	serve("/narrow/text", "gbk", "text", func(s string) string { return unslashed(slashed(s), false) })
	serve("/narrow/page", "gbk", "page", func(s string) string { return unslashed(slashed(s), false) })
	serve("/bound", "gbk", "text", func(s string) string { return strings.ReplaceAll(s, "'", "''") })
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule},
		[]string{"GET /wide/text?q=alice", "POST /wide/page q=alice", "POST /wide/bit q=nobody",
			"GET /narrow/text?q=alice", "GET /narrow/page?q=alice", "GET /bound?q=alice"})
	activescantest.Expect(t, got, "dast/sqlinjection/error GET /wide/text query:q", "dast/sqlinjection/error POST "+
		"/wide/page form:q", "dast/sqlinjection/boolean POST /wide/bit form:q")
	for _, f := range got.Findings {
		if !strings.Contains(f.Live.Payload, "%E5'") || !strings.Contains(f.Live.Curl, "%E5%27") {
			t.Errorf("payload %q, curl %s", f.Live.Payload, f.Live.Curl)
		}
	}
}

// Values that a database reads as numbers, whatever stands behind the number, and filters
// of words and spaces.
func TestNumbersInStrings(t *testing.T) {
	db := database(t)
	mux := http.NewServeMux()
	serve := func(path, query string, filter func(string) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			names, _ := find(db, fmt.Sprintf(query, filter(r.FormValue("q"))))
			views["bit"](w, r.FormValue("q"), names, nil)
		})
	}
	same := func(s string) string { return s }
	words := regexp.MustCompile(`(?i)and|or|\s|--|[/*#]`)
	mysql := func(s string) string { // has another word for AND
		return strings.ReplaceAll(words.ReplaceAllString(s, ""), "&&", " AND ")
	}
	const single, double, called = "SELECT name FROM people WHERE id=0+'%s'", `SELECT name FROM people WHERE id=0+"%s"`,
		"SELECT name FROM people WHERE id=(0+'%s')"
	serve("/single", single, same)
	serve("/double", double, same)
	serve("/words", single, mysql)
	serve("/words/double", double, mysql)
	serve("/words/called", called, mysql)
	serve("/escaped", single, func(s string) string { return strings.ReplaceAll(s, "'", "''") })
	serve("/taken", single, func(s string) string { return mysql(strings.NewReplacer("'", "", `"`, "").Replace(s)) })
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, []string{"GET /single?q=2", "GET /double?q=2",
		"GET /words?q=2", "GET /words/double?q=2", "GET /words/called?q=2", "GET /escaped?q=2", "GET /taken?q=2"},
		func(r *activescan.Engine) { r.RecordFact("proven:mysql") })
	activescantest.Expect(t, got, "dast/sqlinjection/boolean GET /single query:q", "dast/sqlinjection/boolean GET "+
		"/double query:q", "dast/sqlinjection/boolean GET /words query:q",
		"dast/sqlinjection/boolean GET /words/double query:q", "dast/sqlinjection/boolean GET /words/called query:q")
}

// A form that asks for a password answers an unknown user and a failed statement alike.
func TestSignIn(t *testing.T) {
	db := database(t)
	mux := http.NewServeMux()
	serve := func(path string, quote func(string) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			names, err := find(db, fmt.Sprintf(`SELECT name FROM people WHERE name=(%s) AND mail=(%s)`,
				quote(r.FormValue("user")), quote(r.FormValue("passwd"))))
			if err != nil || len(names) == 0 {
				fmt.Fprint(w, "who are you?")
				return
			}
			http.Redirect(w, r, "/welcome", http.StatusFound)
		})
	}
	serve("/in", func(s string) string { return "'" + s + "'" })
	serve("/escaped", func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" })
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule},
		[]string{"POST /in user=someone&passwd=x", "POST /escaped user=someone&passwd=x"})
	activescantest.Expect(t, got, "dast/sqlinjection/boolean POST /in form:user", "dast/sqlinjection/boolean POST /in "+
		"form:passwd")
}
