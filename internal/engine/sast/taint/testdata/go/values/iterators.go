package values

import (
	"database/sql"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strconv"
)

var dbiterators *sql.DB

func each(v string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(v) {
			return
		}
	}
}

func pairs(m map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for k, v := range m {
			if !yield(k, v) {
				return
			}
		}
	}
}

type list struct{ items []string }

func (l *list) all() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, x := range l.items {
			if !yield(x) {
				return
			}
		}
	}
}
func (l *list) each(yield func(int, string) bool) {
	for i, x := range l.items {
		if !yield(i, x) {
			return
		}
	}
}

func ranges(w http.ResponseWriter, r *http.Request) {
	for s := range each(r.FormValue("a")) {
		dbiterators.Query(s) // want sql
	}
	for s := range each("x") {
		dbiterators.Query(s)
	}
	for _, v := range pairs(map[string]string{"a": r.FormValue("a")}) {
		dbiterators.Query(v) // want sql
	}
	l := &list{items: []string{r.FormValue("a")}}
	for s := range l.all() {
		dbiterators.Query(s) // want sql
	}
	for _, s := range l.each {
		dbiterators.Query(s) // want sql
	}
	last := "x"
	for s := range each(r.FormValue("a")) {
		last = s
	}
	dbiterators.Query(last) // want sql
	for s := range slices.Values([]string{r.FormValue("a")}) {
		dbiterators.Query(s) // want sql
	}
	for _, s := range slices.All([]string{r.FormValue("a")}) {
		dbiterators.Query(s) // want sql
	}
	for s := range maps.Values(map[string]string{"a": r.FormValue("a")}) {
		dbiterators.Query(s) // want sql
	}
	got := slices.Collect(each(r.FormValue("a")))
	dbiterators.Query(got[0]) // want sql
	next, stop := iter.Pull(each(r.FormValue("a")))
	defer stop()
	v, _ := next()
	dbiterators.Query(v) // want sql
	for i := range 10 {
		dbiterators.Query(strconv.Itoa(i))
	}
}
