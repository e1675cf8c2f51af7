package values

import (
	"database/sql"
	"fmt"
	"net/http"
	"reflect"
	"strings"
)

var dbreflection *sql.DB

func (b *base) Run(s string) { dbreflection.Query(s) } // want sql

func runIt(s string) { dbreflection.Query(s) } // want sql

func reflected(w http.ResponseWriter, r *http.Request) {
	reflect.ValueOf(runIt).Call([]reflect.Value{reflect.ValueOf(r.FormValue("a"))})
	reflect.ValueOf(&base{}).MethodByName("Run").Call([]reflect.Value{reflect.ValueOf(r.FormValue("a"))})
	b := base{name: r.FormValue("a")}
	v := reflect.ValueOf(b)
	dbreflection.Query(v.Field(0).String())            // want sql
	dbreflection.Query(v.FieldByName("name").String()) // want sql
	dbreflection.Query(fmt.Sprint(v.Interface()))      // want sql
	out := reflect.ValueOf(strings.ToUpper).Call([]reflect.Value{reflect.ValueOf(r.FormValue("a"))})
	dbreflection.Query(out[0].String()) // want sql
}
