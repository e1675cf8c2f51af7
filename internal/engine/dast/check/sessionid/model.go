package sessionid

import (
	"crypto/md5"  //nolint:gosec // what applications take
	"crypto/sha1" //nolint:gosec // likewise
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/lazyregexp"
)

// This file says what values are made from.

// A form is an encoding in which a value is written.
type form struct {
	// For the report, as in " in base 64"; empty: as it is.
	name string
	// encode writes a text in the form.
	encode func(string) string
}

// possibleForms returns the texts that a value may be an encoding of, each with its form. Decoded
// bytes that are no readable text with a digit are left out: almost any text decodes as base64.
func possibleForms(text string) map[string]form {
	out := map[string]form{text: {"", func(s string) string { return s }}}
	if plain, err := url.QueryUnescape(text); err == nil && plain != text {
		out[plain] = form{" in URL encoding", url.QueryEscape}
	}
	for name, e := range map[string]*base64.Encoding{"base 64": base64.StdEncoding,
		"base 64 without padding": base64.RawStdEncoding, "base 64 for URLs": base64.RawURLEncoding} {
		if decoded, err := e.DecodeString(text); err == nil && len(decoded) > 0 && readable.Match(decoded) {
			out[string(decoded)] = form{" in " + name, func(s string) string { return e.EncodeToString([]byte(s)) }}
		}
	}
	if decoded, err := hex.DecodeString(text); err == nil && len(decoded) > 0 && readable.Match(decoded) {
		out[string(decoded)] = form{" in hexadecimal", func(s string) string { return hex.EncodeToString([]byte(s)) }}
	}
	return out
}

// readable matches printable ASCII with a digit in it.
var readable = lazyregexp.New(`^[\x20-\x7e]*\d[\x20-\x7e]*$`)

// A digest is a hash function. Without a key it hides a number only as long as nobody tries all
// numbers.
type digest struct {
	name string
	sum  func(string) string
}

// digests maps the length of a hash in hexadecimal to the function.
var digests = map[int]digest{
	32: {"MD5", func(s string) string { b := md5.Sum([]byte(s)); return hex.EncodeToString(b[:]) }},
	//nolint:gosec // see the import
	40: {"SHA-1", func(s string) string { b := sha1.Sum([]byte(s)); return hex.EncodeToString(b[:]) }},
	//nolint:gosec // see the import
	64: {"SHA-256", func(s string) string { b := sha256.Sum256([]byte(s)); return hex.EncodeToString(b[:]) }},
}

var (
	hexText = lazyregexp.New(`^[0-9a-f]+$`)
	// numbered are texts that could hold a number that grows: few words, and digits.
	numbered = lazyregexp.New(`^[A-Za-z_.:-]{0,24}(\d{1,18}|[0-9a-f]{1,15})[A-Za-z_.:-]{0,24}$`)
)

// isNumberOrDigest reports whether a value could be a number or a digest by its form.
func isNumberOrDigest(text string) bool {
	for inner := range possibleForms(text) {
		if numbered.MatchString(inner) || digests[len(inner)].sum != nil &&
			hexText.MatchString(strings.ToLower(inner)) {
			return true
		}
	}
	return false
}

const (
	// maxStep bounds the difference between two values of a counter; other users take values in
	// between.
	maxStep = 1000
	// maxHidden bounds the numbers that are tried behind a hash, in a fraction of a second.
	maxHidden = 200_000
	// lag is how many seconds the time in a value may differ from the header Date of its response.
	lag = 2
)

// A maker is a model of how values are made.
type maker struct {
	// what describes it: "the MD5 digest of a counter".
	what string
	// after returns the value that follows the last one; nil: the model is a clock.
	after func(last string) (string, bool)
	// tells reports whether a value contains the time of its response; nil: the model is a counter.
	tells func(s sample) bool
}

// predictNext returns what the next value will be. For a clock it waits until the second has
// passed, so that the next value has to differ.
func (m *maker) predictNext(t *activescan.OperationScan, last sample) (string, error) {
	if m.after != nil {
		text, _ := m.after(last.text)
		return text, nil
	}
	if wait := time.Until(last.serverTime().Add(time.Second)); wait > 0 {
		select {
		case <-time.After(min(wait, 2*time.Second)):
		case <-t.Context.Done():
			return "", t.Context.Err()
		}
	}
	return "the time of the response, and another one than before", nil
}

// matchesPrediction reports whether a value is the one that was predicted.
func (m *maker) matchesPrediction(last, got sample) bool {
	if m.after != nil {
		want, ok := m.after(last.text)
		return ok && want == got.text
	}
	return got.text != last.text && m.tells(got)
}

// findModel returns the model of two values in a row; nil: there is none. The clock is tried before
// counters, because the time grows by small steps too.
func findModel(a, b sample) *maker {
	back := possibleForms(b.text)
	for ia, f := range possibleForms(a.text) {
		for ib, g := range back {
			if f.name != g.name {
				continue
			}
			for _, m := range []*maker{recognizeClock(a, b, f, ia), recognizeCounter(ia, ib, f),
				recognizeHashedCounter(a.text, b.text, ia, ib, f)} {
				if m != nil {
					return m
				}
			}
		}
	}
	return nil
}

// units are how applications write the time, as parts of a second.
var units = []struct {
	name string
	per  int64
}{{"seconds", 1}, {"milliseconds", 1000}, {"microseconds", 1_000_000}}

// recognizeClock recognises the time, or the digest of its seconds.
func recognizeClock(a, b sample, f form, inner string) *maker {
	decode := func(s sample) (string, bool) {
		for text, g := range possibleForms(s.text) {
			if g.name == f.name {
				return text, true
			}
		}
		return "", false
	}
	var all []*maker
	for _, u := range units {
		all = append(all, &maker{what: "the time in " + u.name + f.name, tells: func(s sample) bool {
			text, ok := decode(s)
			n, err := strconv.ParseInt(text, 10, 64)
			at := s.serverTime().Unix()
			return ok && err == nil && n >= (at-lag)*u.per && n < (at+lag+1)*u.per
		}})
	}
	if d := digests[len(inner)]; d.sum != nil {
		all = append(all, &maker{what: "the " + d.name + " digest of the time in " +
			"seconds" + f.name, tells: func(s sample) bool {
			text, ok := decode(s)
			for n := s.serverTime().Unix() - lag; ok && n <= s.serverTime().Unix()+lag; n++ {
				if strings.EqualFold(d.sum(strconv.FormatInt(n, 10)), text) {
					return true
				}
			}
			return false
		}})
	}
	for _, m := range all {
		if m.tells(a) && m.tells(b) {
			return m
		}
	}
	return nil
}

// recognizeCounter recognises texts that differ in a number by a small step.
func recognizeCounter(a, b string, f form) *maker {
	for _, base := range []int{10, 16} {
		before, x, y, behind, ok := splitDifference(a, b, base)
		if !ok || y == x || max(x, y)-min(x, y) > maxStep {
			continue
		}
		// The time in another unit or with digits around it: a prediction by its step would be
		// chance.
		if base == 10 && isTimestamp(y) {
			return nil
		}
		step, width := y-x, len(b)-len(before)-len(behind)
		what := "a counter"
		if base == 16 {
			what = "a counter in hexadecimal"
		}
		return &maker{what: what + f.name, after: func(last string) (string, bool) {
			for text, g := range possibleForms(last) {
				number, ok := strings.CutPrefix(text, before)
				number, ok2 := strings.CutSuffix(number, behind)
				n, err := strconv.ParseInt(number, base, 64)
				if g.name == f.name && ok && ok2 && err == nil {
					return f.encode(before + padNumber(n+step, base, width) + behind), true
				}
			}
			return "", false
		}}
	}
	return nil
}

// isTimestamp reports whether a number is a time between 2014 and 2046.
func isTimestamp(n int64) bool {
	for _, u := range units {
		if n > 1_400_000_000*u.per && n < 2_400_000_000*u.per {
			return true
		}
	}
	return false
}

// padNumber writes a number with zeros in front, where the width asks for them.
func padNumber(n int64, base, width int) string {
	text := strconv.FormatInt(n, base)
	return strings.Repeat("0", max(0, width-len(text))) + text
}

// splitDifference splits two texts into what they share before and after the number in which they
// differ. The whole number is taken: of "a19" and "a20" the digits 19 and 20, not only the part
// that differs.
func splitDifference(a, b string, base int) (before string, x, y int64, behind string, ok bool) {
	digit := func(c byte) bool { return c >= '0' && c <= '9' || base == 16 && c >= 'a' && c <= 'f' }
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	for i > 0 && digit(a[i-1]) {
		i--
	}
	j := 0
	for j < min(len(a), len(b))-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	for j > 0 && digit(a[len(a)-j]) {
		j--
	}
	x, errX := strconv.ParseInt(a[i:len(a)-j], base, 64)
	y, errY := strconv.ParseInt(b[i:len(b)-j], base, 64)
	return a[:i], x, y, a[len(a)-j:], errX == nil && errY == nil && len(a)-i-j > 0 && digit(a[i])
}

// recognizeHashedCounter recognizes hashes of a counter by hashing all small numbers.
func recognizeHashedCounter(textA, textB, a, b string, f form) *maker {
	d := digests[len(a)]
	if d.sum == nil || len(b) != len(a) || textA == textB || !hexText.MatchString(strings.ToLower(a)) {
		return nil
	}
	x, y := int64(-1), int64(-1)
	for n := range int64(maxHidden) {
		switch sum := d.sum(strconv.FormatInt(n, 10)); {
		case strings.EqualFold(sum, a):
			x = n
		case strings.EqualFold(sum, b):
			y = n
		}
		if x >= 0 && y >= 0 {
			break
		}
	}
	if x < 0 || y < 0 {
		return nil
	}
	step, n := y-x, y
	write := func(n int64) string {
		sum := d.sum(strconv.FormatInt(n, 10))
		if a == strings.ToUpper(a) {
			sum = strings.ToUpper(sum)
		}
		return f.encode(sum)
	}
	return &maker{what: fmt.Sprintf("the %s digest of a counter%s", d.name, f.name),
		after: func(last string) (string, bool) {
			for range maxStep { // somebody else may have got some
				if write(n) == last {
					return write(n + step), true
				}
				n++
			}
			return "", false
		}}
}
