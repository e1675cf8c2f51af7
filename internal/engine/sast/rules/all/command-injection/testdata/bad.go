package web

import (
	"net/http"
	"os/exec"
)

func view(w http.ResponseWriter, r *http.Request) {
	v := r.FormValue("v")
	// ruleid: command-injection
	exec.Command("sh", "-c", "ls "+v).Run()
}
