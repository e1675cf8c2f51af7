package main

import (
	"log"
	"net/http"
	_ "net/http/pprof"
)

func main() {
	// ruleid: profiling-endpoint
	log.Fatal(http.ListenAndServe(":8080", nil))
}
