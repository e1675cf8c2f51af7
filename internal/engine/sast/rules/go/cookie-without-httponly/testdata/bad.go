package web

import "net/http"

func mark(w http.ResponseWriter, token string) {
	// ruleid: cookie-without-httponly
	http.SetCookie(w, &http.Cookie{Name: "session", Value: token, Secure: true})
}
