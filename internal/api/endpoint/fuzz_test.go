package endpoint

import (
	"encoding/json"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// What canonical lets through is text that a database can hold, and names no
// parameter twice.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{"", "a=x&a=y", "a[]=x&a[]=y", "a%5B%5D=x", "a[0]=x&a[1]=y", "a=x,y", "a[][]=1", "%zz",
		"a;b", "a=%ff", "a=%00", "=", "[]=1", "a[9999999999]=b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		once, err := canonicalizeQuery(query)
		if err != nil {
			return
		}
		values, err := url.ParseQuery(once)
		if err != nil {
			t.Fatalf("%q became %q, which cannot be read: %v", query, once, err)
		}
		for name, list := range values {
			if len(list) != 1 || !utf8.ValidString(name+list[0]) || strings.ContainsRune(name+list[0], 0) {
				t.Errorf("%q became %q with %q=%q", query, once, name, list)
			}
		}
	})
}

// No body with a NUL inside a text gets past hasNUL.
func FuzzHasNUL(f *testing.F) {
	for _, seed := range []string{`{"a":"\u0000"}`, `["\\u0000"]`, `"\\\u0000"`, `{"\u0000":1}`,
		`{"a":{"b":["x\u0000y"]}}`, `"\u0001"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var v any
		if json.Unmarshal([]byte(body), &v) == nil && holdsNUL(v) && !hasNUL([]byte(body)) {
			t.Errorf("%q holds a NUL", body)
		}
	})
}

// holdsNUL looks for a NUL in every text of a decoded body.
func holdsNUL(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.ContainsRune(v, 0)
	case []any:
		for _, e := range v {
			if holdsNUL(e) {
				return true
			}
		}
	case map[string]any:
		for k, e := range v {
			if strings.ContainsRune(k, 0) || holdsNUL(e) {
				return true
			}
		}
	}
	return false
}

// A number that is respelt has the same value.
func FuzzPlainNumber(f *testing.F) {
	for _, seed := range []string{"1.0", "1e3", "-2.00E+1", "1.5", "9007199254740993.0", "1e99", "1e999999999", "0e0",
		"-0.0", ".0", "1.", "NaN"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain, ok := plainNumber(text)
		if !ok {
			return
		}
		before, readable := new(big.Rat).SetString(text)
		after, whole := new(big.Int).SetString(plain, 10)
		if !readable || !whole || before.Cmp(new(big.Rat).SetInt(after)) != 0 {
			t.Errorf("%q became %q", text, plain)
		}
	})
}
