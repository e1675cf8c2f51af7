package web

import (
	"database/sql"
	"net/http"
)

func view(w http.ResponseWriter, r *http.Request) {
	v := r.FormValue("v")
	db, _ := sql.Open("pgx", "")
	db.Query("SELECT * FROM t WHERE a = $1", v)
}
