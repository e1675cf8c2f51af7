package aws

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzNames holds that a name that is accepted makes an address of Amazon's, and
// says whose it is.
func FuzzNames(f *testing.F) {
	for _, text := range []string{"eu-west-1", "us-gov-west-1", "cn-north-1", "eu-west-1.evil.example",
		"arn:aws:iam::123456789012:role/a/b",
		"arn:aws-cn:iam::123456789012:user/x", "arn:aws:iam::123456789012:root",
		"arn:aws:iam::123456789012:role/a\nb"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := ParseRegion(text); err == nil {
			u, err := url.Parse(r.publicURL("ecr"))
			if err != nil || u.Host != "api.ecr."+text+"."+r.suffix || u.Path != "/" {
				t.Errorf("%q is asked at %v, %v", text, u, err)
			}
		}
		for _, parse := range []func(string) (Identity, error){ParseRole, ParsePrincipal} {
			if i, err := parse(text); err == nil &&
				(!IsAccount(i.Account) || !strings.HasPrefix(text, "arn:"+i.Partition+":iam::"+i.Account+":") ||
					i.ARN != text) {
				t.Errorf("%q is %v", text, i)
			}
		}
		IsExternalID([]byte("key"), "owner", text)
	})
}

// FuzzAnswers reads answers of any kind: none is a code of more than letters, and
// none makes a time that cannot be written.
func FuzzAnswers(f *testing.F) {
	for _, text := range []string{`{"__type":"com.amazon#AccessDeniedException"}`, `{"__type":7}`,
		"<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>",
		"<a><b>", "", "{", "QVdTOnBhc3N3b3Jk", "=", "AWS:"} {
		f.Add([]byte(text), 1.7e9)
	}
	f.Add([]byte("x"), -1.0)
	f.Add([]byte("x"), 1e300)
	f.Fuzz(func(t *testing.T, text []byte, at float64) {
		if code := errorCode(text); len(code) > 100 || strings.ContainsAny(code, " <>\n\"") {
			t.Errorf("%q has the code %q", text, code)
		}
		if password, ok := parseToken(string(text)); ok && password == "" {
			t.Errorf("%q has an empty password", text)
		}
		if _, err := seconds(at).toTime().MarshalJSON(); err != nil {
			t.Errorf("%v: %v", at, err)
		}
	})
}
