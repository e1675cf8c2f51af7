package web

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
)

func commands(w http.ResponseWriter, r *http.Request) {
	exec.Command("sh", "-c", "ls "+r.FormValue("a")).Run() // want command argument
	cmd := exec.Command(r.FormValue("a"))                  // want command
	cmd.Run()
	c := exec.CommandContext(r.Context(), "bash", "-c", fmt.Sprintf("echo %s", r.FormValue("a"))) // want command argument
	c.Output()
	args := []string{"-c", r.FormValue("a")}
	exec.Command("sh", args...).Run() // want command argument
	exec.Command("echo", "x", strconv.Itoa(5)).Run()
	os.StartProcess(r.FormValue("a"), nil, nil) // want command
	var e exec.Cmd
	e.Path = r.FormValue("a")              // want command
	f := &exec.Cmd{Path: r.FormValue("a")} // want command
	f.Run()
}
