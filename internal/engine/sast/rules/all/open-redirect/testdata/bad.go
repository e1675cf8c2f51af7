package web

import (
	"net/http"
)

func view(w http.ResponseWriter, r *http.Request) {
	v := r.FormValue("v")
	// ruleid: open-redirect
	http.Redirect(w, r, v, http.StatusFound)
}

func moved(w http.ResponseWriter, r *http.Request) {
	// ruleid: open-redirect
	w.Header().Set("Location", r.FormValue("to"))
	w.WriteHeader(http.StatusFound)
}
