package pathtraversal

import (
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/attack/attacktest"
	"merlon/internal/scan"
)

// folder holds the files of an application.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "app", "files")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"terms.txt", "data.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("the content of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func show(w http.ResponseWriter, content []byte, err error) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err != nil {
		fmt.Fprint(w, "<p>There is no such document</p>")
		return
	}
	fmt.Fprintf(w, "<pre>%s</pre>", html.EscapeString(string(content)))
}

func TestCheck(t *testing.T) {
	dir := folder(t)
	mux := http.NewServeMux()
	read := func(path string, name func(v string) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			content, err := os.ReadFile(name(r.FormValue("q")))
			show(w, content, err)
		})
	}
	read("/bad/joined", func(v string) string { return dir + "/" + v })
	read("/bad/absolute", func(v string) string {
		if filepath.IsAbs(v) {
			return v
		}
		return filepath.Join(dir, v)
	})
	read("/bad/removed", func(v string) string { return dir + "/" + strings.ReplaceAll(v, "../", "") })
	read("/bad/scheme", func(v string) string {
		if rest, ok := strings.CutPrefix(v, "file://"); ok {
			return rest
		}
		return filepath.Join(dir, filepath.Base(v))
	})
	read("/good/base", func(v string) string { return filepath.Join(dir, filepath.Base(v)) })
	read("/good/clean", func(v string) string { return filepath.Join(dir, filepath.Clean("/"+v)) })
	mux.HandleFunc("/good/root", func(w http.ResponseWriter, r *http.Request) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = root.Close() }()
		content, err := root.ReadFile(r.FormValue("q"))
		show(w, content, err)
	})
	mux.HandleFunc("/good/list", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("q") != "terms.txt" {
			fmt.Fprintf(w, "open /srv/files/%s: No such file or directory", html.EscapeString(r.FormValue("q")))
			return
		}
		fmt.Fprint(w, "terms")
	})
	mux.HandleFunc("/good/tutorial", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "root:x:0:0:root:/root:/bin/bash is the first line. You read /docs/%s", html.EscapeString(r.FormValue("q")))
	})
	mux.HandleFunc("/good/example", func(w http.ResponseWriter, r *http.Request) { // any name that ends so shows the same
		if v := r.FormValue("q"); strings.Contains(v, "etc/") || strings.Contains(v, "passwd") {
			fmt.Fprint(w, "root:x:0:0:a decoy")
			return
		}
		fmt.Fprint(w, "No such file or directory")
	})
	mux.HandleFunc("/good/firewall", func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.FormValue("q"), "..") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		content, err := os.ReadFile(filepath.Join(dir, filepath.Base(r.FormValue("q"))))
		show(w, content, err)
	})
	mux.HandleFunc("/bad/write", func(w http.ResponseWriter, r *http.Request) { // opens to write, never creates
		f, err := os.OpenFile(dir+"/"+r.FormValue("q"), os.O_WRONLY, 0)
		if err != nil {
			fmt.Fprint(w, "Couldn't open the file")
			return
		}
		_ = f.Close()
		fmt.Fprintf(w, "ready to write to %s/%s", dir, html.EscapeString(r.FormValue("q")))
	})
	mux.HandleFunc("/bad/exists", func(w http.ResponseWriter, r *http.Request) {
		_, err := os.Stat(dir + "/" + r.FormValue("q"))
		fmt.Fprintf(w, "%s/%s exists: %v", dir, html.EscapeString(r.FormValue("q")), err == nil)
	})
	mux.HandleFunc("/good/exists", func(w http.ResponseWriter, r *http.Request) {
		_, err := os.Stat(filepath.Join(dir, filepath.Clean("/"+r.FormValue("q"))))
		fmt.Fprintf(w, "%s/%s exists: %v", dir, html.EscapeString(r.FormValue("q")), err == nil)
	})
	mux.HandleFunc("/good/echo", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<a href="/docs/%s">open</a>`, html.EscapeString(r.FormValue("q")))
	})
	var operations []string
	for _, p := range []string{"/bad/joined", "/bad/absolute", "/bad/removed", "/bad/scheme", "/bad/write", "/bad/exists", "/good/base", "/good/clean", "/good/root", "/good/list",
		"/good/tutorial", "/good/example", "/good/firewall", "/good/exists", "/good/echo"} {
		operations = append(operations, "GET "+p+"?q=terms.txt")
	}

	want := []string{"dast/pathtraversal/read GET /bad/joined query:q", "dast/pathtraversal/read GET /bad/absolute query:q", "dast/pathtraversal/read GET /bad/removed query:q",
		"dast/pathtraversal/read GET /bad/scheme query:q", "dast/pathtraversal/folder GET /bad/write query:q", "dast/pathtraversal/folder GET /bad/exists query:q"}
	attacktest.Expect(t, attacktest.Attack(t, mux, []*attack.Check{Check}, operations), want...)
}

// In the standard profile, files of the system are asked for only where the
// application behaves like one that reads files.
func TestStandard(t *testing.T) {
	dir := folder(t)
	mux := http.NewServeMux()
	asked := 0
	mux.HandleFunc("/read", func(w http.ResponseWriter, r *http.Request) {
		content, err := os.ReadFile(dir + "/" + r.FormValue("file"))
		show(w, content, err)
	})
	mux.HandleFunc("/list", func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.FormValue("file"), "passwd") {
			asked++
		}
		if r.FormValue("file") == "terms.txt" {
			fmt.Fprint(w, "terms")
		}
	})
	got := attacktest.Attack(t, mux, []*attack.Check{Check}, []string{"GET /read?file=terms.txt", "GET /list?file=terms.txt"}, attacktest.Profile(scan.Standard))
	attacktest.Expect(t, got, "dast/pathtraversal/read GET /read query:file")
	if asked > 0 {
		t.Errorf("a file of the system was asked for %d times without an indication", asked)
	}
}
