package aws

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestSign signs the requests of the published test suite of signature version 4
// (aws-sig-v4-test-suite): the cases of a request without a query.
func TestSign(t *testing.T) {
	keys := Keys{ID: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
	session := keys
	session.Session = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="
	for _, test := range []struct {
		name, method, path, body string
		header                   http.Header
		keys                     Keys
		signed, signature        string
	}{
		{"get-vanilla", "GET", "/", "", nil, keys, "host;x-amz-date",
			"5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"get-unreserved", "GET", "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "", nil, keys,
			"host;x-amz-date",
			"07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
		{"post-vanilla", "POST", "/", "", nil, keys, "host;x-amz-date",
			"5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"post-sts-header-before", "POST", "/", "", nil, session, "host;x-amz-date;x-amz-security-token",
			"85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
		{"post-header-key-sort", "POST", "/", "", http.Header{"My-Header1": {"value1"}}, keys,
			"host;my-header1;x-amz-date",
			"c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
		{"get-header-value-trim", "GET", "/", "",
			http.Header{"My-Header1": {" value1"}, "My-Header2": {` "a   b   c"`}}, keys,
			"host;my-header1;my-header2;x-amz-date",
			"acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
		{"post-x-www-form-urlencoded", "POST", "/", "Param1=value1",
			http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, keys, "content-type;host;x-amz-date",
			"ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, err := http.NewRequest(test.method, "https://example.amazonaws.com"+test.path,
				strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			for name, values := range test.header {
				req.Header[name] = values
			}
			signRequest(req, test.body, test.keys,
				scope{"us-east-1", "service", time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)})
			want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=" +
				test.signed + ", Signature=" + test.signature
			if got := req.Header.Get("Authorization"); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
