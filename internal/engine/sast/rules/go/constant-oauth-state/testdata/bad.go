package login

import (
	"net/http"

	"golang.org/x/oauth2"
)

const state = "state"

func begin(c *oauth2.Config, w http.ResponseWriter, r *http.Request) {
	// ruleid: constant-oauth-state
	http.Redirect(w, r, c.AuthCodeURL("pseudo-random"), http.StatusFound)
}

func beginNamed(c *oauth2.Config, w http.ResponseWriter, r *http.Request) {
	// ruleid: constant-oauth-state
	http.Redirect(w, r, c.AuthCodeURL(state, oauth2.AccessTypeOffline), http.StatusFound)
}
