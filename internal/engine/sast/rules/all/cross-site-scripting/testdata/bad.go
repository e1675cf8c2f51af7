package web

import (
	"fmt"
	"html"
	"net/http"
)

func view(w http.ResponseWriter, r *http.Request) {
	v := r.FormValue("v")
	// ruleid: cross-site-scripting
	fmt.Fprintf(w, "<p>%s</p>", v)
}
