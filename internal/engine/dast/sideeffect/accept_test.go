package sideeffect

import (
	"net/http"
	"testing"

	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// A response that says no more than that something was done says that something was created. What
// computes something shows a result, and what refuses says so.
func TestAccepted(t *testing.T) {
	for body, want := range map[string]bool{
		`{"status":"success","message":"Book has been added."}`: true,
		`{"status":"ok","error":null,"code":0}`:                 true,
		`{"success":true,"data":null}`:                          true,
		`{"data":{"note":{"id":7}}}`:                            true,
		`{"data":{"meta":{"note":{"id":7}}}}`:                   false, // too deep to be what was created
		`{"note_id":7,"status":"ok"}`:                           true,
		`{"user_id":7,"team_id":2,"sum":5}`:                     false,
		`{"title":"x","createdAt":"2026-01-02"}`:                false,
		`{"createdAt":"2026-01-02"}`:                            true,
		`true`:                                                  true,
		`"stored"`:                                              true,
		`{"sum":5}`:                                             false,
		`{"status":"ok","results":[1,2]}`:                       false,
		`{"success":false,"message":"done"}`:                    false,
		`{"status":"error","message":"not added"}`:              false,
		`{"status":"ok","errors":["title is missing"]}`:         false,
		`[]`: false,
	} {
		resp := answer(post("/x", "OK", "title"), http.StatusOK, "", body)
		resp.Header.Set("Content-Type", "application/json")
		if got, _ := isCreated(resp); got != want {
			t.Errorf("%s: created %v", body, got)
		}
	}
	for body, want := range map[string]bool{"": true, "ok": true, "Guardado con éxito": true, "42": false,
		"could not be saved": false} {
		resp := answer(post("/x", "OK", "title"), http.StatusOK, "", body)
		resp.Header.Set("Content-Type", "text/plain")
		if got, _ := isCreated(resp); got != want {
			t.Errorf("%q: created %v", body, got)
		}
	}
}

func TestConfirms(t *testing.T) {
	form := answer(get("/form"), http.StatusOK, "", "<p>Thanks for your visit.</p>\n<form></form>")
	for body, want := range map[string]bool{
		"<p>Your entry has been saved.</p>":        true,
		"<p>Votre message a été enregistré.</p>":   true,
		"<p>Il commento è stato aggiunto.</p>":     true,
		"<p>Obrigado, foi adicionado.</p>":         true,
		"<p>Thanks for your visit.</p>\n<b>12</b>": false, // so does the page of the form
		"<p>Your entry could not be saved.</p>":    false,
		"<p>The sum is 12.</p>":                    false,
	} {
		if got := ReportsSuccess(answer(post("/x", "OK", "title"), http.StatusOK, "", body), form); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

// Operations that differ in one word of their path have one budget together; others do not.
func TestKeeperBoundsAKind(t *testing.T) {
	words := []string{"apple", "pear", "plum", "grape", "melon", "lemon", "lime"}
	for name, c := range map[string]struct {
		request func(word string) *message.Request
		most    int
	}{
		"pages named by words":    {func(w string) *message.Request { return post("/posts/"+w+"/add", "Add", "text") }, 2},
		"the last word":           {func(w string) *message.Request { return post("/comment/"+w, "Add", "text") }, 2},
		"the parameter of a page": {func(w string) *message.Request { return post("/add?page="+w, "Add", "text") }, 2},
		"folders":                 {func(w string) *message.Request { return post("/"+w+"/add", "Add", "text") }, 5},
		"fields of their own":     {func(w string) *message.Request { return post("/posts/"+w, "Add", w) }, 14},
		"programs":                {func(w string) *message.Request { return post("/posts/"+w+".php", "Add", "text") }, 14},
		"a description": {func(w string) *message.Request {
			r := post("/posts/"+w, "Add", "text")
			r.Template = r.Path
			return r
		}, 14},
	} {
		k := NewGuard(scan.Standard, true, "merlon-abcdef")
		sent := 0
		for range 3 {
			for _, word := range words {
				r := c.request(word)
				if end, err := k.Begin(r); err == nil {
					sent++
					end(answer(r, http.StatusFound, "/posts", ""))
				}
			}
		}
		if sent != c.most {
			t.Errorf("%s: %d were sent, want %d", name, sent, c.most)
		}
	}
}
