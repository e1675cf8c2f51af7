package credfile

import (
	"strings"
	"unicode"
)

// This file says what of an entry is a secret, by its name and its value.

// entry is a value with its name.
type entry struct {
	key        string
	start, end int // of the value, without quotes
	in         *scope
}

// scope is what entries stand in: a section, an object, an element.
type scope struct {
	name  string
	outer *scope
}

// isBelow reports whether the scope is, or is in, one of that name.
func (s *scope) isBelow(name string) bool {
	for n := 0; s != nil && n < 64; s, n = s.outer, n+1 {
		if normalizeName(s.name) == name {
			return true
		}
	}
	return false
}

// pairedEntries returns entries for pairs such as name="password" value="…", which many
// formats have.
func pairedEntries(f *file, entries []entry) []entry {
	names := map[*scope]entry{}
	for _, e := range entries {
		switch normalizeName(e.key) {
		case "name", "key", "id", "property", "parametername", "header":
			if isSecretName(f.text[e.start:e.end]) {
				names[e.in] = e
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	var out []entry
	for _, e := range entries {
		n, ok := names[e.in]
		if k := normalizeName(e.key); ok && (k == "value" || k == "val" || k == "content") {
			e.key = f.text[n.start:n.end]
			out = append(out, e)
		}
	}
	return out
}

// normalizeName returns the name in lower case without what divides words.
func normalizeName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_', r == '-', r == '.', r == ' ', r == '$':
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// splitName splits a name at what divides words, and where small letters turn into
// capitals.
func splitName(name string) []string {
	var out []string
	start := 0
	flush := func(end int) {
		if end > start {
			out = append(out, strings.ToLower(name[start:end]))
		}
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'):
			flush(i)
			start = i + 1
		case i > start && 'A' <= c && c <= 'Z' && 'a' <= name[i-1] && name[i-1] <= 'z':
			flush(i)
			start = i
		}
	}
	flush(len(name))
	return out
}

// wordSet returns the words of a text as a set.
func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

var (
	// lastWords end the name of a secret.
	lastWords = wordSet(`password passwd passphrase passcode passwort pwd pass psw pw psk secret token apikey credential
		secretkey accesskey privatekey authkey authtoken accesstoken clientsecret requirepass masterauth rootpw bindpw rootpass
		dbpass userpass dbpassword dbpasswd dbpwd userpwd userpassword mysqlpassword adminpassword authpass smtppass mailpass
		ftppass ftppassword imappass sqlpass jdbcpassword keypass storepass cpassword authpassword adminpass userpw adminpw`)
	// keyWords make a secret of the word "key" behind them.
	keyWords = wordSet(`api access secret private auth encryption encrypt signing signature sign master account shared app
		storage session crypt cipher hmac jwt authorization aes service deploy client`)
	// otherWords say that a name speaks about secrets and holds none.
	otherWords = wordSet(`public no not forgot forget reset change confirm confirmation show hide enable enabled disable use require required
		min max minimum maximum has is expire expires expired type field label prompt hint error invalid missing csrf xsrf lost
		new old existing repeat retype input form placeholder length policy need allow next page pagination continuation url uri
		force ask sync valid validate verify check last primary foreign sort partition cache`)
	hostWords = wordSet("host hostname server address addr endpoint")
)

// isSecretName reports whether a value of that name is likely a secret.
func isSecretName(name string) bool {
	if len(name) > 120 {
		return false
	}
	words := splitName(name)
	n := len(words)
	if n == 0 {
		return false
	}
	for _, w := range words[:n-1] {
		if otherWords[w] {
			return false
		}
	}
	last := words[n-1]
	if last == "base" && n > 1 { // secret_key_base
		n, last = n-1, words[n-2]
	}
	switch {
	case lastWords[last]:
		return true
	case last == "key" && n > 1:
		return keyWords[words[n-2]]
	}
	return strings.HasSuffix(last, "password") || strings.HasSuffix(last, "passwd") || strings.HasSuffix(last, "apikey")
}

// isHostName reports whether the name is that of a host's address.
func isHostName(name string) bool {
	words := splitName(name)
	return len(words) > 0 && hostWords[words[len(words)-1]]
}

// fillers stand in examples where a secret would be.
var fillers = []string{"changeme", "change_me", "change-me", "changethis", "change this", "change it", "your_", "your-",
	"your ", "yourpass", "yourtoken", "yoursecret", "yourkey", "yourown",
	"xxxx", "****", "....", "____", "placeholder", "redacted", "replaceme", "replace_", "replace-", "replace with",
	"insert_", "insert-", "insert ", "put your", "fill_in",
	"todo", "fixme", "my-secret-", "my_secret_", "dummykey", "not-a-real", "notarealsecret", "example-", "example_",
	"-example", "_example", "some-secret", "put_unique", "put your unique"}

// isPlaceholder reports whether the value is empty, says of itself that it is none,
// or names the place where the value is to be had.
func isPlaceholder(value string) bool {
	v := strings.TrimSpace(value)
	if v == "" {
		return true
	}
	lower := strings.ToLower(v)
	if isBracketed(v) || emptyWords[lower] || containsAny(lower, storeMarks) || isTemplateExpression(v) {
		return true
	}
	for _, s := range sealedPrefixes {
		if strings.HasPrefix(lower, s) {
			return true
		}
	}
	return containsAny(lower, fillers) || strings.HasSuffix(v, "EXAMPLE") || strings.HasSuffix(v, "EXAMPLEKEY") ||
		isRepeated(v)
}

// emptyWords are values that say that there is none, or that stand for an example.
var emptyWords = wordSet(`null nil none undefined true false yes no on off example sample dummy empty n/a unset default
	required optional ~`)

// storeMarks are in references to where a secret is kept: the environment, a file, a vault.
var storeMarks = []string{"getenv", "environ[", "env.", "env(", "env[", "file://", "secretsmanager", "vault:",
	"op://", "ref+", "arn:aws", "!vault"}

// sealedPrefixes begin values that are references, or encrypted: Jasypt, Spring Cloud
// Config, Ansible Vault.
var sealedPrefixes = []string{"env:", "enc(", "{cipher}", "$ansible_vault", "projects/", "@microsoft.keyvault"}

// templateMarks are the brackets of expressions in templates and shells.
var templateMarks = [...][2]string{{"${", "}"}, {"{{", "}}"}, {"<%", "%>"}, {"%(", ")s"}, {"$(", ")"}, {"#{", "}"}}

// containsAny reports whether the text contains one of the parts.
func containsAny(text string, parts []string) bool {
	for _, s := range parts {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// isBracketed reports whether the value, which is not empty, is in the brackets of a
// placeholder, such as <password> or @token@, or is the name of a variable.
func isBracketed(v string) bool {
	switch v[0] {
	case '<':
		return true
	case '[':
		return strings.HasSuffix(v, "]")
	case '{':
		return strings.HasSuffix(v, "}")
	case '%', '@':
		return strings.HasSuffix(v, v[:1])
	case '$':
		return isVariableReference(v)
	case '*':
		return len(v) == 1
	}
	return false
}

// isTemplateExpression reports whether the value begins with an expression of a template,
// or has one in a text that is not random.
func isTemplateExpression(v string) bool {
	for _, m := range templateMarks {
		if _, rest, ok := strings.Cut(v, m[0]); ok && strings.Contains(rest, m[1]) && len(v) < 200 && !IsRandom(v) {
			return true
		}
		if strings.HasPrefix(v, m[0]) && strings.Contains(v, m[1]) {
			return true
		}
	}
	return false
}

// isVariableReference reports whether the value is the name of a variable: $NAME. A hash,
// such as $6$salt$…, is none.
func isVariableReference(v string) bool {
	if len(v) < 2 {
		return true
	}
	for i := 1; i < len(v); i++ {
		if c := v[i]; !isLetter(c) && c != '.' && c != ':' && !(i > 1 && c >= '0' && c <= '9') {
			return false
		}
	}
	return true
}

// isRepeated reports whether the value is one character over and over.
func isRepeated(v string) bool {
	return len(v) > 1 && strings.Count(v, v[:1]) == len(v)
}

// trivialWords are passwords of examples: also the first that an attacker tries.
var trivialWords = wordSet(`password passwd pass secret token test testing admin root user guest demo foo bar baz qwerty postgres mysql
	mongo redis rabbitmq username login key apikey api_key my-secret mypassword mysecret mytoken secretkey letmein abc abc123 pw pwd
	hello world string value pass123 password123 12345 123456 1234 p@ssw0rd p4ssw0rd somepassword some_password
	testpassword test123 testpass foobar minio minioadmin development dev local localhost sa supersecret super-secret verysecret s3cret s3cr3t`)

// isTrivial reports whether the value is a word that stands in many examples, and
// is a bad password if it is one.
func isTrivial(value string) bool {
	lower := strings.ToLower(value)
	return trivialWords[lower] || trivialWords[readLeet(lower)]
}

// readLeet returns the word with letters for the digits and signs that people write for them.
func readLeet(word string) string { return leet.Replace(word) }

var leet = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s")

// isPlausible reports whether the value may be a secret in a file of any kind.
func isPlausible(key, value string) bool {
	v := strings.TrimSpace(value)
	if len(v) < 5 || len(v) > 4096 || isTrivial(v) || strings.EqualFold(normalizeName(v), normalizeName(key)) ||
		isSecretName(v) &&
			!strings.ContainsAny(v, "0123456789!@#%^&*+/=") {
		return false
	}
	if !isPasswordName(key) && (len(v) < 16 && !strings.ContainsAny(v, "0123456789") || isPhrase(v)) {
		return false // the word for a thing, and not the thing
	}
	if IsRun(v) || IsPublicValue(v) || IsPublished(v) || IsUUID(v) && !isKeyName(key) {
		return false
	}
	digits := 0
	for i := 0; i < len(v); i++ {
		c := v[i]
		if c <= ' ' || c >= 0x7F {
			return false
		}
		if '0' <= c && c <= '9' {
			digits++
		}
	}
	if digits == len(v) && len(v) < 8 {
		return false
	}
	return !isAddress(v) && !isCode(v) && !isPathLike(v)
}

// isAddress reports whether the value is a path or a URL. A secret in Base64 may begin
// with a slash; it then has other signs of Base64.
func isAddress(v string) bool {
	if strings.HasPrefix(v, "/") {
		return !strings.ContainsAny(v, "+=") || strings.Contains(v, "://")
	}
	return strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "~/") ||
		strings.Contains(v, "://")
}

// isCode reports whether the value is a sign of YAML or a part of a program. It is not
// empty.
func isCode(v string) bool {
	return strings.IndexByte("&*!|>", v[0]) >= 0 || strings.IndexByte("({[", v[len(v)-1]) >= 0 ||
		strings.Contains(v, "()") || isCallExpression(v)
}

// isPasswordName reports whether the name is that of a password, which may be a word.
func isPasswordName(key string) bool {
	for _, s := range []string{"pass", "pwd", "pw", "psk"} {
		if strings.Contains(strings.ToLower(key), s) {
			return true
		}
	}
	return false
}

// isProse reports whether the value is text for people: words, or letters beyond
// ASCII, but not as long as a key.
func isProse(v string) bool {
	if len(v) > 60 {
		return false
	}
	for i := 0; i < len(v); i++ {
		if v[i] >= 0x80 {
			return true
		}
	}
	return strings.Count(v, " ") > 0 && !strings.ContainsAny(v, "0123456789!@#$%^&*+=~|")
}

// isCallExpression reports whether the value is an expression of a program: f(x), a.b.c.
func isCallExpression(v string) bool {
	i := 0
	for i < len(v) && (isLetter(v[i]) || v[i] == '.') {
		i++
	}
	if i > 0 && i < len(v) && (v[i] == '(' || v[i] == '[') {
		return true
	}
	return i == len(v) && strings.Contains(v, ".")
}
