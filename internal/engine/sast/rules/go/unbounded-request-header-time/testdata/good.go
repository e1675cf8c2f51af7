package main

import (
	"net/http"
	"time"
)

func main() {
	// ok: unbounded-request-header-time
	s := &http.Server{Addr: ":8080", ReadHeaderTimeout: 5 * time.Second}
	s.ListenAndServe()
}
