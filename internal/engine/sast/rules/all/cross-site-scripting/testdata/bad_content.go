package web

import (
	"fmt"
	"net/http"
)

func page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	// ruleid: cross-site-scripting
	fmt.Fprintf(w, "<p>%s</p>", r.FormValue("name"))
}

func sometimes(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("json") != "" {
		w.Header().Set("Content-Type", "application/json")
	}
	// ruleid: cross-site-scripting
	fmt.Fprint(w, r.FormValue("name"))
}
