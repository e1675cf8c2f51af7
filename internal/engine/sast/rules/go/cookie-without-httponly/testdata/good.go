package web

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

func enter(w http.ResponseWriter, id string) {
	// ok: cookie-without-httponly
	http.SetCookie(w, &http.Cookie{Name: "session_id", Value: id, Secure: true, HttpOnly: true})
}

func enterLate(w http.ResponseWriter, id string) {
	// ok: cookie-without-httponly
	cookie := &http.Cookie{Name: "session_id", Value: id}
	cookie.HttpOnly = true
	http.SetCookie(w, cookie)
}

func leave(w http.ResponseWriter) {
	// ok: cookie-without-httponly
	http.SetCookie(w, &http.Cookie{Name: "session_id", MaxAge: -1})
}

func theme(c *gin.Context, name string) {
	// ok: cookie-without-httponly
	c.SetCookie("theme", name, 3600, "/", "shop.example", true, false)
}
