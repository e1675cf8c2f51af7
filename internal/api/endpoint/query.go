package endpoint

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
)

// This file brings the five spellings of an array parameter to one, and those of a
// whole number.

// indexed matches a key that ends with [] or [12]. Clients serialize arrays as PHP and Rails
// do (a[]=x), or as qs for JavaScript does (a[0]=x).
var indexed = regexp.MustCompile(`^(.+)\[\d*\]$`)

// CanonicalQuery rewrites a=x&a=y, a[]=x&a[]=y and a[0]=x&a[1]=y to a=x,y, which
// is what the parameters are declared as. A query that cannot be decoded is
// refused.
func CanonicalQuery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		canonical, err := canonicalizeQuery(r.URL.RawQuery)
		if err != nil {
			WriteProblem(w, r, http.StatusBadRequest, "invalid query string: malformed percent-encoding, semicolon "+
				"instead of &, invalid UTF-8, or a NUL character")
			return
		}
		if canonical != r.URL.RawQuery {
			r = r.Clone(r.Context())
			r.URL.RawQuery = canonical
		}
		next.ServeHTTP(w, r)
	})
}

// canonicalizeQuery returns the query with every parameter once.
func canonicalizeQuery(query string) (string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", err
	}
	for key, list := range values {
		// PostgreSQL refuses both in a text: they would otherwise end as an internal error.
		for _, text := range append(list, key) {
			if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
				return "", errors.New("invalid UTF-8 or NUL character")
			}
		}
	}
	out := url.Values{}
	// Sorted, so that the order of merged values does not depend on the order of a map.
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name := key
		if m := indexed.FindStringSubmatch(key); m != nil {
			name = m[1]
		}
		out[name] = append(out[name], values[key]...)
	}
	for name, list := range out {
		// A comma separates values; no parameter of the API has values that contain one.
		out[name] = []string{strings.Join(list, ",")}
	}
	return out.Encode(), nil
}

// plainNumbers rewrites the integer parameters of a request's query: 1.0 and 1e2 are
// numbers in JSON and become 1 and 100, which is all that the HTTP library reads.
func plainNumbers(ctx huma.Context) {
	r, _ := humachi.Unwrap(ctx)
	if r.URL.RawQuery == "" {
		return
	}
	values := r.URL.Query() // canonical by now
	changed := false
	for _, p := range ctx.Operation().Parameters {
		if p.In != "query" || p.Schema == nil || p.Schema.Type != huma.TypeInteger || !values.Has(p.Name) {
			continue
		}
		if plain, ok := plainNumber(values.Get(p.Name)); ok {
			values.Set(p.Name, plain)
			changed = true
		}
	}
	if changed {
		r.URL.RawQuery = values.Encode()
	}
}

// wholeNumber matches a whole number with a fraction of zeros or an exponent. At most 15
// digits and two of the exponent bound the work of the conversion.
var wholeNumber = regexp.MustCompile(`^-?[0-9]{1,15}(\.0{1,15})?([eE]\+?[0-9]{1,2})?$`)

// plainNumber returns the digits of a whole number that is spelt with a fraction or an
// exponent. Beyond 2^53, where such spellings are not exact, there is none.
func plainNumber(text string) (string, bool) {
	if !strings.ContainsAny(text, ".eE") || !wholeNumber.MatchString(text) {
		return "", false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < -(1<<53) || f > 1<<53 {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}
