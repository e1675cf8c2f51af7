package credfile

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"merlon/internal/lazyregexp"
)

// This file judges a value by its shape: what people write in the place of a secret is made of
// words, of a run of the alphabet, or of one piece over and over; a secret is none of these.

// phraseWords are words of names, labels and advice. A random text of 40 letters and digits
// contains one of them with a probability of about one percent, and two practically never.
var phraseWords = strings.Fields(`access account action admin allow apply authentication authorization backup badge
	basic bearer binding button cache callback certificate change channel check class click client cloud cluster code
	component config connection console container content context cookie create credential current custom data database
	default delete demo deploy description develop device disable display domain download dummy email enable encrypt
	endpoint entity environment error event example expired external failed fake field file filter fixture folder form
	format from function gateway generate global group handler hash header hello hidden host image index info init input
	insecure instance integration internal invalid item json kind label language last layout level library link list local
	location login mail manager master message method metrics missing mode model module monitor must name namespace
	network node none notification nothing null number object only open operator option order output package page param
	parent passphrase passwd password path payment permission placeholder platform plugin point policy port prefix private
	process production profile project property provider proxy public query queue random read redirect refresh region
	register registry remote remove replace request require reset resource response result role root route rule sample
	schema scope search secret section secure security select server service session setting setup shared sign simple
	some source staging start state static status storage store string style submit super support sync system table
	target template temp tenant test text this time title token type unit unsecure update upload user valid value
	variable vault verify version very view webhook widget with work world write your`)

// phraseCover is the share of the letters of a value that words make up from which on the value
// is a phrase.
const phraseCover = 0.5

// isPhrase reports whether the value is put together of words: this_is_a_secret,
// SomeRandomString, enterprise-metrics, WOODPECKER_CLIENT.
func isPhrase(value string) bool {
	if len(value) > 120 || strings.ContainsAny(value, "+=") {
		return false
	}
	letters, covered := 0, 0
	lower := strings.ToLower(value)
	for i := 0; i < len(lower); i++ {
		if 'a' <= lower[i] && lower[i] <= 'z' {
			letters++
		}
	}
	if letters == 0 {
		return false
	}
	for at := 0; at < len(lower); {
		n := longestWord(lower[at:])
		covered += n
		at += max(n, 1)
	}
	return float64(covered) >= phraseCover*float64(letters) || isListOfWords(value) || hasWords(lower)
}

// hasWords reports whether two of the parts between low lines and dashes are words, as in
// this_is_a_secret_abc123.
func hasWords(lower string) bool {
	n := 0
	for _, part := range strings.FieldsFunc(lower, func(r rune) bool { return r == '_' || r == '-' }) {
		if len(part) > 3 && longestWord(part) == len(part) {
			n++
		}
	}
	return n >= 2
}

// longestWord returns the length of the longest word that the text begins with.
func longestWord(text string) int {
	longest := 0
	for _, w := range wordsByInitial[text[0]] {
		if len(w) > longest && strings.HasPrefix(text, w) {
			longest = len(w)
		}
	}
	return longest
}

// wordsByInitial are the phraseWords by their first letter.
var wordsByInitial = func() map[byte][]string {
	m := map[byte][]string{}
	for _, w := range phraseWords {
		m[w[0]] = append(m[w[0]], w)
	}
	return m
}()

// isListOfWords reports whether the value is two words or more with dashes, dots or low lines
// between them, each of letters and with a vowel: "hosted-grafana-id". Digits may only end a word.
func isListOfWords(value string) bool {
	words := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("-_. :", r) })
	if len(words) < 2 {
		return false
	}
	for _, w := range words {
		if len(w) < 4 && strings.ContainsAny(w, "abcdefghijklmnopqrstuvwxyz") {
			continue // k8s, s3, v2
		}
		stem := strings.TrimRight(w, "0123456789")
		if len(w)-len(stem) > 3 || len(stem) > 16 || stem == "" && len(w) > 2 {
			return false
		}
		mixed := stem != strings.ToLower(stem) && stem != strings.ToUpper(stem) && stem[1:] != strings.ToLower(stem[1:])
		if mixed || len(stem) > 3 && !strings.ContainsAny(strings.ToLower(stem), "aeiouy") ||
			strings.IndexFunc(stem, func(r rune) bool { return !unicode.IsLetter(r) }) >= 0 {
			return false
		}
	}
	return true
}

// identifierSigns stand between the parts of names, options and filters.
const identifierSigns = "_-.:=/"

// isIdentifier reports whether the value is the name of something, put together of three parts or
// more: 0008_alter_user_username, MonthDateYear_TIME_12H, overlay=eof_action=pass:format=nv12. A part
// is letters in words of three and more, or a number; a token mixes letters and digits.
func isIdentifier(value string) bool {
	if strings.Count(value, "=") == 1 && strings.HasSuffix(value, "=") {
		return false // Base64
	}
	parts := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(identifierSigns, r) })
	words := 0
	for _, part := range parts {
		stem := strings.TrimRight(part, "0123456789")
		switch {
		case len(part) > 16 || len(part)-len(stem) > 4:
			return false
		case stem == "" || len(part) <= 4 && isAlphanumeric(part) &&
			(len(part) < 3 || strings.ContainsAny(part, "0123456789")):

			continue // 0008, k8s, 12H
		case strings.IndexFunc(stem, func(r rune) bool { return !isLatin(r) }) >= 0 || len(part)-len(stem) > 2 ||
			!hasLongHumps(stem):
			return false
		}
		words++
	}
	return len(parts) >= 3 && words >= 2
}

// hasLongHumps reports whether the parts of a name in camel case are words and no single letters, as
// they are in a random text of both cases: three letters each, on average.
func hasLongHumps(letters string) bool {
	humps := 1
	for i := 1; i < len(letters); i++ {
		if isUpperCase(letters[i]) && !isUpperCase(letters[i-1]) {
			humps++
		}
	}
	return len(letters) >= 3*humps
}

// isUpperCase reports whether the byte is an upper-case letter of ASCII.
func isUpperCase(b byte) bool { return 'A' <= b && b <= 'Z' }

// isLatin reports whether the character is a letter of ASCII.
func isLatin(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// isAlphanumeric reports whether the text is of letters and digits of ASCII.
func isAlphanumeric(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !isLatin(r) && (r < '0' || r > '9') }) < 0
}

// runs are what people type in the place of random characters.
var runs = []string{"abcdefgh", "0123456789", "1234567890", "qwertyui", "zyxwvuts", "9876543210", "12345678",
	"87654321", "a1b2c3d4", "1a2b3c4d", "deadbeef", "cafebabe", "fedcba98"}

// IsRun reports whether the value is, in good part, a run of the alphabet or one piece over and
// over: TestTestTest, 0123456789abcdef.
func IsRun(value string) bool {
	lower := strings.ToLower(value)
	for _, r := range runs {
		if n := strings.Count(lower, r) * len(r); n > 0 && 3*n >= len(lower) {
			return true
		}
	}
	for period := 1; period <= len(value)/3; period++ {
		if strings.HasPrefix(value[period:], value[:len(value)-period]) {
			return true
		}
	}
	return ascends(lower)
}

// ascends reports whether most characters are followed by their successor, as in abcdefg or
// 1a2b3c4d5e: by one or by two characters.
func ascends(v string) bool {
	if len(v) < 8 {
		return false
	}
	for _, step := range []int{1, 2} {
		n := 0
		for i := step; i < len(v); i++ {
			if v[i] == v[i-step]+1 || v[i-step] == '9' && v[i] == '0' || v[i-step] == '9' && v[i] == 'a' {
				n++
			}
		}
		if 3*n >= 2*(len(v)-step) {
			return true
		}
	}
	return false
}

// uuidForm matches a UUID, which identifies and protects nothing unless its name says so.
var uuidForm = lazyregexp.New(`^\{?[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\}?$`)

// IsUUID reports whether the value is a UUID (RFC 9562, section 4).
func IsUUID(value string) bool { return len(value) <= 38 && uuidForm.MatchString(value) }

// publicForms match what is meant to be read by everybody: public keys of SSH, digests with the
// name of their algorithm (RFC 6920, Subresource Integrity), fingerprints, versions, dates.
var publicForms = lazyregexp.New(`^(?:ssh-(?:rsa|ed25519|dss) AAAA|ecdsa-sha2-\S+ AAAA|AAAAB3NzaC1yc2E|AAAAC3NzaC1lZDI1NTE5|` +
	`(?i:sha(?:1|256|384|512)|md5)[-:=]|(?:[0-9A-Fa-f]{2}:){7,}|age1[0-9a-z]{50}|v?\d+(?:\.\d+){1,3}(?:[-+.]\S{0,20})?$|` +
	`(?:19|20)\d\d-[01]\d-[0-3]\d|MI[A-Za-z0-9+/]{6}(?:AwIBAgI|DCC|ANBgkqhkiG9w0BAQEFAAOC)|MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE|MCowBQYDK2Vw)`)

// IsPublicValue reports whether the value is a public key, a digest, a fingerprint, a version or
// a date.
func IsPublicValue(value string) bool { return publicForms.MatchString(value) }

// IsExampleValue reports whether a value that has the form of a secret is none by its shape or
// because a manual has it: it is a placeholder, a phrase, a run of the alphabet, or published.
func IsExampleValue(value string) bool { return IsRun(value) || IsPublished(value) || isWording(value) }

// isWording reports whether the value is of words, or hides some in Base64.
func isWording(value string) bool {
	if isPlaceholder(value) || isPhrase(value) || isIdentifier(value) {
		return true
	}
	plain, ok := decodeWords(value)
	return ok && (isPlaceholder(plain) || isPhrase(plain) || isTrivial(plain))
}

// decodeWords decodes a value in Base64 that hides printable text, as the values of a Secret of
// Kubernetes do.
func decodeWords(value string) (string, bool) {
	if len(value)%4 != 0 || len(value) > 200 {
		return "", false
	}
	b, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return "", false
	}
	plain := strings.TrimSpace(string(b))
	printable := strings.IndexFunc(plain, func(r rune) bool { return r < ' ' || r > '~' }) < 0
	return plain, printable && plain != ""
}

// jsonWebToken is what the parts of a JSON Web Token say that decide about its worth (RFC 7519).
type jsonWebToken struct {
	Algorithm string `json:"alg"`
	Issuer    string `json:"iss"`
	Subject   any    `json:"sub"`
	Name      string `json:"name"`
	Role      string `json:"role"`
	Expires   any    `json:"exp"`
	Issued    any    `json:"iat"`
}

// decodeJSONWebToken decodes header and payload. It reports false for a text that only looks like
// a token.
func decodeJSONWebToken(value string) (jsonWebToken, bool) {
	var t jsonWebToken
	parts := strings.Split(value, ".")
	if len(parts) < 2 {
		return t, false
	}
	for _, part := range parts[:2] {
		b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(part, "="))
		if err != nil || json.Unmarshal(b, &t) != nil {
			return t, false
		}
	}
	return t, true
}

// A TokenState is what a JSON Web Token says of itself.
type TokenState int

// The states of a token.
const (
	TokenUsable  TokenState = iota // nothing in it speaks against its use
	TokenExample                   // of a manual: example names, or unsigned
	TokenExpired                   // its time is over, so that the issuer refuses it
	TokenPublic                    // made for browsers: the anonymous role of Supabase
	TokenBroken                    // not decodable
)

// JudgeToken decodes a JSON Web Token and returns what it says of itself at the given time.
func JudgeToken(value string, now time.Time) TokenState {
	t, ok := decodeJSONWebToken(value)
	if !ok {
		return TokenBroken
	}
	subject, _ := t.Subject.(string)
	switch {
	case subject == "1234567890" || t.Name == "John Doe" || strings.EqualFold(t.Algorithm, "none"),
		strings.Contains(t.Issuer, "example.") || strings.Contains(t.Issuer, "localhost") ||
			t.Issuer == "supabase-demo" || strings.HasSuffix(t.Issuer, ".local") ||
			strings.HasSuffix(t.Issuer, ".test"):
		return TokenExample
	case t.Role == "anon":
		return TokenPublic
	}
	if exp, isNumber := t.Expires.(float64); isNumber && exp > 0 && exp < float64(now.Unix()) {
		return TokenExpired
	}
	return TokenUsable
}
