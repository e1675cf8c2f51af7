package web

import (
	"example.com/app/store"
	"net/http"
)

type T struct {
	s  *S
	st store.Store
}

func h(w http.ResponseWriter, r *http.Request) {
	db.Query(r.FormValue("a"))           // want sql
	db2.Query(r.FormValue("a"))          // want sql
	db3.Query(r.FormValue("a"))          // want sql
	open().Query(r.FormValue("a"))       // want sql
	store.DB.Query(r.FormValue("a"))     // want sql
	store.Conn().Query(r.FormValue("a")) // want sql
}
func (s *S) h(w http.ResponseWriter, r *http.Request) {
	s.db.Query(r.FormValue("a"))     // want sql
	s.conn().Query(r.FormValue("a")) // want sql
}
func (t *T) h(w http.ResponseWriter, r *http.Request) {
	t.s.db.Query(r.FormValue("a"))     // want sql
	t.s.conn().Query(r.FormValue("a")) // want sql
	t.st.DB.Query(r.FormValue("a"))    // want sql
}
func g(s *S, st *store.Store, w http.ResponseWriter, r *http.Request) {
	s.db.Query(r.FormValue("a"))     // want sql
	s.conn().Query(r.FormValue("a")) // want sql
	st.DB.Query(r.FormValue("a"))    // want sql
	x := &store.Store{}
	x.DB.Query(r.FormValue("a")) // want sql
	y := store.Conn()
	y.Query(r.FormValue("a"))                  // want sql
	f := func() { db.Query(r.FormValue("a")) } // want sql
	f()
}
