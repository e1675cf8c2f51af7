package web

import (
	"net/http"
	"net/url"
)

func ssrf(w http.ResponseWriter, r *http.Request) {
	http.Get(r.FormValue("u")) // want ssrf
	http.Get("https://api.example/x?q=" + url.QueryEscape(r.FormValue("q")))
	http.Get("https://api.example/" + r.FormValue("q"))
	req, _ := http.NewRequest("GET", "http://"+r.FormValue("h")+"/x", nil) // want ssrf
	http.DefaultClient.Do(req)
	c := &http.Client{}
	c.Get(r.FormValue("u"))                    // want ssrf
	http.Redirect(w, r, r.FormValue("u"), 302) // want redirect
	http.Redirect(w, r, "/x/"+r.FormValue("u"), 302)
	w.Header().Set("Location", r.FormValue("u")) // want redirect
	u, _ := url.Parse(r.FormValue("u"))
	if u.Host != "api.example" {
		return
	}
	http.Get(u.String())
	http.Redirect(w, r, u.RequestURI(), 302)
}
