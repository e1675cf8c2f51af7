package web

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

func enter(w http.ResponseWriter, id string) {
	// ruleid: cookie-without-httponly
	http.SetCookie(w, &http.Cookie{Name: "session_id", Value: id, Secure: true})
}

func enterOpen(w http.ResponseWriter, id string) {
	// ruleid: cookie-without-httponly
	http.SetCookie(w, &http.Cookie{Name: "authToken", Value: id, HttpOnly: false})
}

func enterLate(w http.ResponseWriter, id string) {
	cookie := http.Cookie{Name: "session_id", Value: id}
	// ruleid: cookie-without-httponly
	cookie.HttpOnly = false
	http.SetCookie(w, &cookie)
}

func enterGin(c *gin.Context, id string) {
	// ruleid: cookie-without-httponly
	c.SetCookie("session", id, 3600, "/", "shop.example", true, false)
}
