package authz

import "testing"

func TestWeakKey(t *testing.T) {
	// The example of jwt.io's debugger, and the example of RFC 7515, A.1, with a strong key.
	const weak = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
	const strong = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	if key, alg := weakKey(token.FindString("Bearer " + weak)); key != "your-256-bit-secret" || alg != "HS256" {
		t.Errorf("%q %q", key, alg)
	}
	for _, none := range []string{strong, "", "a.b.c", "eyJhbGciOiJSUzI1NiJ9.eyJ.c2ln"} {
		if key, _ := weakKey(none); key != "" {
			t.Errorf("%.20s: %q", none, key)
		}
	}
}
