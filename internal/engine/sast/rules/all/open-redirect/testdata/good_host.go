package web

import (
	"net/http"
	"net/url"
)

func leave(w http.ResponseWriter, r *http.Request) {
	to := r.FormValue("to")
	u, err := url.Parse(to)
	if err != nil || u.Host != "example.org" {
		http.NotFound(w, r)
		return
	}
	http.Redirect(w, r, to, http.StatusFound)
}
