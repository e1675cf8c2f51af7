package web

import (
	"net/http"
)

func view(w http.ResponseWriter, r *http.Request) {
	v := r.FormValue("v")
	// ruleid: open-redirect
	http.Redirect(w, r, v, http.StatusFound)
}
