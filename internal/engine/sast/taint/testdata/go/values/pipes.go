package values

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"net/http"
)

var dbpipes *sql.DB

func pipes(w http.ResponseWriter, r *http.Request) {
	pr, pw := io.Pipe()
	go func() {
		pw.Write([]byte(r.FormValue("a")))
		pw.Close()
	}()
	z, _ := io.ReadAll(pr)
	dbpipes.Query(string(z)) // want sql
	pr2, pw2 := io.Pipe()
	go func() { fmt.Fprintf(pw2, "%s", r.FormValue("a")) }()
	sc := bufio.NewScanner(pr2)
	for sc.Scan() {
		dbpipes.Query(sc.Text()) // want sql
	}
	pr3, pw3 := io.Pipe()
	go func() { pw3.Write([]byte("x")) }()
	y, _ := io.ReadAll(pr3)
	dbpipes.Query(string(y))
}
