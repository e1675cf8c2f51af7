package blob

import (
	"bufio"

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

	"github.com/google/go-cmp/cmp"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/encrypt"
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
	return "s3://bucket?region=eu-1&use_path_style=true&endpoint=" + url.QueryEscape(server.URL)
}

func (f *s3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key, query := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/bucket"), "/"), r.URL.Query()
	upload := query.Get("uploadId")
	body, err := readBody(r)
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
			XMLName     xml.Name `xml:"CompleteMultipartUploadResult"`
			Bucket, Key string
		}{Bucket: "bucket", Key: key})
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

// readBody returns the body of a request. Without TLS it is signed in pieces, of which each
// has its size and signature before it
// (https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html).
func readBody(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	var out []byte
	for in := bufio.NewReader(r.Body); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseInt(size, 16, 32)
		if err != nil || n == 0 {
			return out, err
		}
		piece := make([]byte, n+2) // with the end of the line
		if _, err := io.ReadFull(in, piece); err != nil {
			return nil, err
		}
		out = append(out, piece[:n]...)
	}
}

func (f *s3) get(w http.ResponseWriter, key string) {
	b, ok := f.objects[key]
	if !ok {
		w.Header().Set("Content-Type", "application/xml")
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
	slices.SortFunc(found, func(a, b object) int { return strings.Compare(a.Key, b.Key) })
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

func TestParseS3URL(t *testing.T) {
	type target struct {
		Bucket, Host, Region string
		Secure, Path         bool
		Encryption           string
	}
	for text, want := range map[string]target{
		"s3://b":                                  {Bucket: "b", Host: "s3.amazonaws.com", Secure: true},
		"s3://b?region=eu-central-1":              {Bucket: "b", Host: "s3.amazonaws.com", Region: "eu-central-1", Secure: true},
		"s3://b?endpoint=http://m:9000":           {Bucket: "b", Host: "m:9000"},
		"s3://b?endpoint=https://m&region=r":      {Bucket: "b", Host: "m", Region: "r", Secure: true},
		"s3://b?use_path_style=true":              {Bucket: "b", Host: "s3.amazonaws.com", Secure: true, Path: true},
		"s3://b?s3ForcePathStyle=1":               {Bucket: "b", Host: "s3.amazonaws.com", Secure: true, Path: true},
		"s3://b?disable_https=true":               {Bucket: "b", Host: "s3.amazonaws.com"},
		"s3://b?ssetype=AES256":                   {Bucket: "b", Host: "s3.amazonaws.com", Secure: true, Encryption: "S3"},
		"s3://b?ssetype=aws:kms&kmskeyid=k":       {Bucket: "b", Host: "s3.amazonaws.com", Secure: true, Encryption: "KMS"},
		"s3://b?anonymous=true&profile=reporting": {Bucket: "b", Host: "s3.amazonaws.com", Secure: true},
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseS3URL(u)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		found := target{Bucket: got.bucket, Host: got.host, Region: got.options.Region, Secure: got.options.Secure,
			Path: got.options.BucketLookup == minio.BucketLookupPath}
		if got.encryption != nil {
			found.Encryption = map[encrypt.Type]string{encrypt.S3: "S3", encrypt.KMS: "KMS"}[got.encryption.Type()]
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
