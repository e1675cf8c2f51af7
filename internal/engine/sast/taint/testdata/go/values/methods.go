package values

import (
	"database/sql"
	"net/http"
)

var dbmethods *sql.DB

type base struct{ name string }

func (b *base) set(s string)        { b.name = s }
func (b base) get() string          { return b.name }
func (b base) join(s string) string { return s }

func methods(w http.ResponseWriter, r *http.Request) {
	c := &base{}
	(*base).set(c, r.FormValue("a"))
	dbmethods.Query(c.name) // want sql
	f := (*base).set
	d := &base{}
	f(d, r.FormValue("a"))
	dbmethods.Query(d.name)       // want sql
	dbmethods.Query(base.get(*d)) // want sql
	g := base.get
	dbmethods.Query(g(*d)) // want sql
	h := base.join
	dbmethods.Query(h(base{}, r.FormValue("a"))) // want sql
	e := &base{name: "x"}
	dbmethods.Query(base.get(*e))
}
