package web

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sort"
)

var dbguards *sql.DB

func controls(w http.ResponseWriter, r *http.Request) {
	a := r.FormValue("a")
	s := "x"
	switch a {
	case "1":
		s = a
		fallthrough
	case "2":
		s += "y"
	default:
		s = "z"
	}
	dbguards.Query(s)
	t := "x"
	for i := 0; i < 3; i++ {
		if i == 1 {
			t = a
			continue
		}
		dbguards.Query(t) // want sql
	}
	var p *string
	safe := "x"
	p = &a
	dbguards.Query(*p) // want sql
	p = &safe
	dbguards.Query(*p)
	x := a
	x = "safe"
	dbguards.Query(x)
	if false {
		dbguards.Query(a)
	}
	const debug = false
	if debug {
		dbguards.Query(a)
	}
	y := a
	func() { y = "safe" }()
	dbguards.Query(y)
	if a == "fixed" {
		dbguards.Query(a)
	}
	switch a {
	case "asc", "desc":
		dbguards.Query(a)
	}
	allowed := map[string]bool{"a": true, "b": true}
	if allowed[a] {
		dbguards.Query(a)
	}
	if _, ok := allowed[a]; !ok {
		return
	}
	dbguards.Query(a)
}

func controls2(w http.ResponseWriter, r *http.Request) {
	a := r.FormValue("a")
	if !slices.Contains([]string{"x", "y"}, a) {
		http.Error(w, "bad", 400)
		return
	}
	dbguards.Query(a)
}

var idRE = regexp.MustCompile(`^[a-z0-9]+$`)

func controls3(w http.ResponseWriter, r *http.Request) {
	a := r.FormValue("a")
	if !idRE.MatchString(a) {
		return
	}
	dbguards.Query(a)
	b := r.FormValue("b")
	if err := check(b); err != nil {
		return
	}
	dbguards.Query(b)
	c := r.FormValue("c")
	if !valid(c) {
		return
	}
	dbguards.Query(c)
	d := map[string]string{"asc": "ASC", "desc": "DESC"}[r.FormValue("d")]
	dbguards.Query(d)
	e := order(r.FormValue("e"))
	dbguards.Query(e)
	i := sort.SearchStrings(nil, a)
	dbguards.Query(fmt.Sprint(i))
}
func check(s string) error {
	if !idRE.MatchString(s) {
		return errors.New("bad")
	}
	return nil
}
func valid(s string) bool { return idRE.MatchString(s) }
func order(s string) string {
	switch s {
	case "a":
		return "a"
	case "b":
		return "b"
	}
	return "c"
}
