package door

import (
	"net/http"
	"strings"
)

func back(w http.ResponseWriter, r *http.Request) {
	redirect := r.FormValue("rd")
	// ruleid: incomplete-redirect-check
	if !strings.HasPrefix(redirect, "/") {
		redirect = "/"
	}
	http.Redirect(w, r, redirect, http.StatusFound)
}

func local(returnTo string) bool {
	// ruleid: incomplete-redirect-check
	return len(returnTo) > 1 && returnTo[0] == '/' && returnTo[1] != '/'
}
