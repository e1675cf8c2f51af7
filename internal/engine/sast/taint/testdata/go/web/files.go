package web

import (
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
)

func files(w http.ResponseWriter, r *http.Request) {
	os.Open(filepath.Join("/data", r.FormValue("a"))) // want path
	os.Open(filepath.Join("/data", filepath.Base(r.FormValue("a"))))
	os.Open(filepath.Join("/data", filepath.Clean("/"+r.FormValue("a"))))
	os.Open(filepath.Join("/data", path.Clean("/"+r.FormValue("a"))))
	http.ServeFile(w, r, r.FormValue("a")) // want path
	p := filepath.Join("/data", r.FormValue("a"))
	if !strings.HasPrefix(p, "/data/") {
		return
	}
	os.Open(p)
	n := r.FormValue("n")
	if strings.Contains(n, "..") {
		return
	}
	os.Open("/data/" + n)
	q := filepath.Join("/data", r.FormValue("q"))
	rel, err := filepath.Rel("/data", q)
	if err != nil || strings.HasPrefix(rel, "..") {
		return
	}
	os.Open(q)
	f := r.FormValue("f")
	if !filepath.IsLocal(f) {
		return
	}
	os.Open(filepath.Join("/data", f))
	root, _ := os.OpenRoot("/data")
	root.Open(r.FormValue("a"))
	os.DirFS("/data").Open(r.FormValue("a"))
}
