package aws

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"
)

// This file signs requests by signature version 4
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).

const algorithm = "AWS4-HMAC-SHA256"

// scope is what a signature holds for.
type scope struct {
	region, service string
	at              time.Time
}

// signRequest adds the headers that prove that the owner of the keys sends the request. It
// has no query, and its path needs no escapes. All headers that it has are signed, and the
// host.
func signRequest(req *http.Request, body string, k Keys, s scope) {
	stamp := s.at.UTC().Format("20060102T150405Z")
	req.Header.Set("X-Amz-Date", stamp)
	if k.Session != "" {
		req.Header.Set("X-Amz-Security-Token", k.Session)
	}
	headers := map[string]string{"host": req.URL.Host}
	for name, values := range req.Header {
		headers[strings.ToLower(name)] = strings.Join(strings.Fields(strings.Join(values, ",")), " ")
	}
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	path := req.URL.Path
	if path == "" {
		path = "/"
	}
	canonical := []string{req.Method, path, ""}
	for _, name := range names {
		canonical = append(canonical, name+":"+headers[name])
	}
	signed := strings.Join(names, ";")
	canonical = append(canonical, "", signed, hexDigest(body))
	within := strings.Join([]string{stamp[:8], s.region, s.service, "aws4_request"}, "/")
	text := strings.Join([]string{algorithm, stamp, within, hexDigest(strings.Join(canonical, "\n"))}, "\n")
	key := []byte("AWS4" + k.Secret)
	for part := range strings.SplitSeq(within, "/") {
		key = computeMAC(key, part)
	}
	req.Header.Set("Authorization", algorithm+" Credential="+k.ID+"/"+within+", SignedHeaders="+signed+", Signature="+
		hex.EncodeToString(computeMAC(key, text)))
}

// hexDigest is the SHA-256 of a text, as signatures write it.
func hexDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// computeMAC is the HMAC-SHA-256 of a text.
func computeMAC(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
