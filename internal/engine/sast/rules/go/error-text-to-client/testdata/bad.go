package web

import "net/http"

func order(w http.ResponseWriter, r *http.Request) {
	if err := find(r.FormValue("id")); err != nil {
		// ruleid: error-text-to-client
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
