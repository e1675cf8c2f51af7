package web

import "net/http"

func view(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Name", r.FormValue("v")) // line breaks become blanks
}
