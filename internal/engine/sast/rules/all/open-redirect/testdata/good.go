package web

import (
	"net/http"
)

func view(w http.ResponseWriter, r *http.Request) {
	v := r.FormValue("v")
	http.Redirect(w, r, "/page/"+v, http.StatusFound)
}
