package cli

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// targetSecrets are values of a target, one of each kind, and what the application hands
// out for them.
var targetSecrets = map[string]string{
	"header":        "hdr-K3y+91/a&b\"c'd",
	"cookie":        "ck-7f3e19a0b2",
	"user header":   "uh-55aa19<x>",
	"bearer":        "brr.51f09aa2c.d",
	"form password": "Pa$$ wörd 'x\"<&>",
	"form field":    "pin-884411-zz",
	"json password": `js"on\pass-77`,
	"basic":         "b4sic:pass:91",
	"url password":  "u53r-info-91",
	"seed token":    "s33d-t0ken-19x",
	"totp":          "JBSWY3DPEHPK3PXP",
	"session":       "sess1on-9f81c2e3a4b5d6",
	"json token":    "jt0k-81f2e3d4c5b6a7",
	"csrf":          "csrf-0a1b2c3d4e5f6a7b",
}

// reflecting is an application that shows everybody all that it was sent, in several
// encodings, and all that it hands out; and that has flaws.
func reflecting(secrets map[string]string) *httptest.Server {
	show := func(s string) string {
		quoted, err := json.Marshal(s)
		if err != nil {
			return ""
		}
		return fmt.Sprintf("<pre>%s</pre><!-- %s %s %s %s -->", html.EscapeString(s), url.QueryEscape(s),
			base64.StdEncoding.EncodeToString([]byte(s)), hex.EncodeToString([]byte(s)), quoted)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: targetSecrets["session"], Path: "/"})
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		fmt.Fprintf(w, `<html><form method=post action=/login><input type=hidden name=tk value="%s"><input name=user><input name=pin><input type=password name=pw></form>`, targetSecrets["csrf"])
	})
	mux.HandleFunc("/api/login", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token": %q}`, targetSecrets["json token"])
	})
	mux.HandleFunc("/api/items", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if q := r.URL.Query().Get("q"); strings.ContainsAny(q, `'"`) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, `{"error": "java.lang.RuntimeException at com.example.Shop.main(Shop.java:1) with %s"}`,
				r.Header.Get("X-Key"))
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"sent": r.Header, "secret": targetSecrets["header"]})
	})
	mux.HandleFunc("/openapi.json", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"openapi": "3.0.0", "info": {"title": "x", "version": "1"}, "paths": {"/api/items": {"get": {"parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}], "responses": {"200": {"description": "x"}}}}}}`)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/go" {
			w.Header().Set("Location", r.URL.Query().Get("to"))
			w.WriteHeader(http.StatusFound)
		}
		fmt.Fprintf(w, `<html><a href="/login">sign in</a> <a href="/search?q=x">search</a> <a href="/go?to=/">go</a>`)
		if r.URL.Path == "/search" { // reflected as it is
			fmt.Fprintf(w, "<p>%s</p>", r.URL.Query().Get("q"))
		}
		var all strings.Builder
		_ = r.Header.Write(&all)
		_ = r.ParseForm()
		fmt.Fprint(w, show(all.String()+r.URL.String()+r.Form.Encode()))
		for _, secret := range secrets {
			fmt.Fprint(w, show(secret))
		}
	})
	return httptest.NewServer(mux)
}

// leaks returns the secrets that a text holds in any encoding.
func leaks(text string, secrets map[string]string) []string {
	var out []string
	for kind, s := range secrets {
		quoted, _ := json.Marshal(s)
		twice, _ := json.Marshal(string(quoted))
		encoded := base64.StdEncoding.EncodeToString([]byte(s))
		for form, shown := range map[string]string{"plain": s, "query": url.QueryEscape(s), "path": url.PathEscape(s),
			"html": html.EscapeString(s), "base64": strings.TrimRight(encoded, "="),
			"base64url": base64.RawURLEncoding.EncodeToString([]byte(s)),
			"hex":       hex.EncodeToString([]byte(s)), "json": string(quoted[1 : len(quoted)-1]),
			"json in json":         strings.Trim(string(twice), `\"`),
			"basic":                base64.StdEncoding.EncodeToString([]byte("jane:" + s)),
			"base64 in an address": url.QueryEscape(encoded)} {
			if strings.Contains(text, shown) {
				out = append(out, kind+" ("+form+")")
			}
		}
	}
	return out
}

// TestSecretsInReports scans an application that reflects every secret of its target, signed
// in in every way, and looks for them in what every format and standard error tell.
func TestSecretsInReports(t *testing.T) {
	s := targetSecrets
	of := func(kinds ...string) map[string]string {
		out := map[string]string{}
		for _, k := range append(kinds, "header", "url password", "seed token") {
			out[k] = s[k]
		}
		return out
	}
	for _, way := range []struct {
		name     string
		identity map[string]any
		secrets  map[string]string
	}{
		{"form", map[string]any{"form": map[string]any{"url": "/login", "user": "jane", "password": s["form password"],
			"fields": map[string]string{"pin": s["form field"]}}, "totp": s["totp"]},
			of("form password", "form field", "totp", "session", "csrf")},
		{"json", map[string]any{"json": map[string]any{"url": "/api/login",
			"body": fmt.Sprintf(`{"user": "jane", "password": %s}`, marshal(t, s["json password"]))}},
			of("json password", "json token")},
		{"basic", map[string]any{"basic": map[string]any{"user": "jane", "password": s["basic"]}}, of("basic")},
		{"bearer", map[string]any{"bearer": s["bearer"], "cookie": "ck=" + s["cookie"],
			"header": []map[string]string{{"name": "X-User", "value": s["user header"]}}},
			of("bearer", "cookie", "user header")},
	} {
		t.Run(way.name, func(t *testing.T) {
			server := reflecting(way.secrets)
			defer server.Close()
			way.identity["name"] = "jane"
			auth := filepath.Join(t.TempDir(), "auth.json")
			if err := os.WriteFile(auth, []byte(marshal(t, way.identity)), 0o600); err != nil {
				t.Fatal(err)
			}
			formats := []string{"json"}
			if way.name == "form" {
				formats = []string{"table", "json", "sarif", "stream"}
			}
			for _, command := range []string{"dast", "api"} {
				for _, format := range formats {
					lookForSecrets(t, way.secrets, command, server.URL, "--auth", auth, "--format", format)
				}
			}
		})
	}
}

// lookForSecrets runs a scan and looks for secrets in what it writes.
func lookForSecrets(t *testing.T, secrets map[string]string, args ...string) {
	t.Helper()
	s, command, address, format := targetSecrets, args[0], args[1], args[len(args)-1]
	var out, errs strings.Builder
	args = append(args, "--browser", "none", "--oast", "none", "--rate", "1000", "--requests", "3000", "--fail-on",
		"none", "--header", "X-Key: "+s["header"],
		"--seed", strings.Replace(address, "http://", "http://scanner:"+s["url password"]+"@", 1)+
			"/search?q=y&api_token="+url.QueryEscape(s["seed token"]))
	if command == "api" {
		args = append(args, "--openapi", address+"/openapi.json")
	}
	code := Run(t.Context(), args, Host{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string {
			return ""
		}})
	if code != ExitOK && code != ExitFailed {
		t.Fatalf("%s as %s: exit %d: %s%.500s", command, format, code, &errs, &out)
	}
	for _, leak := range leaks(out.String()+errs.String(), secrets) {
		t.Errorf("%s as %s shows %s", command, format, leak)
	}
	least := map[string]int{"dast": 20, "api": 2}[command]
	if format != "table" && strings.Count(out.String(), "[redacted]") < least ||
		!strings.Contains(out.String(), "127.0.0.1") || command == "dast" && !strings.Contains(out.String(),
		"ross-site scripting") {
		t.Errorf("%s as %s: nothing is redacted, or everything: %s%.2000s", command, format, &errs, &out)
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
