package web

import "net/http"

func open(w http.ResponseWriter) {
	// ruleid: permissive-cors
	w.Header().Set("Access-Control-Allow-Origin", "*")
}
