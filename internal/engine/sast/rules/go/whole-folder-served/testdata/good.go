package main

import "net/http"

func files() http.Handler {
	// ok: whole-folder-served
	return http.FileServer(http.Dir("public"))
}
