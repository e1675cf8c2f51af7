package sqlinjection

import (
	"database/sql"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// advertised are words of which a page shows some, as it likes.
var advertised = strings.Fields("apples bread cheese dates eggs figs grapes honey ice jam kale limes mint nuts " +
	"olives pears")

// changing makes what writes pages that change by themselves, so that no two of them are
// the same; in each test the same ones in the same order.
func changing() func(w http.ResponseWriter, content string) {
	var mu sync.Mutex
	chance := rand.New(rand.NewPCG(1, 2))
	return func(w http.ResponseWriter, content string) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><ul>")
		for range 3 + chance.IntN(8) {
			fmt.Fprint(w, "<li>", advertised[chance.IntN(len(advertised))])
		}
		fmt.Fprintf(w, "</ul><main>%s</main></html>", content)
	}
}

// cells reads all rows of a query as texts.
func cells(db *sql.DB, query string, args ...any) (rows [][]string) {
	result, err := db.Query(query, args...)
	if err != nil {
		return nil
	}
	defer func() { _ = result.Close() }()
	columns, err := result.Columns()
	if err != nil {
		return nil
	}
	for result.Next() {
		row, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := result.Scan(into...); err != nil {
			return nil
		}
		texts := make([]string, len(columns))
		for i, c := range row {
			texts[i] = c.String
		}
		rows = append(rows, texts)
	}
	if result.Err() != nil {
		return nil
	}
	return rows
}

// stripped removes words of SQL once, as some filters do.
var stripped = regexp.MustCompile(`(?i)\b(?:and|or|sleep|case|like|cast|length)\b|\|\|`)

func TestUnion(t *testing.T) {
	db := database(t)
	mux := http.NewServeMux()
	var operations, want []string
	add := func(path, rule, value, query string, show func(rows [][]string) string) {
		write := changing()
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			write(w, show(cells(db, fmt.Sprintf(query, r.FormValue("q")))))
		})
		operations = append(operations, "GET "+path+"?q="+value)
		want = append(want, "dast/sqlinjection/"+rule+" GET "+path+" query:q")
	}
	all := func(rows [][]string) string { return html.EscapeString(fmt.Sprint(rows)) }
	for name, where := range map[string]string{"like": "name LIKE '%%%s%%'", "list": "lower(name) IN (lower('%s'))"} {
		add("/changing/"+name, "union", "alice", "SELECT id, name, mail FROM people WHERE "+where, all)
	}
	for name, where := range map[string]string{"string": "name='%s'",
		"parens": "((name='%s') AND id>0)"} { // words of the page tell
		add("/changing/"+name, "error", "alice", "SELECT id, name, mail FROM people WHERE "+where, all)
	}
	add("/changing/order", "error", "name", "SELECT id, name, mail FROM people ORDER BY %s", all)
	add("/changing/limit", "error", "3", "SELECT id, name, mail FROM people LIMIT %s", all)
	add("/changing/double", "error", "alice", `SELECT id, name, mail FROM people WHERE name="%s"`, all)
	add("/changing/number", "error", "2", "SELECT id, name, mail, 4, 5, 6, 7 FROM people WHERE id=%s", all)
	add("/changing/first", "union", "bob", "SELECT id, name FROM people WHERE name LIKE "+
		"'%%%s%%'", func(rows [][]string) string {
		if len(rows) == 0 {
			return ""
		}
		return "The user is " + html.EscapeString(rows[0][1])
	})
	add("/changing/price", "union", "bo", "SELECT name, id FROM people WHERE name LIKE "+
		"'%%%s%%'", func(rows [][]string) string {
		if len(rows) == 0 {
			return ""
		}
		n, _ := strconv.Atoi(rows[0][1])
		return html.EscapeString(rows[0][0][:1]) + " costs " + thousands(n)
	})
	add("/changing/nothing", "union", "nobody", "SELECT name, mail FROM people WHERE name='%s'", all)
	add("/changing/unseen", "error", "alice", "SELECT name, mail FROM people WHERE "+
		"name='%s'", func(rows [][]string) string {
		if len(rows) == 0 {
			return "This one is unknown to us"
		}
		return "This one is a customer"
	})
	for _, v := range []string{"alice", "2"} {
		write := changing()
		mux.HandleFunc("/stripped/"+v, func(w http.ResponseWriter, r *http.Request) {
			query := "SELECT id, name, mail FROM people WHERE name='%s'"
			if v == "2" {
				query = "SELECT id, name, mail FROM people WHERE id=%s"
			}
			write(w, all(cells(db, fmt.Sprintf(query, stripped.ReplaceAllString(r.FormValue("q"), "")))))
		})
		operations = append(operations, "GET /stripped/"+v+"?q="+v)
		want = append(want, "dast/sqlinjection/"+map[string]string{"2": "error", "alice": "union"}[v]+" GET /stripped/"+
			v+" query:q")
	}
	requests := 0
	for i, operation := range operations { // each by itself, so that everything that is random is the same in each run
		got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, []string{operation})
		activescantest.Expect(t, got, want[i])
		for _, f := range got.Findings {
			if len(f.Live.Proof) < 3 || len(f.Live.Exchanges) < 3 {
				t.Errorf("%s: %d proofs, %d exchanges", activescantest.Line(f), len(f.Live.Proof),
					len(f.Live.Exchanges))
			}
		}
		requests += got.Requests
	}
	if requests > 40*len(operations) {
		t.Errorf("%d requests for %d operations", requests, len(operations))
	}
	activescantest.Expect(t, activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations[:1],
		activescantest.Profile(scan.Safe)))
}

// thousands writes a number as shops do.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// arithmetic is a product in a text.
var arithmetic = regexp.MustCompile(`(\d+)\*(\d+)`)

func TestNoUnion(t *testing.T) {
	db := database(t)
	mux := http.NewServeMux()
	var operations []string
	page := func(path string, f func(value string) string) {
		write := changing()
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { write(w, f(r.FormValue("q"))) })
		for _, v := range []string{"alice", "2", ""} {
			operations = append(operations, "GET "+path+"?q="+v)
		}
	}
	rows := func(query string, args ...any) string {
		return html.EscapeString(fmt.Sprint(cells(db, query, args...)))
	}
	page("/bound", func(v string) string { return rows("SELECT * FROM people WHERE name=? OR id=?", v, v) })
	page("/quoted", func(v string) string {
		return rows("SELECT * FROM people WHERE name='" + strings.ReplaceAll(v, "'", "''") + "'")
	})
	page("/prefix", func(v string) string { // reads a number as C does
		n := 0
		_, _ = fmt.Sscanf(v, "%d", &n)
		return "You asked for " + html.EscapeString(v) + rows("SELECT * FROM people WHERE id=?", n)
	})
	page("/calculator", func(v string) string { // computes whatever it sees
		return html.EscapeString(arithmetic.ReplaceAllStringFunc(v, func(product string) string {
			a, b, _ := strings.Cut(product, "*")
			x, _ := strconv.Atoi(a)
			y, _ := strconv.Atoi(b)
			return strconv.Itoa(x * y)
		}))
	})
	page("/words", func(v string) string { // finds each word
		found := ""
		for _, word := range strings.Fields(v) {
			found += rows("SELECT * FROM people WHERE name=? OR id=?", word, word)
		}
		return found
	})
	page("/numbers", func(string) string { return fmt.Sprint(rand.Uint64(), rand.Uint64()) })
	page("/ignored", func(string) string { return "Welcome" })
	for path, line := range map[string]func(v string) string{ // programs that read a list, and say where it ends
		"/length": func(v string) string { return fmt.Sprint("Unexpected end at position ", len(v)) },
		"/short": func(v string) string { // repeats what is short, as parsers of JSON do
			if len(v) > 20 {
				return "Unexpected token near " + html.EscapeString(v[:8]) + "... is not valid"
			}
			return strings.ReplaceAll(html.EscapeString(v), " ", "<br>") + " is not valid"
		},
		"/tail": func(v string) string { return "Unexpected end near " + html.EscapeString(v[max(0, len(v)-6):]) },
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, line(r.FormValue("q")))
		})
		operations = append(operations, "GET "+path+"?q=a+b")
	}
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations)
	activescantest.Expect(t, got)
	if got.Requests > 25*len(operations) {
		t.Errorf("%d requests for %d operations", got.Requests, len(operations))
	}
}

func TestShown(t *testing.T) {
	for _, c := range []struct {
		body, header string
		want         int
	}{
		{"a 1234567890 b", "", 1}, {"1,234,567,890", "", 1}, {"1.234.567.890,00", "", 1},
		{"1&nbsp;234&nbsp;567&nbsp;890", "", 1}, {"1.23456789e+09", "", 1}, {"1.23456789E9", "", 1},
		{"", "/items/1234567890", 1}, {"1234*567890", "", 0}, {"12345678", "", 0}, {"", "", 0},
	} {
		resp := &message.Response{Body: []byte(c.body), Header: http.Header{}}
		if c.header != "" {
			resp.Header.Set("Location", c.header)
		}
		if got := shownColumns(resp, []string{"", "1234567890", "987654321"}); len(got) != c.want ||
			c.want == 1 && got[0] != 2 {
			t.Errorf("%q, %q: %v", c.body, c.header, got)
		}
	}
}

// TestHeaders keeps who asks in a table; the safe twin does so with parameters.
func TestHeaders(t *testing.T) {
	db := database(t)
	mux := http.NewServeMux()
	for _, c := range []struct{ path, header string }{{"/agent/", "User-Agent"}, {"/referer/", "Referer"},
		{"/address/", "X-Forwarded-For"}} {
		mux.HandleFunc(c.path, func(w http.ResponseWriter, r *http.Request) {
			if _, err := db.Exec("INSERT INTO log (what) VALUES ('" + r.Header.Get(c.header) + "')"); err != nil {
				http.Error(w, "sorry", http.StatusInternalServerError)
				return
			}
			fmt.Fprint(w, "welcome")
		})
	}
	mux.HandleFunc("/bound/", func(w http.ResponseWriter, r *http.Request) {
		if _, err := db.Exec("INSERT INTO log (what) VALUES (?)", r.UserAgent()+r.Referer()); err != nil {
			http.Error(w, "sorry", http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, "welcome ", html.EscapeString(r.UserAgent()))
	})
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule},
		[]string{"GET /agent/a", "GET /agent/b", "GET /referer/a",
			"GET /address/a", "GET /bound/a"},
		func(r *activescan.Engine) { r.Parallel = 1 })
	activescantest.Expect(t, got, "dast/sqlinjection/error GET /agent/a header:User-Agent",
		"dast/sqlinjection/error GET "+
			"/referer/a header:Referer",
		"dast/sqlinjection/error GET /address/a header:X-Forwarded-For")
	if got.Requests > 65 {
		t.Errorf("%d requests", got.Requests)
	}
}
