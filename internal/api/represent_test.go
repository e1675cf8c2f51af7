package api_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"merlon/internal/api/apitest"
)

// Responses are compressed, and not sent again to a client that has them.
func TestRepresentations(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", apitest.LongResults())
		path := w.Project + "/results/sast?view=full"
		plain := w.AsPerson("read_only").Get(path).Want(200)
		tag := plain.Header.Get("ETag")
		if !strings.HasPrefix(tag, `W/"`) || plain.Header.Get("Cache-Control") != "private, no-cache" {
			t.Fatalf("headers %v", plain.Header)
		}
		for coding, open := range map[string]func(io.Reader) (io.Reader, error){
			"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
			"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
		} {
			status, header, body := fetchRaw(w, path, "Accept-Encoding", coding)
			if status != 200 || header.Get("Content-Encoding") != coding || header.Get("ETag") != tag ||
				len(body) > len(plain.Body)/2 {
				t.Errorf("%s: %d, %v, %d of %d bytes", coding, status, header, len(body), len(plain.Body))
				continue
			}
			r, err := open(strings.NewReader(string(body)))
			if err == nil {
				body, err = io.ReadAll(r)
			}
			if err != nil || string(body) != string(plain.Body) {
				t.Errorf("%s: %v, another body", coding, err)
			}
		}
		for _, header := range []string{tag, `"x", ` + tag, strings.TrimPrefix(tag, "W/"), "*"} {
			if status, h, body := fetchRaw(w, path, "If-None-Match", header); status != 304 || len(body) != 0 ||
				h.Get("ETag") != tag {
				t.Errorf("If-None-Match %s: %d, %d bytes", header, status, len(body))
			}
		}
		if status, _, _ := fetchRaw(w, path, "If-None-Match", `W/"other"`); status != 200 {
			t.Errorf("another tag: %d", status)
		}
		w.Scan("main", &apitest.ScanResult{})
		if status, _, _ := fetchRaw(w, path, "If-None-Match", tag); status != 200 {
			t.Errorf("the list has changed, and the response is %d", status)
		}
		if a := w.AsPerson("read_only").Get("/user/profile").Want(200); a.Header.Get("ETag") != "" {
			t.Error("the profile may be kept")
		}
	})
}

// fetchRaw requests an address and returns the response as it is.
func fetchRaw(w *apitest.World, path, header, value string) (int, http.Header, []byte) {
	w.T.Helper()
	a := w.AsPerson("read_only").With(header, value).Raw(path)
	return a.Status, a.Header, a.Body
}
