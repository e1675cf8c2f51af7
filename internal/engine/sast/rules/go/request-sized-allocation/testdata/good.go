package web

import (
	"net/http"
	"strconv"
)

func noise(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("size"))
	if err != nil || n < 0 || n > 4096 {
		return
	}
	// ok: request-sized-allocation
	room := make([]byte, n)
	w.Header().Set("X-Room", strconv.Itoa(len(room)))
}
