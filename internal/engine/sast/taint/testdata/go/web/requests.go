package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"gopkg.in/yaml.v3"
	"html"
	"io"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

var dbrequests *sql.DB

type user struct {
	Name string `json:"name"`
	Tags []string
	Meta map[string]string
	Boss *user
}

func decode(w http.ResponseWriter, r *http.Request) {
	var a user
	xml.NewDecoder(r.Body).Decode(&a)
	dbrequests.Query(a.Name) // want sql
	var b user
	data, _ := io.ReadAll(r.Body)
	yaml.Unmarshal(data, &b)
	dbrequests.Query(b.Meta["x"]) // want sql
	dbrequests.Query(b.Boss.Name) // want sql
	var c []user
	json.Unmarshal(data, &c)
	for _, u := range c {
		dbrequests.Query(u.Name) // want sql
	}
	rec, _ := csv.NewReader(r.Body).Read()
	dbrequests.Query(rec[0]) // want sql
	all, _ := csv.NewReader(r.Body).ReadAll()
	for _, row := range all {
		dbrequests.Query(row[1]) // want sql
	}
	raw, _ := base64.StdEncoding.DecodeString(r.FormValue("a"))
	dbrequests.Query(string(raw)) // want sql
	hx, _ := hex.DecodeString(r.FormValue("a"))
	dbrequests.Query(string(hx)) // want sql
	gz, _ := gzip.NewReader(r.Body)
	un, _ := io.ReadAll(gz)
	dbrequests.Query(string(un)) // want sql
	out, _ := json.Marshal(map[string]string{"a": r.FormValue("a")})
	dbrequests.Query(string(out)) // want sql
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var d user
	if err := dec.Decode(&d); err != nil {
		return
	}
	dbrequests.Query(d.Name) // want sql
	var anyv any
	json.Unmarshal(data, &anyv)
	m := anyv.(map[string]any)
	dbrequests.Query(m["a"].(string)) // want sql
	var e struct{ Q string }
	json.NewDecoder(r.Body).Decode(&e)
	dbrequests.Query(e.Q) // want sql
	f := decodeInto[user](r)
	dbrequests.Query(f.Name) // want sql
	g, _ := decodeGeneric[user](r)
	dbrequests.Query(g.Name) // want sql
}

func decodeInto[T any](r *http.Request) T {
	var v T
	json.NewDecoder(r.Body).Decode(&v)
	return v
}
func decodeGeneric[T any](r *http.Request) (*T, error) {
	v := new(T)
	err := json.NewDecoder(r.Body).Decode(v)
	return v, err
}

func values(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	dbrequests.Query(q["a"][0])      // want sql
	dbrequests.Query(q.Get("a"))     // want sql
	dbrequests.Query(r.Form["x"][0]) // want sql
	for k, vs := range r.Form {
		dbrequests.Query(k)     // want sql
		dbrequests.Query(vs[0]) // want sql
	}
	v := url.Values{}
	v.Set("a", r.FormValue("a"))
	v.Set("b", "x")
	dbrequests.Query(v.Get("a")) // want sql
	dbrequests.Query(v.Get("b"))
	dbrequests.Query(v.Encode()) // want sql
	h := http.Header{}
	h.Set("X", r.FormValue("a"))
	dbrequests.Query(h.Get("X"))        // want sql
	dbrequests.Query(r.Header.Get("X")) // want sql
	dbrequests.Query(r.Header["X"][0])  // want sql
	c, _ := r.Cookie("a")
	dbrequests.Query(c.Value) // want sql
	for _, c := range r.Cookies() {
		dbrequests.Query(c.Value) // want sql
	}
	u, p, _ := r.BasicAuth()
	dbrequests.Query(u) // want sql
	dbrequests.Query(p) // want sql
	file, fh, _ := r.FormFile("f")
	dbrequests.Query(fh.Filename) // want sql
	content, _ := io.ReadAll(file)
	dbrequests.Query(string(content)) // want sql
	mr, _ := r.MultipartReader()
	part, _ := mr.NextPart()
	dbrequests.Query(part.FileName()) // want sql
	pb, _ := io.ReadAll(part)
	dbrequests.Query(string(pb)) // want sql
	for _, hs := range r.MultipartForm.File {
		for _, h := range hs {
			dbrequests.Query(h.Filename) // want sql
		}
	}
	dbrequests.Query(r.PathValue("id")) // want sql
	dbrequests.Query(r.URL.Path)        // want sql
	dbrequests.Query(r.URL.RawQuery)    // want sql
	dbrequests.Query(r.Host)            // want sql
	dbrequests.Query(r.RequestURI)      // want sql
	dbrequests.Query(r.UserAgent())     // want sql
	dbrequests.Query(r.Method)
	dbrequests.Query(r.RemoteAddr)
	dbrequests.Query(strings.ToLower(r.PostFormValue("a")) + "x") // want sql
	uu := &url.URL{Path: r.FormValue("a")}
	dbrequests.Query(uu.String())                      // want sql
	dbrequests.Query(path.Join("a", r.FormValue("a"))) // want sql
	dbrequests.Query(filepath.Base(r.FormValue("a")))  // want sql
	dbrequests.Query(strconv.Quote(r.FormValue("a")))  // want sql
	n, _ := strconv.Atoi(r.FormValue("a"))
	dbrequests.Query(fmt.Sprintf("limit %d", n))
	dbrequests.Query(html.EscapeString(r.FormValue("a"))) // want sql
}

type ctxKey int

func contexts(w http.ResponseWriter, r *http.Request) {
	ctx := context.WithValue(r.Context(), ctxKey(1), r.FormValue("a"))
	next(w, r.WithContext(ctx))
	ctx2, cancel := context.WithTimeout(ctx, 5)
	defer cancel()
	dbrequests.Query(ctx2.Value(ctxKey(1)).(string))       // want sql
	dbrequests.QueryContext(r.Context(), r.FormValue("a")) // want sql
}
func next(w http.ResponseWriter, r *http.Request) {
	s, _ := r.Context().Value(ctxKey(1)).(string)
	dbrequests.Query(s) // want sql
}

func errs(w http.ResponseWriter, r *http.Request) {
	err := do(r.FormValue("a"))
	if err != nil {
		dbrequests.Query(err.Error()) // want sql
	}
	var se *siteErr
	if errors.As(err, &se) {
		dbrequests.Query(se.q) // want sql
	}
	e2 := fmt.Errorf("wrap: %w", err)
	dbrequests.Query(e2.Error()) // want sql
	e3 := errors.Join(err, errors.New("x"))
	dbrequests.Query(e3.Error()) // want sql
}

type siteErr struct{ q string }

func (e *siteErr) Error() string { return "bad " + e.q }
func do(s string) error          { return &siteErr{q: s} }
