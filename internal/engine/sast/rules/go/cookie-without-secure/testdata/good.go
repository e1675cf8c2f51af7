package web

import "net/http"

func mark(w http.ResponseWriter, id string) {
	// ok: cookie-without-secure
	http.SetCookie(w, &http.Cookie{Name: "id", Value: id, Secure: true, HttpOnly: true})
}
