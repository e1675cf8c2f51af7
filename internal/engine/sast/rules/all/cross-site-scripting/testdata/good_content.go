package web

import (
	"fmt"
	"net/http"
)

func plain(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, "{\"name\": %q}", r.FormValue("name"))
}

func bytes(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	w.Write([]byte(r.FormValue("data")))
}
