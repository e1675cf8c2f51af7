package web

import "net/http"

func mark(w http.ResponseWriter, token string) {
	// ok: cookie-without-httponly
	http.SetCookie(w, &http.Cookie{Name: "session", Value: token, Secure: true, HttpOnly: true})
	// ok: cookie-without-httponly
	http.SetCookie(w, &http.Cookie{Name: "theme", Value: "dark", Secure: true})
}
