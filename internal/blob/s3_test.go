package blob

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// This file is a storage that speaks as much of S3 as the store uses.

type s3 struct {
	mu      sync.Mutex
	objects map[string][]byte
	parts   map[string]map[int][]byte // of unfinished uploads
}

// fakeS3 starts one and returns the URL of a bucket in it.
func fakeS3(t *testing.T) string {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	f := &s3{objects: map[string][]byte{}, parts: map[string]map[int][]byte{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return "s3://bucket?region=eu-1&use_path_style=true&request_checksum_calculation=when_required&response_checksum_validation=when_required&endpoint=" + url.QueryEscape(server.URL)
}

func (f *s3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key, query := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/bucket"), "/"), r.URL.Query()
	upload := query.Get("uploadId")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender has gone
	}
	switch {
	case r.Method == http.MethodGet && key == "":
		f.list(w, query.Get("prefix"))
	case r.Method == http.MethodPost && query.Has("uploads"):
		upload = "upload-" + key
		f.parts[upload] = map[int][]byte{}
		answer(w, struct {
			XMLName          xml.Name `xml:"InitiateMultipartUploadResult"`
			Bucket, UploadId string
		}{Bucket: "bucket", UploadId: upload})
	case r.Method == http.MethodPut && upload != "":
		n, _ := strconv.Atoi(query.Get("partNumber"))
		f.parts[upload][n] = body
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n))
	case r.Method == http.MethodPost && upload != "":
		var whole []byte
		for _, n := range slices.Sorted(maps.Keys(f.parts[upload])) {
			whole = append(whole, f.parts[upload][n]...)
		}
		f.objects[key] = whole
		delete(f.parts, upload)
		answer(w, struct {
			XMLName xml.Name `xml:"CompleteMultipartUploadResult"`
			Key     string
		}{Key: key})
	case r.Method == http.MethodDelete && upload != "":
		delete(f.parts, upload)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut:
		if _, there := f.objects[key]; there && r.Header.Get("If-None-Match") == "*" {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		f.objects[key] = body
	case r.Method == http.MethodDelete:
		delete(f.objects, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		f.get(w, key)
	}
}

func (f *s3) get(w http.ResponseWriter, key string) {
	b, ok := f.objects[key]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		answer(w, struct {
			XMLName xml.Name `xml:"Error"`
			Code    string
		}{Code: "NoSuchKey"})
		return
	}
	w.Header().Set("Last-Modified", "Fri, 20 Nov 2026 09:00:00 GMT")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b) // the reader may go
}

func (f *s3) list(w http.ResponseWriter, prefix string) {
	type object struct {
		Key          string
		Size         int
		LastModified string
	}
	var found []object
	for key, b := range f.objects {
		if strings.HasPrefix(key, prefix) {
			found = append(found, object{key, len(b), "2026-11-20T09:00:00.000Z"})
		}
	}
	slices.SortFunc(found, func(a, b object) int { return cmp.Compare(a.Key, b.Key) })
	answer(w, struct {
		XMLName     xml.Name `xml:"ListBucketResult"`
		IsTruncated bool
		Contents    []object
	}{Contents: found})
}

func answer(w http.ResponseWriter, v any) {
	b, err := xml.Marshal(v)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(b) // the reader may go
}
