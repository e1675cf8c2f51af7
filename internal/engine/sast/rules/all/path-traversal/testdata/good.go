package web

import (
	"net/http"
	"os"
	"path/filepath"
)

func view(w http.ResponseWriter, r *http.Request) {
	v := r.FormValue("v")
	os.ReadFile("/data/" + filepath.Base(v))
}
