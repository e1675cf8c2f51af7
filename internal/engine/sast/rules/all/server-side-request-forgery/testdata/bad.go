package web

import (
	"net/http"
)

func view(w http.ResponseWriter, r *http.Request) {
	v := r.FormValue("v")
	// ruleid: server-side-request-forgery
	http.Get(v)
}
