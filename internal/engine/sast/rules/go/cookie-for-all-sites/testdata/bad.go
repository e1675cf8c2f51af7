package web

import "net/http"

func mark(w http.ResponseWriter, token string) {
	// ruleid: cookie-for-all-sites
	http.SetCookie(w, &http.Cookie{Name: "session", Value: token, Secure: true, HttpOnly: true, SameSite: http.SameSiteNoneMode})
}
