package pathtraversal

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
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
	read("/bad/decoded", func(v string) string { // looks between two that decode
		v, _ = url.PathUnescape(v)
		if strings.Contains(v, "..") && strings.Contains(v, "/") {
			return ""
		}
		v, _ = url.PathUnescape(v)
		return dir + "/" + v
	})
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
		fmt.Fprintf(w, "root:x:0:0:root:/root:/bin/bash is the first line. You read "+
			"/docs/%s", html.EscapeString(r.FormValue("q")))
	})
	mux.HandleFunc("/good/example",
		func(w http.ResponseWriter, r *http.Request) { // any name that ends so shows the same
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
	for _, p := range []string{"/bad/joined", "/bad/absolute", "/bad/removed", "/bad/decoded", "/bad/scheme",
		"/bad/write", "/bad/exists", "/good/base", "/good/clean", "/good/root", "/good/list",
		"/good/tutorial", "/good/example", "/good/firewall", "/good/exists", "/good/echo"} {
		operations = append(operations, "GET "+p+"?q=terms.txt")
	}

	want := []string{"dast/pathtraversal/read GET /bad/joined query:q", "dast/pathtraversal/read GET /bad/absolute " +
		"query:q", "dast/pathtraversal/read GET /bad/removed query:q",
		"dast/pathtraversal/read GET /bad/decoded query:q", "dast/pathtraversal/read GET /bad/scheme query:q",
		"dast/pathtraversal/folder GET /bad/write query:q", "dast/pathtraversal/folder GET /bad/exists query:q"}
	activescantest.Expect(t, activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations), want...)
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
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule},
		[]string{"GET /read?file=terms.txt", "GET /list?file=terms.txt"}, activescantest.Profile(scan.Standard))
	activescantest.Expect(t, got, "dast/pathtraversal/read GET /read query:file")
	if asked > 0 {
		t.Errorf("a file of the system was asked for %d times without an indication", asked)
	}
}

// Where files are made any name will do, and only that of a folder that is not there
// will not.
func TestMadeFiles(t *testing.T) {
	dir := folder(t)
	mux := http.NewServeMux()
	for path, name := range map[string]func(string) string{"/bad/": func(v string) string { return dir + "/" + v },
		"/good/": func(v string) string { return filepath.Join(dir, filepath.Base(v)) }} {
		mux.HandleFunc(path+"made", func(w http.ResponseWriter, r *http.Request) {
			f, err := os.OpenFile(name(r.FormValue("q")), os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				return // and says nothing
			}
			_ = f.Close()
			fmt.Fprintf(w, "Now ready to write to %s/%s", dir, html.EscapeString(r.FormValue("q")))
		})
	}
	for path, name := range map[string]func(string) string{"/bad/": func(v string) string { return v },
		"/good/": filepath.Base} {
		mux.HandleFunc(path+"told", func(w http.ResponseWriter, r *http.Request) {
			text := "it exists already"
			if _, err := os.Stat(name(r.FormValue("q"))); err != nil {
				text = "but the file doesn't exist yet"
			}
			fmt.Fprintf(w, "Access to '%s': %s", html.EscapeString(r.FormValue("q")), html.EscapeString(text))
		})
	}
	operations := []string{"GET /bad/made?q=terms", "GET /good/made?q=terms", "GET /bad/told?q=terms",
		"GET /good/told?q=terms"}
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations, activescantest.Profile(scan.Standard))
	activescantest.Expect(t, got, "dast/pathtraversal/folder GET /bad/made query:q", "dast/pathtraversal/folder GET "+
		"/bad/told query:q")
}

// fill makes a web application with the files of one in Java.
func fill(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, content := range map[string]string{"WEB-INF/web.xml": `<?xml version="1.0"?><web-app version="4.0"></web-app>`, "shop/texts/terms.txt": "terms"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// The forms in which applications open files, with answers to what is missing that tell
// little, in the standard profile.
func TestForms(t *testing.T) {
	root := fill(t)
	mux := http.NewServeMux()
	serve := func(path string, status int, text string, open func(v string) ([]byte, error)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			content, err := open(r.FormValue("target"))
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			if err != nil {
				w.WriteHeader(status)
				fmt.Fprint(w, text)
				return
			}
			fmt.Fprintf(w, "<pre>%s</pre>", html.EscapeString(string(content)))
		})
	}
	removed := func(v string) string { return strings.ReplaceAll(strings.ReplaceAll(v, "/../", ""), "../", "") }
	// resource opens what is below the root of the application, as getResourceAsStream does.
	resource := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(root, filepath.Join("/", name))) }
	address := func(v string) ([]byte, error) {
		rest, ok := strings.CutPrefix(v, "file:/")
		if !ok {
			return nil, os.ErrInvalid
		}
		return os.ReadFile("/" + strings.TrimLeft(rest, "/"))
	}
	own := func(v string) ([]byte, error) {
		return os.ReadFile(filepath.Join(root, "shop/texts", filepath.Base(v)))
	}

	serve("/app/shop/bad/removed.jsp", 200, "Try again later", func(v string) ([]byte, error) {
		return os.ReadFile(root + "/shop/texts" + removed(v))
	})
	serve("/app/shop/bad/resource.jsp", 200, "Try again later", func(v string) ([]byte, error) {
		return resource("/shop/texts/" + removed(v))
	})
	serve("/app/shop/bad/named.jsp", 200, "Invalid file name", func(v string) ([]byte, error) {
		return resource("/shop/texts/" + v)
	})
	serve("/app/shop/bad/notfound.jsp", 404, "File not found", resource)
	serve("/app/bad/address", 302, "moved", address)
	serve("/app/bad/malformed", 200, "java.net.MalformedURLException", address)
	serve("/app/shop/good/removed.jsp", 200, "Try again later", func(v string) ([]byte, error) {
		for strings.Contains(v, "..") {
			v = strings.ReplaceAll(v, "..", "")
		}
		return os.ReadFile(root + "/shop/texts/" + v)
	})
	serve("/app/shop/good/named.jsp", 200, "Invalid file name", own)
	serve("/app/shop/good/notfound.jsp", 404, "File not found", own)
	serve("/app/good/address", 302, "moved", func(v string) ([]byte, error) {
		if !strings.HasPrefix(v, "https://") {
			return nil, os.ErrInvalid
		}
		return []byte("terms"), nil
	})
	serve("/app/good/malformed", 200, "java.net.MalformedURLException", func(string) ([]byte, error) {
		return nil, os.ErrInvalid
	})
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, []string{
		"GET /app/shop/bad/removed.jsp?target=%2Fterms.txt", "GET /app/shop/bad/resource.jsp?target=terms.txt",
		"GET /app/shop/bad/named.jsp?target=",
		"GET /app/shop/bad/notfound.jsp?target=old.txt", "GET /app/bad/address?target=file:%2Fold.txt",
		"GET /app/bad/malformed?target=",
		"GET /app/shop/good/removed.jsp?target=terms.txt", "GET /app/shop/good/named.jsp?target=",
		"GET /app/shop/good/notfound.jsp?target=old.txt",
		"GET /app/good/address?target=https:%2F%2Fhome.example%2Fterms", "GET /app/good/malformed?target=",
	}, activescantest.Profile(scan.Standard))
	activescantest.Expect(t, got, "dast/pathtraversal/read GET /app/shop/bad/removed.jsp query:target",
		"dast/pathtraversal/read GET /app/shop/bad/resource.jsp query:target",
		"dast/pathtraversal/read GET /app/shop/bad/named.jsp query:target", "dast/pathtraversal/read GET "+
			"/app/shop/bad/notfound.jsp query:target",
		"dast/pathtraversal/folder GET /app/bad/address query:target", "dast/pathtraversal/read GET "+
			"/app/bad/malformed query:target")
}

// A parameter that looks like that of a file and is none costs little.
func TestEconomy(t *testing.T) {
	got := activescantest.Attack(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "always the same")
	}),
		[]*activescan.Rule{Rule}, []string{"GET /list?file=terms.txt"}, activescantest.Profile(scan.Standard))
	activescantest.Expect(t, got)
	if got.Requests > 12 {
		t.Errorf("%d requests", got.Requests)
	}
}

// Names of parameters are opened too; nothing is shown where that fails.
func TestNames(t *testing.T) {
	dir := folder(t)
	mux := http.NewServeMux()
	open := func(path string, file func(string) string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			for name := range r.URL.Query() {
				if _, err := os.ReadFile(file(name)); err == nil {
					fmt.Fprintf(w, "This is %s/%s", dir, html.EscapeString(name))
				}
			}
		})
	}
	open("/bad", func(v string) string { return dir + "/" + v })
	open("/good", func(v string) string { return filepath.Join(dir, filepath.Base(v)) })
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule},
		[]string{"GET /bad?fileName=show", "GET /good?fileName=show"}, activescantest.Profile(scan.Standard))
	activescantest.Expect(t, got, "dast/pathtraversal/folder GET /bad query-name:fileName")
}
