package web

import (
	"net/http"
	"os/exec"
)

func view(w http.ResponseWriter, r *http.Request) {
	v := r.FormValue("v")
	exec.Command("ls", "--", "/tmp").Run()
	_ = v
}
