package a

import (
	"database/sql"
	"fmt"
	"net/http"
)

var db *sql.DB

type fault struct{ message string }

func throw1(s string) { panic(s) }
func throw2(s string) { panic(&fault{message: s}) }

func r1(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if x := recover(); x != nil {
			db.Query(fmt.Sprint(x)) // want sql
		}
	}()
	throw1(r.FormValue("a"))
}
func r2(w http.ResponseWriter, r *http.Request) {
	defer func() {
		x := recover()
		db.Query(x.(*fault).message) // want sql
	}()
	throw2(r.FormValue("a"))
}
func r3(w http.ResponseWriter, r *http.Request) {
	defer func() {
		x := recover()
		db.Query(x.(*fault).message) // want sql
	}()
	panic(&fault{message: r.FormValue("a")})
}
