package web

import (
	"net/http"
)

func view(w http.ResponseWriter, r *http.Request) {
	v := r.FormValue("v")
	http.Get("https://api.example/items/" + v)
}
