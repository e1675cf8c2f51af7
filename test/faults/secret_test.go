package faults

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/store/storetest"
)

// targetSecrets are what the target of the test holds, and what its application hands out.
var targetSecrets = map[string]string{
	"header": `hdr-K3y+91/a&b"c`, "form password": `Pa$$ wörd 'x"<&>`, "form field": "pin-884411-zz",
	"totp":   "JBSWY3DPEHPK3PXP",
	"bearer": "brr.51f09aa2c.d", "basic": "b4sic:pass:91", "seed token": "s33d-t0ken-19x",
	"session": "sess1on-9f81c2e3a4b5d6", "csrf": "c5rf-0a1b2c3d4e5f6a7b",
}

// TestSecretsOfTargets scans an application that shows everybody every secret of its target,
// with both analyses, and looks for them where the service stores, logs and tells things.
func TestSecretsOfTargets(t *testing.T) {
	t.Parallel()
	program := program(t)
	for name, deployed := range map[string]func(*testing.T) *deployment{
		"sqlite": func(t *testing.T) *deployment {
			data := filepath.Join(folder(t), "data")
			return prepare(t, program, place{SQLite: filepath.Join(data, "merlon.db")}, "--data", data)
		},
		"postgres": func(t *testing.T) *deployment {
			db := storetest.Postgres(t)
			return prepare(t, program, place{Postgres: db}, "--data", filepath.Join(folder(t), "data"),
				"--database-url", db)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deployed(t)
			d.also = []string{"--dast-allow", "127.0.0.1", "--dast-browser", "none"}
			d.serve()
			a := newApplication(t, http.HandlerFunc(showing))
			s := targetSecrets
			r := d.await(d.sc, d.startLive(a.URL, map[string]any{
				"requests": 3000, "headers": []any{map[string]string{"name": "X-Key", "value": s["header"]}},
				"seeds": []string{"/search?q=y&api_token=" + url.QueryEscape(s["seed token"])},
				"identities": []any{
					map[string]any{"name": "jane", "form": map[string]any{"url": "/login", "user": "jane",
						"password": s["form password"], "fields": map[string]string{"pin": s["form field"]}},
						"totp": s["totp"]},
					map[string]any{"name": "joe", "bearer": s["bearer"]},
					map[string]any{"name": "jim", "basic": map[string]string{"user": "jim", "password": s["basic"]}},
				},
				"descriptions": []any{map[string]string{"name": "api.json",
					"text": `{"openapi": "3.0.0", "info": {"title": "x", "version": "1"}, "paths": {"/search": {"get": {"parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}], "responses": {"200": {"description": "x"}}}}}}`}},
			}), "ended", ended)
			if r.Failure != nil || r.Outcome.Changes.New < 3 {
				t.Fatalf("ended as %s, %+v: %+v", r.State, r.Failure, r.Outcome)
			}
			log, err := os.ReadFile(filepath.Join(d.dir, "serve.log"))
			d.must(err)
			seen := map[string]string{"the database": storetest.Dump(t, d.db), "the log": string(log)}
			bearer, project := d.signIn(), "/project/"+d.project
			for _, path := range []string{"/targets", "/scan/" + string(r.ID), "/scan/" + string(r.ID) + "/operations",
				"/results/export", "/results/export?format=sarif", "/results/dast", "/results/api",
				"/results/overview"} {
				status, text := d.ask("GET", project+path, bearer, nil)
				if status != http.StatusOK {
					t.Errorf("%s: status %d", path, status)
				}
				seen[path] = string(text)
			}
			for _, analysis := range []string{"dast", "api"} {
				var list struct{ Vulnerabilities []struct{ ID string } }
				d.call("GET", project+"/results/"+analysis+"?size=100", bearer, nil, &list)
				for _, item := range list.Vulnerabilities {
					_, text := d.ask("GET", project+"/results/"+analysis+"/"+item.ID, bearer, nil)
					seen["a finding"] += string(text)
				}
			}
			for where, text := range seen {
				for _, shown := range shownSecrets(text) {
					t.Errorf("%s shows %s", where, shown)
				}
			}
			for _, where := range []string{"the database", "a finding"} {
				if strings.Count(seen[where], "[redacted]") < 10 || !strings.Contains(seen[where], "127.0.0.1") {
					t.Errorf("%s: nothing is redacted, or everything: %.3000s", where, seen[where])
				}
			}
		})
	}
}

// showing is an application that shows what it was sent, and all secrets.
func showing(w http.ResponseWriter, r *http.Request) {
	show := func(s string) string {
		quoted, _ := json.Marshal(s) // a text has a JSON form
		return fmt.Sprintf("<pre>%s</pre><!-- %s %s %s %s -->", html.EscapeString(s), url.QueryEscape(s),
			base64.StdEncoding.EncodeToString([]byte(s)), hex.EncodeToString([]byte(s)), quoted)
	}
	if r.URL.Path == "/login" && r.Method == http.MethodPost {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: targetSecrets["session"], Path: "/"})
		http.Redirect(w, r, "/", http.StatusFound)
		return
	}
	var text strings.Builder
	switch r.URL.Path {
	case "/login":
		fmt.Fprintf(&text, `<form method=post action=/login><input type=hidden name=tk value="%s"><input name=user><input name=pin><input type=password name=pw></form>`, targetSecrets["csrf"])
	case "/search":
		fmt.Fprintf(&text, "<p>%s</p>", r.URL.Query().Get("q"))
	}
	text.WriteString(`<a href="/login">sign in</a> <a href="/search?q=x">search</a>`)
	var sent strings.Builder
	_ = r.Header.Write(&sent)
	_ = r.ParseForm()
	text.WriteString(show(sent.String() + r.URL.String() + r.Form.Encode()))
	for _, s := range targetSecrets {
		text.WriteString(show(s))
	}
	page(w, text.String())
}

// shownSecrets lists the secrets that a text holds, in any encoding.
func shownSecrets(text string) (out []string) {
	for kind, s := range targetSecrets {
		quoted, _ := json.Marshal(s) // a text has a JSON form
		encoded := base64.StdEncoding.EncodeToString([]byte(s))
		for form, shown := range map[string]string{"plain": s, "query": url.QueryEscape(s),
			"html": html.EscapeString(s), "base64": strings.TrimRight(encoded, "="),
			"hex":  hex.EncodeToString([]byte(s)),
			"json": string(quoted[1 : len(quoted)-1]), "basic": base64.StdEncoding.EncodeToString([]byte("jim:" + s))} {
			if at := strings.Index(text, shown); at >= 0 {
				out = append(out, fmt.Sprintf("%s (%s): %q", kind, form, text[max(0, at-80):min(len(text), at+40)]))
			}
		}
	}
	return out
}
