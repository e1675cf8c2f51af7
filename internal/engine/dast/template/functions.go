package template

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"crypto/hmac"
	"crypto/md5"  //nolint:gosec // templates ask for it
	"crypto/sha1" //nolint:gosec // templates ask for it
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"html"
	"io"
	"math"
	"math/bits"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"merlon/internal/lazyregexp"
)

// This file holds the functions of expressions, by the names that templates use.

// A function takes from min to max arguments; max -1: any number.
type function struct {
	min, max int
	pattern  bool // the first argument is a regular expression
	call     func(e *evaluation, args []any) (any, error)
}

// textFunction makes a function of texts. Numbers, truth values and lists come to it as
// the texts that they would be in a request.
func textFunction(n int, f func(s []string) (any, error)) *function {
	return &function{min: n, max: n, call: func(_ *evaluation, args []any) (any, error) { return f(textsOf(args)) }}
}

// variadicFunction makes a function that takes n texts or more.
func variadicFunction(n int, f func(s []string) (any, error)) *function {
	out := textFunction(n, f)
	out.max = -1
	return out
}

// unaryFunction makes a function of one text that cannot fail. Most functions of the
// format are such ones: they change the form of a text.
func unaryFunction(f func(s string) any) *function {
	return textFunction(1, func(s []string) (any, error) { return f(s[0]), nil })
}

// binaryFunction makes a function of two texts that cannot fail.
func binaryFunction(f func(a, b string) any) *function {
	return textFunction(2, func(s []string) (any, error) { return f(s[0], s[1]), nil })
}

// textsOf returns the arguments of a function as texts, whatever they are.
func textsOf(args []any) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = textOf(a)
	}
	return out
}

// functions are all that are known. A template that calls another one is not run: what
// it would find depends on the function's result.
var functions = map[string]*function{
	"to_lower":    unaryFunction(func(s string) any { return strings.ToLower(s) }),
	"to_upper":    unaryFunction(func(s string) any { return strings.ToUpper(s) }),
	"tolower":     unaryFunction(func(s string) any { return strings.ToLower(s) }),
	"toupper":     unaryFunction(func(s string) any { return strings.ToUpper(s) }),
	"trim_space":  unaryFunction(func(s string) any { return strings.TrimSpace(s) }),
	"trimspace":   unaryFunction(func(s string) any { return strings.TrimSpace(s) }),
	"trim":        binaryFunction(func(a, b string) any { return strings.Trim(a, b) }),
	"trim_left":   binaryFunction(func(a, b string) any { return strings.TrimLeft(a, b) }),
	"trim_right":  binaryFunction(func(a, b string) any { return strings.TrimRight(a, b) }),
	"trim_prefix": binaryFunction(func(a, b string) any { return strings.TrimPrefix(a, b) }),
	"trimprefix":  binaryFunction(func(a, b string) any { return strings.TrimPrefix(a, b) }),
	"trim_suffix": binaryFunction(func(a, b string) any { return strings.TrimSuffix(a, b) }),
	"trimsuffix":  binaryFunction(func(a, b string) any { return strings.TrimSuffix(a, b) }),
	"reverse":     unaryFunction(func(s string) any { r := []rune(s); slices.Reverse(r); return string(r) }),
	"repeat":      textFunction(2, repeatText),
	"replace":     textFunction(3, func(s []string) (any, error) { return replaceAll(s[0], s[1], s[2]) }),
	"concat":      variadicFunction(1, func(s []string) (any, error) { return strings.Join(s, ""), nil }),
	"join":        {min: 2, max: -1, call: joinTexts},
	"split":       {min: 2, max: 3, call: splitText},
	"index":       {min: 2, max: 2, call: itemAt},
	"substr":      {min: 2, max: 3, call: partOfText},
	"sort":        {min: 1, max: -1, call: sortItems},
	"uniq":        {min: 1, max: -1, call: uniqueItems},
	"padding":     textFunction(4, padText),
	"len":         {min: 1, max: 1, call: lengthOf},
	"to_title":    unaryFunction(func(s string) any { return toTitle(s) }),
	"to_string":   unaryFunction(func(s string) any { return s }),
	"tostring":    unaryFunction(func(s string) any { return s }),
	"to_number":   textFunction(1, parseNumber), "tonumber": textFunction(1, parseNumber),
	"to_bool":          textFunction(1, func(s []string) (any, error) { return strconv.ParseBool(s[0]) }),
	"remove_bad_chars": binaryFunction(func(a, b string) any { return removeCharacters(a, b) }),
	"json_minify":      textFunction(1, func(s []string) (any, error) { return rewriteJSON(s[0], json.Compact) }),
	"json_prettify": textFunction(1, func(s []string) (any, error) {
		return rewriteJSON(s[0], func(to *bytes.Buffer, from []byte) error { return json.Indent(to, from, "", "    ") })
	}),

	"contains": binaryFunction(func(a, b string) any { return strings.Contains(a, b) }),
	"contains_all": variadicFunction(2, func(s []string) (any, error) {
		return !slices.ContainsFunc(s[1:], func(w string) bool { return !strings.Contains(s[0], w) }), nil
	}),
	"contains_any": variadicFunction(2, func(s []string) (any, error) {
		return slices.ContainsFunc(s[1:], func(w string) bool { return strings.Contains(s[0], w) }), nil
	}),
	"starts_with": variadicFunction(2, func(s []string) (any, error) {
		return slices.ContainsFunc(s[1:], func(w string) bool { return strings.HasPrefix(s[0], w) }), nil
	}),
	"startswith": binaryFunction(func(a, b string) any { return strings.HasPrefix(a, b) }),
	"ends_with": variadicFunction(2, func(s []string) (any, error) {
		return slices.ContainsFunc(s[1:], func(w string) bool { return strings.HasSuffix(s[0], w) }), nil
	}),
	"line_starts_with": variadicFunction(2, func(s []string) (any, error) { return matchesLine(s, strings.HasPrefix), nil }),
	"line_ends_with":   variadicFunction(2, func(s []string) (any, error) { return matchesLine(s, strings.HasSuffix), nil }),
	"equals_any":       variadicFunction(2, func(s []string) (any, error) { return slices.Contains(s[1:], s[0]), nil }),
	"regex":            {min: 2, max: 2, pattern: true, call: matchesPattern},
	"regex_all": variadicFunction(2, func(s []string) (any, error) {
		return matchesPatterns(s[1:], true, s[0])
	}),
	"regex_any":     variadicFunction(2, func(s []string) (any, error) { return matchesPatterns(s[1:], false, s[0]) }),
	"replace_regex": textFunction(3, replaceRegex),
	"count":         binaryFunction(func(a, b string) any { return float64(strings.Count(a, b)) }),

	"base64":        unaryFunction(func(s string) any { return base64.StdEncoding.EncodeToString([]byte(s)) }),
	"base64_py":     unaryFunction(func(s string) any { return lineBase64(s) }),
	"base64py":      unaryFunction(func(s string) any { return lineBase64(s) }),
	"base64_decode": textFunction(1, decodeBase64), "base64decode": textFunction(1, decodeBase64),
	"hex_encode": unaryFunction(func(s string) any { return hex.EncodeToString([]byte(s)) }),
	"hexencode":  unaryFunction(func(s string) any { return hex.EncodeToString([]byte(s)) }),
	"hex_decode": textFunction(1, decodeHex), "hexdecode": textFunction(1, decodeHex),
	"url_encode":    variadicFunction(1, func(s []string) (any, error) { return url.QueryEscape(s[0]), nil }),
	"urlencode":     unaryFunction(func(s string) any { return url.QueryEscape(s) }),
	"url_decode":    textFunction(1, func(s []string) (any, error) { return url.QueryUnescape(s[0]) }),
	"urldecode":     textFunction(1, func(s []string) (any, error) { return url.QueryUnescape(s[0]) }),
	"html_escape":   unaryFunction(func(s string) any { return html.EscapeString(s) }),
	"html_unescape": unaryFunction(func(s string) any { return html.UnescapeString(s) }),
	"gzip": textFunction(1, func(s []string) (any, error) {
		return compress(s[0], func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	}),
	"gzip_decode": textFunction(1, func(s []string) (any, error) {
		return decompress(gzip.NewReader(strings.NewReader(s[0])))
	}),
	"zlib": textFunction(1, func(s []string) (any, error) {
		return compress(s[0], func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	}),
	"zlib_decode": textFunction(1, func(s []string) (any, error) {
		return decompress(zlib.NewReader(strings.NewReader(s[0])))
	}),
	"deflate": textFunction(1, func(s []string) (any, error) {
		return compress(s[0], func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, -1); return f })
	}), // the level is valid
	"inflate": textFunction(1, func(s []string) (any, error) {
		return decompress(flate.NewReader(strings.NewReader(s[0])), nil)
	}),
	"md5": digestFunction(md5.New), "sha1": digestFunction(sha1.New), "sha256": digestFunction(sha256.New), "sha512": digestFunction(sha512.New),
	"hmac": textFunction(3, computeHMAC),
	"mmh3": unaryFunction(func(s string) any {
		return strconv.FormatInt(int64(int32(murmurHash3([]byte(s)))), 10)
	}),
	"generate_jwt": {min: 1, max: 4, call: signToken},
	"dec_to_hex":   {min: 1, max: 1, call: convertBase(10, 16)}, "hex_to_dec": {min: 1, max: 1, call: convertBase(16, 10)},
	"oct_to_dec": {min: 1, max: 1, call: convertBase(8, 10)}, "bin_to_dec": {min: 1, max: 1, call: convertBase(2, 10)},
	"xor": textFunction(2, xorTexts),

	"rand_base": {min: 1, max: 2, call: randomText(letters+digits, false)},
	"rand_char": {min: 0, max: 1, call: func(e *evaluation, args []any) (any, error) {
		return randomText(letters+digits, false)(e, append([]any{1.0}, args...))
	}},
	"rand_text_alpha":        {min: 1, max: 2, call: randomText(letters, true)},
	"rand_text_numeric":      {min: 1, max: 2, call: randomText(digits, true)},
	"rand_text_alphanumeric": {min: 1, max: 2, call: randomText(letters+digits, true)},
	"rand_int":               {min: 0, max: 2, call: randomInt},
	"randint":                {min: 0, max: 2, call: randomInt},
	"rand_ip":                {min: 1, max: 1, call: randomAddress},
	"unix_time":              {min: 0, max: 1, call: unixTime}, "unixtime": {min: 0, max: 1, call: unixTime},
	"to_unix_time":     variadicFunction(1, toUnixTime),
	"date_time":        {min: 1, max: 2, call: dateTime},
	"compare_versions": variadicFunction(2, compareVersions),
	"print_debug":      variadicFunction(0, func([]string) (any, error) { return true, nil }),
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

// repeatText puts a text n times one after another. A result that is too long is
// refused before it is made.
func repeatText(s []string) (any, error) {
	n, err := strconv.Atoi(s[1])
	if err != nil || n < 0 || n*len(s[0]) > maxValue || n > maxValue {
		return nil, fmt.Errorf("%.20q times", s[1])
	}
	return strings.Repeat(s[0], n), nil
}

// replaceAll replaces a text everywhere. How long the result would be is known before
// it is made.
func replaceAll(s, old, with string) (any, error) {
	if n := strings.Count(s, old); n*len(with)+len(s) > maxValue {
		return nil, fmt.Errorf("the result is too long")
	}
	return strings.ReplaceAll(s, old, with), nil
}

// replaceRegex replaces what a pattern matches; $1 and its like stand for groups. The
// longest result, where each character matches, is bounded before it is made.
func replaceRegex(s []string) (any, error) {
	re, err := compileRegexp(s[1])
	if err != nil {
		return nil, err
	}
	if len(s[0])*(len(s[2])+1) > maxValue*4 {
		return nil, fmt.Errorf("the result may be too long")
	}
	return re.ReplaceAllString(s[0], s[2]), nil
}

// joinTexts joins the items of a list, or all arguments behind the first one, with the
// first one between them.
func joinTexts(_ *evaluation, args []any) (any, error) {
	items := args[1:]
	if l, ok := args[1].([]any); ok && len(args) == 2 {
		items = l
	}
	return strings.Join(textsOf(items), textOf(args[0])), nil
}

// splitText divides a text at a separator, into at most n parts where a third argument
// says so.
func splitText(_ *evaluation, args []any) (any, error) {
	s, sep, n := textOf(args[0]), textOf(args[1]), -1
	if len(args) == 3 {
		v, err := strconv.Atoi(textOf(args[2]))
		if err != nil {
			return nil, err
		}
		n = v
	}
	var out []any
	for _, part := range strings.SplitN(s, sep, n) {
		out = append(out, part)
	}
	return out, nil
}

// itemAt returns an item of a list or a character of a text, counted from 0. Nothing is
// there beyond the end: the expression has no value then, and does not match.
func itemAt(_ *evaluation, args []any) (any, error) {
	i, err := strconv.Atoi(textOf(args[1]))
	if err != nil {
		return nil, err
	}
	if l, ok := args[0].([]any); ok {
		if i < 0 || i >= len(l) {
			return nil, fmt.Errorf("there is no item %d", i)
		}
		return l[i], nil
	}
	s := textOf(args[0])
	if i < 0 || i >= len(s) {
		return nil, fmt.Errorf("there is no character %d", i)
	}
	return s[i : i+1], nil
}

// partOfText cuts bytes out of a text. A negative number counts from its end, as in
// other languages that authors of templates know.
func partOfText(_ *evaluation, args []any) (any, error) {
	s := textOf(args[0])
	start, err := strconv.Atoi(textOf(args[1]))
	end := len(s)
	if err == nil && len(args) == 3 {
		end, err = strconv.Atoi(textOf(args[2]))
	}
	if err != nil {
		return nil, err
	}
	if start < 0 {
		start += len(s)
	}
	if end < 0 {
		end += len(s)
	}
	if start < 0 || end > len(s) || start > end {
		return nil, fmt.Errorf("no part of %d characters from %d to %d", len(s), start, end)
	}
	return s[start:end], nil
}

// sortItems sorts the characters of one text, or several texts.
func sortItems(_ *evaluation, args []any) (any, error) {
	if len(args) == 1 {
		r := []rune(textOf(args[0]))
		slices.Sort(r)
		return string(r), nil
	}
	all := textsOf(args)
	slices.Sort(all)
	return toList(all), nil
}

// uniqueItems leaves out repeated characters of one text, or repeated texts; the first
// of each stays.
func uniqueItems(_ *evaluation, args []any) (any, error) {
	if len(args) == 1 {
		seen := map[rune]bool{}
		return strings.Map(func(r rune) rune {
			if seen[r] {
				return -1
			}
			seen[r] = true
			return r
		}, textOf(args[0])), nil
	}
	var out []string
	for _, s := range textsOf(args) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return toList(out), nil
}

// toList makes a list of the language of texts.
func toList(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// padText makes a text n bytes long with copies of another text, before it ("prefix")
// or behind it. A text that is longer stays.
func padText(s []string) (any, error) {
	n, err := strconv.Atoi(s[2])
	if err != nil || n < 0 || n > maxValue || s[1] == "" {
		return nil, fmt.Errorf("padding to %.20q", s[2])
	}
	missing := max(n-len(s[0]), 0)
	pad := strings.Repeat(s[1], missing/len(s[1])+1)[:missing]
	if s[3] == "prefix" {
		return pad + s[0], nil
	}
	return s[0] + pad, nil
}

// lengthOf counts the items of a list, or the bytes of a text.
func lengthOf(_ *evaluation, args []any) (any, error) {
	if l, ok := args[0].([]any); ok {
		return float64(len(l)), nil
	}
	return float64(len(textOf(args[0]))), nil
}

// toTitle writes the first byte of a text in upper case.
func toTitle(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// parseNumber reads a number, also one with blanks around it, as values of headers have
// them.
func parseNumber(s []string) (any, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s[0]), 64)
	return v, err
}

// removeCharacters leaves out every character of a text that the other text holds.
func removeCharacters(s, bad string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(bad, r) {
			return -1
		}
		return r
	}, s)
}

// rewriteJSON writes a document anew with a function of encoding/json, and fails where
// it is none.
func rewriteJSON(s string, f func(*bytes.Buffer, []byte) error) (any, error) {
	var out bytes.Buffer
	err := f(&out, []byte(s))
	return out.String(), err
}

// matchesLine reports whether any line of the first text begins, or ends, with one of
// the others. Line ends of HTTP are taken off.
func matchesLine(s []string, holds func(s, part string) bool) bool {
	for line := range strings.SplitSeq(s[0], "\n") {
		if slices.ContainsFunc(s[1:], func(w string) bool { return holds(strings.TrimSuffix(line, "\r"), w) }) {
			return true
		}
	}
	return false
}

// matchesPattern reports whether the second text holds what the pattern matches.
func matchesPattern(_ *evaluation, args []any) (any, error) {
	re, err := compileRegexp(textOf(args[0]))
	if err != nil {
		return nil, err
	}
	return re.MatchString(textOf(args[1])), nil
}

// matchesPatterns reports whether all, or any, of the patterns match. It stops at the
// first pattern that decides.
func matchesPatterns(patterns []string, all bool, s string) (any, error) {
	for _, p := range patterns {
		re, err := compileRegexp(p)
		if err != nil {
			return nil, err
		}
		if re.MatchString(s) != all {
			return !all, nil
		}
	}
	return all, nil
}

// lineBase64 breaks base 64 into lines of 76 characters, each with a line end, as
// Python's base64.encodebytes does.
func lineBase64(s string) string {
	whole := base64.StdEncoding.EncodeToString([]byte(s))
	var b strings.Builder
	for len(whole) > 76 {
		b.WriteString(whole[:76] + "\n")
		whole = whole[76:]
	}
	return b.String() + whole + "\n"
}

// decodeBase64 decodes base 64 of either alphabet, with its padding or without, also
// where it is broken into lines.
func decodeBase64(s []string) (any, error) {
	trimmed := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "").Replace(s[0]), "=")
	out, err := base64.RawStdEncoding.DecodeString(trimmed)
	return string(out), err
}

// decodeHex decodes pairs of hexadecimal digits.
func decodeHex(s []string) (any, error) {
	out, err := hex.DecodeString(s[0])
	return string(out), err
}

// compress writes a text through a compressor.
func compress(s string, open func(io.Writer) io.WriteCloser) (any, error) {
	var out bytes.Buffer
	w := open(&out)
	_, err := io.WriteString(w, s)
	if closed := w.Close(); err == nil {
		err = closed
	}
	return out.String(), err
}

// decompress reads a compressed text up to one byte more than a value may have, so that
// a bomb is told as a value that is too long.
func decompress(r io.Reader, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, maxValue+1))
	return string(out), err
}

// digestFunction makes a function of one text that gives its hash in hexadecimal
// digits.
func digestFunction(f func() hash.Hash) *function {
	return unaryFunction(func(s string) any {
		h := f()
		_, _ = io.WriteString(h, s) // a hash takes everything
		return hex.EncodeToString(h.Sum(nil))
	})
}

// hashes are the hash functions by their names in templates and in JSON Web Tokens.
// Weak ones are among them: templates compute what products do.
var hashes = map[string]func() hash.Hash{"sha1": sha1.New, "sha-1": sha1.New, "sha256": sha256.New,
	"sha-256": sha256.New, "sha512": sha512.New, "sha-512": sha512.New,
	"HS256": sha256.New, "HS384": sha512.New384, "HS512": sha512.New, "md5": md5.New}

// computeHMAC signs a text with a key; the first argument names the hash.
func computeHMAC(s []string) (any, error) {
	f := hashes[strings.ToLower(s[0])]
	if f == nil {
		return nil, fmt.Errorf("there is no hash %.20q", s[0])
	}
	h := hmac.New(f, []byte(s[2]))
	_, _ = io.WriteString(h, s[1]) // a hash takes everything
	return hex.EncodeToString(h.Sum(nil)), nil
}

// signToken makes a JSON Web Token (RFC 7519): claims, algorithm, key, and when it ends
// in seconds since 1970. Without an algorithm, or with none, the token has no
// signature, which flawed applications take.
func signToken(_ *evaluation, args []any) (any, error) {
	claims := map[string]any{}
	if err := json.Unmarshal([]byte(textOf(args[0])), &claims); err != nil {
		return nil, err
	}
	algorithm, key := "none", ""
	if len(args) > 1 && textOf(args[1]) != "" {
		algorithm = strings.ToUpper(textOf(args[1]))
	}
	if len(args) > 2 {
		key = textOf(args[2])
	}
	if len(args) > 3 {
		if end, err := strconv.ParseFloat(textOf(args[3]), 64); err == nil && end > 0 {
			claims["exp"] = int64(end)
		}
	}
	if algorithm == "NONE" {
		algorithm = "none"
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return nil, err
	}
	enc := base64.RawURLEncoding
	token := enc.EncodeToString([]byte(`{"alg":"`+algorithm+`","typ":"JWT"}`)) + "." + enc.EncodeToString(body)
	if algorithm == "none" {
		return token + ".", nil
	}
	f := hashes[algorithm]
	if f == nil {
		return nil, fmt.Errorf("there is no algorithm %.20q", algorithm)
	}
	h := hmac.New(f, []byte(key))
	_, _ = io.WriteString(h, token) // a hash takes everything
	return token + "." + enc.EncodeToString(h.Sum(nil)), nil
}

// murmurHash3 is MurmurHash3 for 32 bits with the seed 0 (Austin Appleby, public
// domain). Templates compare it with the hashes of icons, by which products are known.
func murmurHash3(data []byte) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	var h uint32
	n := len(data)
	for ; len(data) >= 4; data = data[4:] {
		k := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
		h ^= bits.RotateLeft32(k*c1, 15) * c2
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	}
	var k uint32
	for i := len(data) - 1; i >= 0; i-- {
		k = k<<8 | uint32(data[i])
	}
	h ^= bits.RotateLeft32(k*c1, 15) * c2
	h ^= uint32(n)
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// convertBase makes a function that reads a number of one base and writes it in another
// one. Decimal results are numbers of the language.
func convertBase(from, to int) func(*evaluation, []any) (any, error) {
	return func(_ *evaluation, args []any) (any, error) {
		v, err := strconv.ParseInt(strings.ToLower(strings.TrimPrefix(textOf(args[0]), "0x")), from, 64)
		if err != nil {
			return nil, err
		}
		if to == 10 {
			return float64(v), nil
		}
		return strconv.FormatInt(v, to), nil
	}
}

// xorTexts combines the bytes of two texts of the same length.
func xorTexts(s []string) (any, error) {
	if len(s[0]) != len(s[1]) {
		return nil, fmt.Errorf("texts of %d and %d bytes", len(s[0]), len(s[1]))
	}
	out := []byte(s[0])
	for i := range out {
		out[i] ^= s[1][i]
	}
	return string(out), nil
}

// randomText makes a random text: a length, and characters to use, or bad ones. Random
// values tell an answer that echoes a payload from one that held the text before.
func randomText(from string, bad bool) func(*evaluation, []any) (any, error) {
	return func(e *evaluation, args []any) (any, error) {
		n, ok := args[0].(float64)
		if !ok {
			v, err := strconv.ParseFloat(textOf(args[0]), 64)
			if err != nil {
				return nil, err
			}
			n = v
		}
		chars := from
		if len(args) > 1 && textOf(args[1]) != "" {
			if chars = textOf(args[1]); bad {
				chars = removeCharacters(from, chars)
			}
		}
		if n < 0 || n > 10_000 || chars == "" {
			return nil, fmt.Errorf("a random text of %v characters", n)
		}
		out := make([]byte, int(n))
		for i := range out {
			out[i] = chars[e.number(0, len(chars)-1)]
		}
		return string(out), nil
	}
}

// randomInt draws a number between two others, both included. Without them it is any
// that is not negative.
func randomInt(e *evaluation, args []any) (any, error) {
	low, high := 0.0, float64(math.MaxInt32-1)
	for i, to := range []*float64{&low, &high} {
		if i < len(args) {
			v, err := strconv.ParseFloat(textOf(args[i]), 64)
			if err != nil {
				return nil, err
			}
			*to = v
		}
	}
	if low > high || low < -math.MaxInt32 || high-low >= math.MaxInt32 {
		return nil, fmt.Errorf("no number from %v to %v", low, high)
	}
	return float64(e.number(int(low), int(high))), nil
}

// randomAddress is a random address of IPv4 whose first two numbers are the network's.
func randomAddress(e *evaluation, args []any) (any, error) {
	parts := strings.Split(textOf(args[0]), ".")
	if len(parts) != 4 {
		return nil, fmt.Errorf("%.40q is no network of IPv4", textOf(args[0]))
	}
	return fmt.Sprintf("%s.%s.%d.%d", parts[0], parts[1], e.number(0, 255), e.number(1, 254)), nil
}

// unixTime is the time in seconds since 1970, plus the argument.
func unixTime(_ *evaluation, args []any) (any, error) {
	now := float64(time.Now().Unix())
	if len(args) == 1 {
		v, err := strconv.ParseFloat(textOf(args[0]), 64)
		return now + v, err
	}
	return now, nil
}

// toUnixTime reads a time in one of the usual forms, or in the layout that the second
// argument gives in Go's notation.
func toUnixTime(s []string) (any, error) {
	if v, err := strconv.ParseFloat(s[0], 64); err == nil {
		return v, nil
	}
	layouts := []string{time.RFC3339, "2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05", "2006-01-02 15:04 Z07:00",
		"2006-01-02 15:04", "2006-01-02"}
	if len(s) > 1 {
		layouts = s[1:2]
	}
	for _, l := range layouts {
		if t, err := time.Parse(l, s[0]); err == nil {
			return float64(t.Unix()), nil
		}
	}
	return nil, fmt.Errorf("%.40q is no time", s[0])
}

// fields of a simple form of times: %Y-%M-%D %H:%m:%S.
var fields = strings.NewReplacer("%Y", "2006", "%M", "01", "%D", "02", "%H", "15", "%m", "04", "%S", "05")

// dateTime writes the time, or the seconds since 1970 of the second argument, in the
// simple form of times.
func dateTime(_ *evaluation, args []any) (any, error) {
	at := time.Now()
	if len(args) > 1 {
		v, err := strconv.ParseFloat(textOf(args[1]), 64)
		if err != nil {
			return nil, err
		}
		at = time.Unix(int64(v), 0)
	}
	return at.UTC().Format(fields.Replace(textOf(args[0]))), nil
}

var (
	// versionText matches a version: numbers with dots, and what names a version before
	// the release. constraintText matches one comparison with a version.
	versionText    = lazyregexp.New(`^v?(\d+(?:\.\d+)*)(?:[-.]?([A-Za-z][0-9A-Za-z.~-]*))?(?:\+\S*)?$`)
	constraintText = lazyregexp.New(`^\s*(=|!=|>|<|>=|<=|~>)?\s*(v?\d\S*)\s*$`)
)

// compareVersions checks a version against constraints, each with one or more
// comparisons between commas; all must hold. It decides most matches of templates for
// known vulnerabilities, where products tell their version.
func compareVersions(s []string) (any, error) {
	for _, c := range strings.Split(strings.Join(s[1:], ","), ",") {
		m := constraintText.FindStringSubmatch(c)
		if m == nil {
			return nil, fmt.Errorf("%.40q compares with no version", c)
		}
		order, err := orderVersions(s[0], m[2])
		if err != nil {
			return nil, err
		}
		holds := map[string]bool{"": order == 0, "=": order == 0, "!=": order != 0, ">": order > 0, "<": order < 0,
			">=": order >= 0, "<=": order <= 0,
			"~>": order >= 0 && sameSeries(s[0], m[2])}[m[1]]
		if !holds {
			return false, nil
		}
	}
	return true, nil
}

// sameSeries reports whether a version differs from another one in its last number
// alone.
func sameSeries(v, of string) bool {
	a, b := versionText.FindStringSubmatch(strings.TrimSpace(v)), versionText.FindStringSubmatch(of)
	x, y := strings.Split(a[1], "."), strings.Split(b[1], ".")
	n := max(len(y)-1, 1)
	return len(x) >= n && slices.Equal(x[:n], y[:n])
}

// orderVersions compares two versions number by number. A number that is not there
// counts as 0.
func orderVersions(a, b string) (int, error) {
	x, y := versionText.FindStringSubmatch(strings.TrimSpace(a)), versionText.FindStringSubmatch(strings.TrimSpace(b))
	if x == nil || y == nil {
		return 0, fmt.Errorf("%.40q or %.40q is no version", a, b)
	}
	p, q := strings.Split(x[1], "."), strings.Split(y[1], ".")
	for i := range max(len(p), len(q)) {
		var m, n uint64
		if i < len(p) {
			m, _ = strconv.ParseUint(p[i], 10, 64) // digits; a number that is too large is the largest
		}
		if i < len(q) {
			n, _ = strconv.ParseUint(q[i], 10, 64)
		}
		if c := cmp.Compare(m, n); c != 0 {
			return c, nil
		}
	}
	switch { // what is before a release comes before it
	case x[2] == "" && y[2] != "":
		return 1, nil
	case x[2] != "" && y[2] == "":
		return -1, nil
	}
	return strings.Compare(x[2], y[2]), nil
}
