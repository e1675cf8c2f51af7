package credfile

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"merlon/internal/lazyregexp"
)

// This file finds secrets in text of any kind by their use: a value without any regularity that
// is assigned to a name that means a credential, is its argument, or is in a header that carries
// one. Neither the language nor the format of the file counts.

// A Span is a range of bytes.
type Span struct{ Start, End int }

// FindAssigned returns the places of the secrets that are known by their name alone.
func FindAssigned(path, text string) []Span {
	f := newFile(path, text)
	var out []Span
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '=', ':', ',':
			if s, ok := f.findAssigned(at); ok {
				out = append(out, s)
				at = s.End - 1
			}
		}
	}
	return out
}

// findAssigned returns the value behind the sign, when the name before it and the value are those
// of a secret.
func (f *file) findAssigned(sign int) (Span, bool) {
	name := assignedName(f.text, sign)
	header := strings.EqualFold(name, "authorization") || strings.EqualFold(name, "proxy-authorization")
	if name == "" || !header && !isSecretName(name) {
		return Span{}, false
	}
	start, end, quoted := assignedValue(f.text, sign+1)
	if start == end || f.text[sign] == ',' && !quoted {
		return Span{}, false
	}
	start, scheme := skipScheme(f.text, start, end)
	value := f.text[start:end]
	if header && (scheme == "" || !isHeaderCredential(scheme, value)) ||
		!header && !isAssignedSecret(name, value, quoted) {
		return Span{}, false
	}
	if !f.spendWork(longLine) || f.words || IsExampleContext(f.text, start) || IsMinified(f.text, start, end) {
		return Span{}, false
	}
	return Span{start, end}, true
}

// MayBeSecret reports whether a value that a rule found by the words around it can be a secret:
// it is no identifier, digest, phrase or address, and its name does not say that it is public.
func MayBeSecret(text string, start, end int) bool {
	value := text[start:end]
	if isWording(value) || IsPublicValue(value) || isAddress(value) || isPathLike(value) || isCode(value) {
		return false
	}
	sign := start - 1
	for n := 0; n < 8 && sign > 0 && strings.IndexByte("\"'` \t\\>([", text[sign]) >= 0; n++ {
		sign--
	}
	if sign < 0 || strings.IndexByte("=:,|?", text[sign]) < 0 {
		return !IsUUID(value)
	}
	name, _ := nameBefore(text, sign)
	if name == "" {
		return !IsUUID(value)
	}
	return !isPublicName(name) && (isSecretName(name) || mayNameKey(name, value)) &&
		(!IsUUID(value) || isKeyName(assignedName(text, sign)))
}

// publicWords say that a value identifies or describes something, or names where a secret is.
var publicWords = wordSet(`id ids uuid guid uid ref reference name names hash hashes sha md fingerprint digest checksum
	integrity etag version versions thumbprint public pub pubkey verify verifier nonce salt iv commit revision path file
	filename env var variable url uri href src alias arn identity index sort partition primary foreign vin row sheet spreadsheet
	map object lookup event query field item data message group json cache locale label gpg pgp resource entity asset
	node record document page`)

// mayNameKey reports whether a name that is not that of a secret may be one: "key" and the like
// alone, or behind the name of a service, and then the value must be long and irregular.
func mayNameKey(name, value string) bool {
	words := splitName(name)
	if len(words) == 0 {
		return true
	}
	switch words[len(words)-1] {
	case "key", "auth", "creds", "credentials", "credential", "api", "access":
		return len(words) < 4 && IsRandom(value)
	}
	return false
}

// isPublicName reports whether a word of the name, but for the first, says that the value is no
// secret: api_key_uuid, token-hash, identityKey, secretName.
func isPublicName(name string) bool {
	words := splitName(name)
	for i, w := range words {
		if publicWords[w] && (i > 0 || len(words) > 1 && words[len(words)-1] == "key") {
			return true
		}
	}
	return false
}

// typeName matches the type between a name and its value: "key: string = …", "KEY: &str = …".
var typeName = lazyregexp.New(`(?i):\s*(?:&\s*)?(?:'static\s+)?(?:final\s+)?(?:str|string|text)\??\s*$`)

// assignedName returns the name that the sign at the offset gives a value, or "". Quotes and
// brackets around the name are not part of it.
func assignedName(text string, sign int) string {
	name, quoted := nameBefore(text, sign)
	if text[sign] == ',' && !quoted {
		return "" // of arguments, the name is a text: ("API_KEY", "value")
	}
	return name
}

// nameBefore returns the name in front of the sign, and whether it is in quotes.
func nameBefore(text string, sign int) (name string, quoted bool) {
	end := sign
	if text[sign] == '=' && strings.HasPrefix(text[sign+1:], "=") {
		return "", false
	}
	if text[sign] == '=' && end > 0 && strings.IndexByte("!=<>+-*/", text[end-1]) >= 0 {
		return "", false // a comparison, or the end of "=="
	}
	if text[sign] == '=' && end > 0 && text[end-1] == ':' {
		end-- // ":="
	}
	if text[sign] == '=' {
		if m := typeName.FindStringIndex(text[max(end-40, 0):end]); m != nil {
			end = max(end-40, 0) + m[0]
		}
	}
	for end > 0 && (text[end-1] == ' ' || text[end-1] == '\t') {
		end--
	}
	for n := 0; n < 3 && end > 0 && strings.IndexByte(`"'])\`+"`", text[end-1]) >= 0; n++ {
		end--
	}
	start := end
	for start > 0 && end-start < 90 && isNameByte(text[start-1]) {
		start--
	}
	return text[start:end], start > 0 && strings.IndexByte(`"'`+"`", text[start-1]) >= 0
}

// isNameByte reports whether the byte may stand in the name of a variable, a header or an option.
func isNameByte(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '$'
}

// assignedValue returns the bounds of the value that begins behind the sign, without its quotes.
func assignedValue(text string, at int) (start, end int, quoted bool) {
	if at < len(text) && strings.IndexByte("=>", text[at]) >= 0 {
		at++ // ":=", "=>"; of "==" the value is read too, and the name is ""
	}
	for at < len(text) && strings.IndexByte(" \t\\", text[at]) >= 0 {
		at++
	}
	if at+1 < len(text) && strings.IndexByte("brfuL@", text[at]) >= 0 && isQuote(text[at+1]) {
		at++ // b"…", @"…"
	}
	if at == len(text) {
		return at, at, false
	}
	if isQuote(text[at]) {
		end, ok := quotedEnd(text, at)
		return at + 1, end, ok
	}
	end = bareEnd(text, at)
	if end < len(text) && text[end] == ' ' && isScheme(text[at:end]) {
		end = bareEnd(text, end+1)
	}
	return at, end, false
}

// isQuote reports whether the byte begins a text of a program.
func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// quotedEnd returns where the text ends whose quote stands at the offset. Without an end on its
// line, the range is empty.
func quotedEnd(text string, at int) (end int, ok bool) {
	q := text[at]
	for end = at + 1; end < len(text) && text[end] != q && text[end] != '\n' && end-at < longLine; end++ {
		if text[end] == '\\' && q != '`' {
			end++
		}
	}
	if end >= len(text) || text[end] != q {
		return at + 1, false
	}
	return end, true
}

// bareEnd returns where a value without quotes ends.
func bareEnd(text string, at int) int {
	end := at
	for end < len(text) && end-at < longLine && text[end] > ' ' && strings.IndexByte("\"'`,;&)<>}]|\\", text[end]) < 0 {
		end++
	}
	return end
}

// schemes are the names of schemes in the values of headers (RFC 9110, section 11.4).
var schemes = []string{"bearer", "basic", "token", "apikey", "key", "ssws"}

// isScheme reports whether the text is the name of a scheme.
func isScheme(text string) bool {
	return slices.ContainsFunc(schemes, func(s string) bool { return strings.EqualFold(s, text) })
}

// skipScheme moves the start of the value of a header behind the name of its scheme, which it
// returns in lower case.
func skipScheme(text string, start, end int) (int, string) {
	scheme, _, ok := strings.Cut(text[start:end], " ")
	if !ok || !isScheme(scheme) {
		return start, ""
	}
	return start + len(scheme) + 1, strings.ToLower(scheme)
}

// isHeaderCredential reports whether the value of an Authorization header is a credential: for
// the scheme Basic, a name and a password in Base64 (RFC 7617).
func isHeaderCredential(scheme, value string) bool {
	if scheme != "basic" {
		return isAssignedSecret("token", value, true)
	}
	b, err := base64.StdEncoding.DecodeString(value)
	user, password, ok := strings.Cut(string(b), ":")
	return err == nil && ok && utf8.Valid(b) && len(password) >= 6 && !IsPublished(value) &&
		!isExamplePassword(user, password) && !isPhrase(password) && !IsRun(password)
}

// shortSecret is the least length of a value that is known by its irregularity.
const shortSecret = 16

// isAssignedSecret reports whether the value may be a secret of that name: without any
// regularity, and no expression, address, identifier or example.
func isAssignedSecret(name, value string, quoted bool) bool {
	if len(value) < 8 || len(value) > 2000 || strings.HasPrefix(value, "eyJ") || !isASCIIWord(value) ||
		isWording(value) || IsPublicValue(value) || isAddress(value) || isCode(value) || isPathLike(value) {
		return false
	}
	password := quoted && isPasswordName(name)
	switch {
	case IsUUID(value):
		return isKeyName(name)
	case password && len(value) < shortSecret:
		return kindsOfCharacters(value) >= 3 && !isTrivial(value)
	case len(value) < shortSecret || !password && strings.ContainsAny(value, "$(){}[]<>*\"'`\\ "):
		return false
	}
	digits := countDigits(value)
	return digits >= 2 && digits < len(value) && Entropy(value)*float64(len(value)) >= minAssignedBits
}

// isASCIIWord reports whether the value is of printable ASCII without blanks.
func isASCIIWord(value string) bool {
	return strings.IndexFunc(value, func(r rune) bool { return r <= ' ' || r >= 0x7F }) < 0
}

// countDigits returns how many digits the value has.
func countDigits(value string) int {
	n := 0
	for i := 0; i < len(value); i++ {
		if '0' <= value[i] && value[i] <= '9' {
			n++
		}
	}
	return n
}

// minAssignedBits is the least entropy of a value that goes by its name: that of 16 hexadecimal
// digits without a regularity.
const minAssignedBits = 48

// isKeyName reports whether the name says that a UUID is a key: api_key, access token, secret.
func isKeyName(name string) bool {
	words := splitName(name)
	if len(words) == 0 {
		return false
	}
	switch last := words[len(words)-1]; last {
	case "apikey", "secret", "token", "password":
		return len(words) > 1 || last == "apikey"
	case "key":
		return len(words) > 1 && keyWords[words[len(words)-2]]
	}
	return false
}

// isPathLike reports whether the value is a path or the name of an image: a slash between words.
func isPathLike(value string) bool {
	if !strings.Contains(value, "/") || strings.ContainsAny(value, "+=") {
		return false
	}
	words := 0
	for part := range strings.SplitSeq(value, "/") {
		if strings.IndexFunc(part, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || strings.ContainsRune("-_.:", r))
		}) < 0 {
			words++
		}
	}
	return words > 0
}

// kindsOfCharacters counts small letters, capitals, digits and other signs.
func kindsOfCharacters(value string) int {
	var kinds [4]int
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case 'a' <= c && c <= 'z':
			kinds[0] = 1
		case 'A' <= c && c <= 'Z':
			kinds[1] = 1
		case '0' <= c && c <= '9':
			kinds[2] = 1
		default:
			kinds[3] = 1
		}
	}
	return kinds[0] + kinds[1] + kinds[2] + kinds[3]
}
