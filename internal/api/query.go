package api

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file brings the five spellings of an array parameter to one.

// indexed matches a key that ends with [] or [12].
var indexed = regexp.MustCompile(`^(.+)\[\d*\]$`)

// canonicalQuery rewrites a=x&a=y, a[]=x&a[]=y and a[0]=x&a[1]=y to a=x,y, which
// is what the parameters are declared as. A query that cannot be decoded is
// refused.
func canonicalQuery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		canonical, err := canonical(r.URL.RawQuery)
		if err != nil {
			writeProblem(w, r, http.StatusBadRequest, "the query cannot be read: a % is not followed by two hexadecimal digits, a ; stands where & is meant, or a value is not UTF-8 or holds a NUL")
			return
		}
		if canonical != r.URL.RawQuery {
			r = r.Clone(r.Context())
			r.URL.RawQuery = canonical
		}
		next.ServeHTTP(w, r)
	})
}

// canonical returns the query with every parameter once.
func canonical(query string) (string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", err
	}
	for key, list := range values {
		for _, text := range append(list, key) {
			if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
				return "", errors.New("not text that a database can hold")
			}
		}
	}
	out := url.Values{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name := key
		if m := indexed.FindStringSubmatch(key); m != nil {
			name = m[1]
		}
		out[name] = append(out[name], values[key]...)
	}
	for name, list := range out {
		out[name] = []string{strings.Join(list, ",")}
	}
	return out.Encode(), nil
}
