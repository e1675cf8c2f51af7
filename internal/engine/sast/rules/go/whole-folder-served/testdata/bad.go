package main

import "net/http"

func files() http.Handler {
	// ruleid: whole-folder-served
	return http.FileServer(http.Dir("."))
}
