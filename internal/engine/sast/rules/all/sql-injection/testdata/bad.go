package web

import (
	"database/sql"
	"net/http"
)

func view(w http.ResponseWriter, r *http.Request) {
	v := r.FormValue("v")
	db, _ := sql.Open("pgx", "")
	// ruleid: sql-injection
	db.Query("SELECT * FROM t WHERE a = '" + v + "'")
}
