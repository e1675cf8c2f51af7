package values

import (
	"database/sql"
	"fmt"
	"net/http"
)

var dbdeep *sql.DB

type L1 struct{ n L2 }
type L2 struct{ n L3 }
type L3 struct{ n L4 }
type L4 struct{ n L5 }
type L5 struct{ n L6 }
type L6 struct{ n L7 }
type L7 struct{ n L8 }
type L8 struct{ n L9 }
type L9 struct{ n L10 }
type L10 struct{ v, u string }

func deep(w http.ResponseWriter, r *http.Request) {
	var a, b L1
	a.n.n.n.n.n.n.n.n.n.v = r.FormValue("a")
	dbdeep.Query(a.n.n.n.n.n.n.n.n.n.v) // want sql
	dbdeep.Query(a.n.n.n.n.n.n.n.n.n.u)
	dbdeep.Query(b.n.n.n.n.n.n.n.n.n.v)
	dbdeep.Query(fmt.Sprint(a)) // want sql
	dbdeep.Query(fmt.Sprint(b))
	show(a)
	show2(b)
	c := a
	dbdeep.Query(c.n.n.n.n.n.n.n.n.n.v) // want sql
}
func show(o any)  { dbdeep.Query(fmt.Sprintf("%v", o)) } // want sql
func show2(o any) { dbdeep.Query(fmt.Sprintf("%v", o)) }
