package sqlinjection

import (
	"database/sql"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/scan"
)

// database has five people.
func database(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file::memory:?cache=shared&name="+t.Name())
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{"CREATE TABLE people (id INTEGER, name TEXT, " +
		"mail TEXT)", "CREATE TABLE log (what TEXT)",
		"INSERT INTO people VALUES (1,'alice','alice@site.example'),(2,'bob','bob@site.example'),(3,'carol','c@site.example'),(4,'dave','d@site.example'),(5,'eve','e@site.example')"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// names reads the names that a query finds.
func find(db *sql.DB, query string, args ...any) ([]string, error) {
	rows, err := db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// A view shows the result of a query, or its error.
type view func(w http.ResponseWriter, value string, names []string, err error)

func list(w http.ResponseWriter, names []string) {
	fmt.Fprintf(w, "<html><h1>People</h1><ul><li>%s</ul></html>", strings.Join(names, "<li>"))
}

// The views of an application, from talkative to silent.
var views = map[string]view{
	"text": func(w http.ResponseWriter, _ string, names []string, err error) {
		if err != nil {
			fmt.Fprintf(w, "Error: %s", html.EscapeString(err.Error()))
			return
		}
		list(w, names)
	},
	"status": func(w http.ResponseWriter, _ string, names []string, err error) {
		if err != nil {
			http.Error(w, "sorry", http.StatusInternalServerError)
			return
		}
		list(w, names)
	},
	"page": func(w http.ResponseWriter, _ string, names []string, err error) {
		if err != nil {
			fmt.Fprint(w, "<html>Something went wrong, please try again</html>")
			return
		}
		list(w, names)
	},
	"hidden": func(w http.ResponseWriter, value string, names []string, _ error) { // an error finds nothing
		fmt.Fprintf(w, `<html><input name=q value="%s"><input type=hidden name=token value="t%x"> page made at %s`,
			html.EscapeString(value), rand.Uint64(), time.Now())
		list(w, names)
	},
	"first": func(w http.ResponseWriter, _ string, names []string, err error) { // breaks where nothing is found as well
		if err != nil || len(names) == 0 {
			http.Error(w, "sorry", http.StatusInternalServerError)
			return
		}
		list(w, names[:1])
	},
	"known": func(w http.ResponseWriter, value string, names []string,
		err error) { // shows no more than values that it knows
		if err != nil || len(names) == 0 {
			http.NotFound(w, nil)
			return
		}
		fmt.Fprint(w, "<html><h1>People</h1>", map[string]string{"alice": "Alice is well", "2": "Bob is well"}[value])
	},
	"bit": func(w http.ResponseWriter, _ string, names []string, _ error) { // one word of many
		word := "MISSING"
		if len(names) > 0 {
			word = "exists"
		}
		fmt.Fprintf(w, "<html>%s The user %s in the database. %s</html>", strings.Repeat("many words of a menu ", 300),
			word, strings.Repeat("and a footer ", 100))
	},
}

// queries put the value into a statement.
var queries = map[string]string{
	"string":   "SELECT name FROM people WHERE name='%s'",
	"number":   "SELECT name FROM people WHERE id=%s",
	"parens":   "SELECT name FROM people WHERE ((name='%s') AND id>0)",
	"like":     "SELECT name FROM people WHERE name LIKE '%%%s%%'",
	"call":     "SELECT name FROM people WHERE lower(name)=lower('%s') AND id IN (1,2,3)",
	"order":    "SELECT name FROM people ORDER BY %s",
	"sort":     "SELECT name FROM people ORDER BY name %s",
	"column":   "SELECT %s FROM people",
	"table":    "SELECT name FROM %s",
	"password": "SELECT name FROM people WHERE name='%s' AND mail='x'",
}

var values = map[string]string{"string": "alice", "number": "2", "parens": "bob", "like": "ali", "call": "Alice",
	"order": "name", "sort": "DESC", "column": "name", "table": "people", "password": "nobody"}

func TestVulnerable(t *testing.T) {
	db := database(t)
	mux := http.NewServeMux()
	var operations, want []string
	add := func(query, show string) {
		path := "/" + query + "/" + show
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			v := r.FormValue("q")
			w.Header().Set("Content-Type", "text/html")
			names, err := find(db, fmt.Sprintf(queries[query], v))
			views[show](w, v, names, err)
		})
		operations = append(operations, "GET "+path+"?q="+values[query])
		want = append(want, path)
	}
	for query := range queries {
		add(query, "text")
		if query != "password" { // its baseline finds nothing, and neither do its repairs
			add(query, "status")
		}
	}
	for _, query := range []string{"string", "number", "parens", "like", "order", "sort"} {
		add(query, "page")
	}
	for _, query := range []string{"string", "number", "parens", "like", "call"} {
		add(query, "first")
	}
	add("string", "known")
	add("number", "known")
	for _, query := range []string{"string", "number", "parens", "call", "password"} {
		add(query, "hidden")
		add(query, "bit")
	}
	// An INSERT that tells its errors by the status only, in a form and in JSON.
	mux.HandleFunc("/insert", func(w http.ResponseWriter, r *http.Request) {
		if _, err := db.Exec("INSERT INTO log (what) VALUES ('" + r.FormValue("q") + "')"); err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	operations = append(operations, "POST /insert q=abc&z=1")
	want = append(want, "/insert")
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations)
	found := map[string]int{}
	for _, f := range got.Findings {
		at := f.Live.URL[strings.Index(f.Live.URL, "://")+3:]
		found[at[strings.Index(at, "/"):]]++
		if f.Live.Parameter != "q" || len(f.Live.Proof) == 0 || len(f.Live.Exchanges) < 3 {
			t.Errorf("%s: parameter %s, %d proofs, %d exchanges", activescantest.Line(f), f.Live.Parameter,
				len(f.Live.Proof), len(f.Live.Exchanges))
		}
	}
	for _, path := range want {
		if found[path] != 1 {
			t.Errorf("%s: found %d times", path, found[path])
		}
	}
	if len(got.Findings) != len(want) {
		t.Errorf("%d findings, not %d", len(got.Findings), len(want))
	}
	if got.Requests > 25*len(operations) {
		t.Errorf("%d requests for %d operations", got.Requests, len(operations))
	}
}

func TestSilent(t *testing.T) {
	db := database(t)
	mux := http.NewServeMux()
	var operations []string
	page := func(path string, f http.HandlerFunc) {
		mux.HandleFunc(path, f)
		for _, v := range []string{"alice", "2", ""} {
			operations = append(operations, "GET "+path+"?q="+v)
		}
	}
	for show, v := range views {
		page("/bound/"+show, func(w http.ResponseWriter, r *http.Request) {
			names, err := find(db, "SELECT name FROM people WHERE name=? OR id=?", r.FormValue("q"), r.FormValue("q"))
			v(w, r.FormValue("q"), names, err)
		})
		page("/quoted/"+show, func(w http.ResponseWriter, r *http.Request) {
			names, err := find(db, "SELECT name FROM people "+
				"WHERE name='"+strings.ReplaceAll(r.FormValue("q"), "'", "''")+"'")
			v(w, r.FormValue("q"), names, err)
		})
		page("/parsed/"+show, func(w http.ResponseWriter, r *http.Request) {
			n, err := strconv.Atoi(r.FormValue("q"))
			if err != nil {
				v(w, r.FormValue("q"), nil, err)
				return
			}
			names, err := find(db, "SELECT name FROM people WHERE id="+strconv.Itoa(n))
			v(w, r.FormValue("q"), names, err)
		})
		page("/listed/"+show, func(w http.ResponseWriter, r *http.Request) {
			order := map[string]string{"alice": "name", "2": "id"}[r.FormValue("q")]
			if order == "" {
				// tells of SQL, and is none
				v(w, r.FormValue("q"), nil, fmt.Errorf("near \"%s\": syntax error", r.FormValue("q")))
				return
			}
			names, err := find(db, "SELECT name FROM people ORDER BY "+order)
			v(w, r.FormValue("q"), names, err)
		})
	}
	page("/echo", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "<p>%s</p>", html.EscapeString(r.FormValue("q")))
	})
	page("/tutorial", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "You have an error in your SQL syntax; ORA-00933; you searched %s",
			html.EscapeString(r.FormValue("q")))
	})
	page("/random", func(w http.ResponseWriter, _ *http.Request) {
		for range 50 {
			fmt.Fprintf(w, "w%c%c%c ", 'a'+rand.IntN(26), 'a'+rand.IntN(26), 'a'+rand.IntN(26))
		}
	})
	page("/flaky", func(w http.ResponseWriter, _ *http.Request) {
		if rand.IntN(3) == 0 {
			http.Error(w, "SQLITE_ERROR: busy", http.StatusInternalServerError)
		}
	})
	page("/firewall", func(w http.ResponseWriter, r *http.Request) {
		if strings.ContainsAny(r.FormValue("q"), `'"();`) {
			http.Error(w, "blocked: SQL injection? You have an error in your SQL syntax", http.StatusForbidden)
			return
		}
		fmt.Fprint(w, "welcome")
	})
	page("/words", func(w http.ResponseWriter, r *http.Request) { // a search that knows AND, OR and quotes
		found := false
		for _, alternative := range strings.Split(r.FormValue("q"), " OR ") {
			all := true
			for _, word := range strings.Split(alternative, " AND ") {
				all = all && strings.Contains("alice 2 bob carol", strings.Trim(word, `'"`))
			}
			found = found || all
		}
		fmt.Fprintf(w, "found: %v", found)
	})
	page("/prefix", func(w http.ResponseWriter, r *http.Request) { // reads a number as C does
		n := 0
		_, _ = fmt.Sscanf(r.FormValue("q"), "%d", &n)
		names, _ := find(db, "SELECT name FROM people WHERE id=?", n)
		list(w, names)
	})
	var count atomic.Int64
	page("/limited", func(w http.ResponseWriter, _ *http.Request) {
		if count.Add(1)%5 == 0 {
			http.Error(w, "too many requests", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, "ok")
	})
	page("/length", func(w http.ResponseWriter, r *http.Request) {
		if len(r.FormValue("q")) > 10 {
			http.Error(w, "too long", http.StatusInternalServerError)
		}
	})
	activescantest.Expect(t, activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations))
}

// asleep answers as late as the statement says, without any database: only the form of
// the value is read.
func asleep(w http.ResponseWriter, v string) {
	_, after, ok := strings.Cut(v, "'")
	if !ok {
		return
	}
	if _, n, ok := strings.Cut(after, "SLEEP("); ok {
		seconds, _, _ := strings.Cut(n, ")")
		d, _ := strconv.ParseFloat(seconds, 64)
		time.Sleep(time.Duration(d * float64(time.Second)))
	}
	fmt.Fprint(w, "thank you")
}

func TestTime(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/bad", func(w http.ResponseWriter, r *http.Request) { asleep(w, r.FormValue("q")) })
	mux.HandleFunc("/good", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "thank you") })
	mux.HandleFunc("/always", func(w http.ResponseWriter, r *http.Request) { // slow for any long value
		if len(r.FormValue("q")) > 20 {
			time.Sleep(1900 * time.Millisecond)
		}
	})
	got := activescantest.Timed(t, mux, []*activescan.Rule{Slow},
		[]string{"GET /bad?q=a", "GET /good?q=a", "GET /always?q=a"})
	activescantest.Expect(t, got, "dast/sqlinjection/time GET /bad query:q")
	production := activescantest.Timed(t, mux, []*activescan.Rule{Slow}, []string{"GET /bad?q=a"},
		func(r *activescan.Engine) {
			r.Target.Production = true
		})
	activescantest.Expect(t, production)
	safe := activescantest.Timed(t, mux, []*activescan.Rule{Slow}, []string{"GET /bad?q=a"},
		activescantest.Profile(scan.Safe))
	activescantest.Expect(t, safe)
}

func FuzzSignature(f *testing.F) {
	f.Add("You have an error in your SQL syntax", "")
	f.Fuzz(func(t *testing.T, text, without string) {
		if errorSignature(text, text) != "" {
			t.Error("a page differs from itself")
		}
		_ = errorSignature(text, without)
	})
}
