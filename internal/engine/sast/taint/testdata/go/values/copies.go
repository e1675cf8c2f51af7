package values

import (
	"database/sql"
	"net/http"
)

var dbcopies *sql.DB

type rec struct {
	name, other string
	in          inner
	arr         [2]string
	ptr         *inner
	list        []string
}
type inner struct{ a, b string }

func copies(w http.ResponseWriter, r *http.Request) {
	a := rec{name: "x"}
	b := a
	b.name = r.FormValue("a")
	dbcopies.Query(a.name)
	dbcopies.Query(b.name) // want sql
	b.in.a = r.FormValue("a")
	dbcopies.Query(a.in.a)
	c := b
	dbcopies.Query(c.in.a) // want sql
	dbcopies.Query(c.in.b)
	arr := [2]string{"x", "y"}
	brr := arr
	brr[0] = r.FormValue("a")
	dbcopies.Query(arr[0])
	dbcopies.Query(brr[0]) // want sql
	crr := &arr
	crr[1] = r.FormValue("a")
	dbcopies.Query(arr[1]) // want sql
	p := &a
	q := *p
	q.name = r.FormValue("a")
	dbcopies.Query(a.name)
	dbcopies.Query(p.name)
	*p = q
	dbcopies.Query(a.name) // want sql
	var s1 = []rec{{name: "x"}}
	e := s1[0]
	e.name = r.FormValue("a")
	dbcopies.Query(s1[0].name)
	s1[0].name = r.FormValue("a")
	dbcopies.Query(s1[0].name) // want sql
	for _, x := range s1 {
		x.other = r.FormValue("a")
	}
	dbcopies.Query(s1[0].other)
	byValue(a, r.FormValue("a"))
	dbcopies.Query(a.other)
	byPointer(&a, r.FormValue("a"))
	dbcopies.Query(a.other) // want sql
	m := map[string]rec{"k": {}}
	x := m["k"]
	x.name = r.FormValue("a")
	dbcopies.Query(m["k"].name)
	m["k"] = x
	dbcopies.Query(m["k"].name) // want sql
	d := rec{ptr: &inner{}}
	dd := d
	dd.ptr.a = r.FormValue("a")
	dbcopies.Query(d.ptr.a) // want sql
	f := rec{list: []string{"x"}}
	ff := f
	ff.list[0] = r.FormValue("a")
	dbcopies.Query(f.list[0]) // want sql
	ch := make(chan rec, 1)
	g := rec{}
	ch <- g
	g.name = r.FormValue("a")
	dbcopies.Query((<-ch).name)
}
func byValue(x rec, s string)    { x.other = s }
func byPointer(x *rec, s string) { x.other = s }

func (x rec) withName(s string) rec { x.name = s; return x }

func builder(w http.ResponseWriter, r *http.Request) {
	a := rec{name: "x"}
	b := a.withName(r.FormValue("a"))
	dbcopies.Query(a.name)
	dbcopies.Query(b.name) // want sql
}
