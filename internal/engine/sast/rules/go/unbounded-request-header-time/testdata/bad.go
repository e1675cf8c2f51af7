package main

import "net/http"

func main() {
	// ruleid: unbounded-request-header-time
	http.ListenAndServe(":8080", nil)
}
