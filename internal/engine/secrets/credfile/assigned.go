package credfile

import (
	"encoding/base64"
	"path"
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
func FindAssigned(name, text string) []Span {
	f := newFile(name, text)
	var out []Span
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '=', ':', ',', '>', '-':
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
	switch f.text[sign] {
	case '>':
		return f.findElement(sign)
	case '-':
		if !isDashBeforeText(f.text, sign) {
			return Span{}, false
		}
	}
	name := assignedName(f.text, sign)
	use := nameUse(name)
	if use == noUse {
		return Span{}, false
	}
	start, end, quoted := assignedValue(f.text, sign+1)
	if start == end || !quoted && (f.text[sign] == ',' || f.isExpression(end)) {
		return Span{}, false
	}
	start, scheme := skipScheme(f.text, start, end)
	value := f.text[start:end]
	ok := false
	switch use {
	case headerUse:
		ok = scheme != "" && isHeaderCredential(scheme, value)
	case vagueUse:
		ok = IsRandom(value) && isAssignedSecret(name, value, quoted)
	default:
		ok = isAssignedSecret(name, value, quoted)
	}
	if !ok || !f.spendWork(longLine) || f.words || IsMinified(f.text, start, end) {
		return Span{}, false
	}
	return Span{start, end}, true
}

// isDashBeforeText reports whether the dash separates a name and a text in quotes, as in a list:
// api key - "value".
func isDashBeforeText(text string, at int) bool {
	return at > 0 && text[at-1] == ' ' && at+2 < len(text) && text[at+1] == ' ' && isQuote(text[at+2])
}

// use is what a name says about its value.
type use int

const (
	noUse     use = iota
	secretUse     // the name is that of a secret
	headerUse     // a header with credentials
	vagueUse      // a key, perhaps of a service
)

// nameUse returns what the name says about its value.
func nameUse(name string) use {
	switch {
	case strings.EqualFold(name, "authorization"), strings.EqualFold(name, "proxy-authorization"):
		return headerUse
	case isSecretName(name), isTokenName(name):
		return secretUse
	case namesKey(name) && !isPublicName(name):
		return vagueUse
	}
	return noUse
}

// findElement returns the text of an XML element whose name is that of a secret. Jenkins puts what
// it has encrypted into braces; of several words, the longest counts.
func (f *file) findElement(sign int) (Span, bool) {
	open := sign
	for open > 0 && sign-open < 60 && isNameByte(f.text[open-1]) {
		open--
	}
	if open == 0 || f.text[open-1] != '<' || open == sign || !isSecretName(f.text[open:sign]) {
		return Span{}, false
	}
	end := strings.IndexByte(f.text[sign+1:min(sign+2000, len(f.text))], '<')
	if end < 0 {
		return Span{}, false
	}
	name, start := f.text[open:sign], sign+1
	at, best := start, Span{}
	for word := range strings.FieldsFuncSeq(f.text[start:start+end], func(r rune) bool {
		return strings.ContainsRune(" \t\r\n{}", r)
	}) {
		at += strings.Index(f.text[at:], word)
		if len(word) > best.End-best.Start {
			best = Span{at, at + len(word)}
		}
		at += len(word)
	}
	value := f.text[best.Start:best.End]
	if !isAssignedSecret(name, value, false) || !f.spendWork(longLine) || f.words ||
		IsMinified(f.text, best.Start, best.End) {
		return Span{}, false
	}
	return best, true
}

// MayBeSecret reports whether a value that a rule found by the words around it can be a secret:
// it is no identifier, digest, phrase or address, and its name does not say that it is public.
func MayBeSecret(text string, start, end int) bool {
	value := text[start:end]
	if isWording(value) || IsPublicValue(value) || isAddress(value) || isPathLike(value) || isCode(value) ||
		strings.Count(value, ",") > 1 {
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
	return !isPublicName(name) && (isSecretName(name) || isTokenName(name) ||
		len(splitName(name)) == 0 || namesKey(name) && IsRandom(value)) &&
		(!IsUUID(value) || isKeyName(assignedName(text, sign)))
}

// publicWords say that a value identifies or describes something, or names where a secret is.
var publicWords = wordSet(`id ids uuid guid uid ref reference name names hash hashes sha md fingerprint digest checksum
	integrity etag version versions thumbprint public pub pubkey verify verifier nonce salt iv commit revision path file
	filename env var variable url uri href src alias arn identity index sort partition primary foreign vin row sheet spreadsheet
	map object lookup event query field item data message group json cache locale label gpg pgp resource entity asset
	node record document page`)

// namesKey reports whether a name that is not that of a secret may be one: "key" and the like
// alone, or behind the name of a service. The value must be long and irregular then.
func namesKey(name string) bool {
	words := splitName(name)
	if len(words) == 0 || len(words) > 3 {
		return false
	}
	switch words[len(words)-1] {
	case "key", "auth", "creds", "credentials", "credential", "api", "access":
		return true
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

// codeFiles are ends of names of programs, in which a value without quotes is an expression.
var codeFiles = wordSet(`.go .js .mjs .cjs .jsx .ts .tsx .java .kt .kts .scala .groovy .cs .vb .fs .rs .c .cc .cpp .h .hpp
	.m .mm .swift .dart .php .rb .py .pl .lua .ex .exs .erl .clj .r .jl`)

// isExpression reports whether a value without quotes that ends at the offset is an expression of
// a program: in code, one that is not part of a text, such as a header or an address.
func (f *file) isExpression(end int) bool {
	return codeFiles[path.Ext(f.base)] && (end == len(f.text) || !isQuote(f.text[end]) && f.text[end] != '&')
}

// isTokenName reports whether the name is that of a personal access token: ado_pat, GITHUB_PAT.
func isTokenName(name string) bool {
	words := splitName(name)
	return len(words) > 1 && words[len(words)-1] == "pat"
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
		isWording(value) || IsPublicValue(value) || isAddress(value) || isCode(value) || isPathLike(value) ||
		strings.Count(value, ",") > 1 {
		return false
	}
	password := quoted && isPasswordName(name)
	switch {
	case IsUUID(value):
		return isKeyName(name)
	case password && len(value) < shortSecret:
		return kindsOfCharacters(value) >= 2 && strings.ContainsAny(value, "0123456789!#$%&*+?@^~") &&
			!isTrivial(value) &&
			!strings.ContainsAny(value, `\/`) && !encodings[strings.ToLower(value)]
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

// encodings are texts that code passes as arguments of this name.
var encodings = wordSet("utf-8-sig utf-16le utf-16be iso-8859-1 iso-8859-15 windows-1252 us-ascii cp1252")

// isKeyName reports whether the name says that a UUID is a key: api_key, access token, secret.
func isKeyName(name string) bool {
	words := splitName(name)
	if len(words) == 0 {
		return false
	}
	switch last := words[len(words)-1]; last {
	case "apikey", "secret", "token", "password", "pat":
		return true
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
