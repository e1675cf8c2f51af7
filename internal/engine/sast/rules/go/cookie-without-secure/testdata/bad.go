package web

import "net/http"

func mark(w http.ResponseWriter, id string) {
	// ruleid: cookie-without-secure
	http.SetCookie(w, &http.Cookie{Name: "id", Value: id})
}
