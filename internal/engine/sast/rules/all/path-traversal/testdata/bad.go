package web

import (
	"net/http"
	"os"
	"path/filepath"
)

func view(w http.ResponseWriter, r *http.Request) {
	v := r.FormValue("v")
	// ruleid: path-traversal
	os.ReadFile("/data/" + v)
}
