package pointers

import (
	"database/sql"
	"net/http"
)

var db *sql.DB

func elsewhere(w http.ResponseWriter, r *http.Request) {
	a, safe := r.FormValue("a"), "x"
	p := &a
	p = &safe
	db.Query(*p)
	q := &safe
	q = &a
	db.Query(*q) // want sql
	s := &safe
	db.Query(*s)
	*s = r.FormValue("a")
	db.Query(safe) // want sql
}

func given(a string) {
	safe := "x"
	p := &a
	p = &safe
	db.Query(*p)
}

func handler(w http.ResponseWriter, r *http.Request) { given(r.FormValue("a")) }

func either(w http.ResponseWriter, r *http.Request) {
	a, safe := r.FormValue("a"), "x"
	p := &safe
	if r.Method == "POST" {
		p = &a
	}
	db.Query(*p) // want sql
}
