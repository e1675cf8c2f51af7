package login

import (
	"crypto/rand"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"
)

func begin(c *oauth2.Config, w http.ResponseWriter, r *http.Request) {
	state := rand.Text()
	http.SetCookie(w, &http.Cookie{Name: "oauth_state", Value: state, Secure: true, HttpOnly: true})
	// ok: constant-oauth-state
	http.Redirect(w, r, c.AuthCodeURL(state), http.StatusFound)
}

// Somebody copies the code by hand: there is no redirect to forge.
func terminal(c *oauth2.Config) {
	// ok: constant-oauth-state
	fmt.Println(c.AuthCodeURL("state"))
	var code string
	fmt.Scan(&code)
}
