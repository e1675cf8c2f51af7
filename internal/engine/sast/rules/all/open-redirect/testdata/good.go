package web

import (
	"net/http"
)

func view(w http.ResponseWriter, r *http.Request) {
	v := r.FormValue("v")
	http.Redirect(w, r, "/page/"+v, http.StatusFound)
}

func secure(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "https://"+r.Host+"/start", http.StatusFound)
}

func created(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Location", "/api/files/"+r.URL.EscapedPath())
	w.WriteHeader(http.StatusCreated)
}
