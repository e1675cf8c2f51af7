package web

import "net/http"

func open(w http.ResponseWriter) {
	// ok: permissive-cors
	w.Header().Set("Access-Control-Allow-Origin", "https://shop.example")
}
