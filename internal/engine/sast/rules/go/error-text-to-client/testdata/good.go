package web

import (
	"log"
	"net/http"
)

func order(w http.ResponseWriter, r *http.Request) {
	if err := find(r.FormValue("id")); err != nil {
		log.Printf("find order: %v", err)
		// ok: error-text-to-client
		http.Error(w, "internal error", http.StatusInternalServerError)
	}
}
