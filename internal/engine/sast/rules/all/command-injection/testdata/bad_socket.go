package web

import (
	"net/http"
	"os/exec"

	"github.com/gorilla/websocket"
)

var upgrader = websocket.Upgrader{}

func serve(w http.ResponseWriter, r *http.Request) {
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	_, message, err := conn.ReadMessage()
	if err != nil {
		return
	}
	// ruleid: command-injection
	exec.Command(string(message)).Run()
}
