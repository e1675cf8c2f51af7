package credfile

import (
	"path"
	"strings"

	"merlon/internal/finding"
	"merlon/internal/severity"
)

// This file finds what may stand in a text of any kind: addresses with a password,
// and keys by their first line.

// textRules are the rules for what may stand in a file of any kind.
var textRules = map[string]*finding.Rule{
	"address": addressClass.newRule("address-with-password", "Credentials in a URL",
		"The URL of a database, message queue, mail server or site contains a user name and a password."),
	"jdbc": addressClass.newRule("connection-string", "Password in a connection string",
		"The connection string contains the server, user name and password."),
	"ppk": keyClass.newRule("putty-private-key", "PuTTY private key",
		"The file is a private key in PuTTY format without a passphrase."),
	"locked": lockedClass.newRule("encrypted-private-key", "Encrypted private key",
		"The file contains a private key that is encrypted with a passphrase."),
	"openvpn": keyClass.newRule("openvpn-static-key", "OpenVPN static key",
		"The file contains the static key that all peers of an OpenVPN tunnel share."),
	"state": tokenClass.newRule("tor-service-key", "Tor onion service key",
		"The file contains the private key that identifies an onion service."),
}

// findConnections looks at the whole text.
func (f *file) findConnections() {
	f.findURLs()
	f.findConnectionStrings()
	f.findGoDataSources()
	f.findPrivateKeys()
}

// credentialAddress is the user's part of an address.
type credentialAddress struct {
	user, password span
	host           string
}

// parseUserinfo reads user:password@host from the range, which begins behind "://". A
// program that writes addresses without escaping is read leniently: the last "@"
// ends the user's part, whatever stands before it.
func parseUserinfo(text string, start, end int, lenient bool) (credentialAddress, bool) {
	stop := end
	if i := strings.IndexAny(text[start:end], "/?#"); i >= 0 && !lenient {
		stop = start + i
	}
	at := strings.LastIndexByte(text[start:stop], '@')
	if at >= 0 {
		at += start
	}
	if i := strings.IndexAny(text[max(at, start):stop], "/?#"); at >= 0 && i >= 0 {
		stop = at + i
	}
	if at < 0 {
		return credentialAddress{}, false
	}
	a := credentialAddress{user: span{start, at}, password: span{at, at}, host: text[at+1 : stop]}
	if i := strings.IndexByte(text[start:at], ':'); i >= 0 {
		a.user.end, a.password = start+i, span{start + i + 1, at}
	}
	return a, true
}

// findURLs finds scheme://user:password@host.
func (f *file) findURLs() {
	for at := 0; ; {
		i := strings.Index(f.text[at:], "://")
		if i < 0 {
			return
		}
		colon := at + i
		at = colon + 3
		end := at
		for end < len(f.text) && end < at+600 && isAddressByte(f.text[end]) {
			end++
		}
		if !f.spendWork(end - at) {
			return
		}
		if strings.IndexByte(f.text[at:end], '@') < 0 {
			continue
		}
		a, ok := parseUserinfo(f.text, at, end, false)
		if !ok || a.password.start == a.password.end {
			continue
		}
		user, password := f.text[a.user.start:a.user.end], f.text[a.password.start:a.password.end]
		scheme := f.text[schemeStart(f.text, colon):colon]
		m := Match{Rule: textRules["address"], Start: a.password.start, End: a.password.end,
			Confidence: hostConfidence(a.host), Terms: hostTerms(a.host), Note: protocolName(scheme)}
		switch {
		case scheme == "" || len(password) > 200 || len(password) < 3 || isPlaceholder(password) ||
			isTemplateText(user) || isTemplateText(password):
			continue
		case !isRealAccount(user, password, a.host) || isLocalHost(a.host) && !f.isConfiguration():
			m.Confidence, m.Terms = finding.LowConfidence, exampleTerms
		}
		f.addGuess(m)
	}
}

// exampleTerms take the account of an example out of the default profile.
var exampleTerms = []finding.SeverityTerm{{Points: 2 * severity.Harmless, Reason: "account of an example"}}

// isTemplateText reports whether the text has an expression of a template or a shell.
func isTemplateText(text string) bool { return strings.ContainsAny(text, "${}<>()[]") }

// protocolName names the scheme in a message; one that nobody knows is not repeated.
func protocolName(scheme string) string {
	scheme = strings.ToLower(scheme)
	base, _, _ := strings.Cut(scheme, "+")
	switch base {
	case "http", "https", "ftp", "ftps", "sftp", "ssh", "git", "postgres", "postgresql", "mysql", "mariadb", "mongodb",
		"redis", "rediss", "amqp", "amqps", "smtp", "smtps",
		"imap", "imaps", "ldap", "ldaps", "mqtt", "mqtts", "nats", "clickhouse", "sqlserver", "mssql", "oracle",
		"couchdb", "neo4j", "bolt", "jdbc", "kafka", "socks5", "rtsp", "smb", "elasticsearch":
		return base
	}
	return ""
}

// isConfiguration reports whether the file is a configuration of something that runs,
// and not of a test run.
func (f *file) isConfiguration() bool {
	if f.shown || strings.Contains(f.path, "/.github/") || strings.Contains(f.path, "/.circleci/") ||
		strings.HasSuffix(f.base, "-ci.yml") || strings.HasPrefix(f.base, ".travis") {
		return false
	}
	switch path.Ext(f.base) {
	case ".env", ".yml", ".yaml", ".properties", ".ini", ".conf", ".cfg", ".toml", ".json", ".xml", ".config", ".php",
		".cnf", ".tfvars", ".local", ".production", ".sh", "":
		return true
	}
	return strings.HasPrefix(f.base, ".env")
}

// isAddressByte reports whether the byte may stand in a URL as programs write them: the
// signs that quote one in source or text end it (RFC 3986, appendix C).
func isAddressByte(c byte) bool {
	return c > ' ' && c < 0x7F && !strings.ContainsRune("\"'<>`\\,()[]{}|;", rune(c)) || c == '[' || c == ']'
}

// schemeStart returns where the scheme that ends at the colon begins.
func schemeStart(text string, colon int) int {
	start := colon
	for start > 0 && colon-start < 30 {
		if c := text[start-1]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' ||
			c == '-' || c == '.') {
			break
		}
		start--
	}
	return start
}

// isRealAccount reports whether the user, password and host are those of an account and
// not of an example.
func isRealAccount(user, password, host string) bool {
	host = strings.ToLower(host)
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host = host[:i]
	}
	if isExampleHost(host) || isExamplePassword(user, password) {
		return false
	}
	return !isLocalHost(host) || len(password) >= 8
}

// exampleHosts are what no host is called, and the domains that are reserved for examples
// (RFC 2606, RFC 6761).
var exampleHosts = [...]string{"example", "test", "invalid", "domain", "host", "hostname", "server", "yourhost", "..."}

// isExampleHost reports whether the host, in lower case and without its port, is none that
// can be reached: a name of documentation, or a variable of a template. The variable in the
// address of a cluster (cluster0.${ID}.mongodb.net) hides only a part of a real one.
func isExampleHost(host string) bool {
	for _, s := range exampleHosts {
		if host == s || strings.HasSuffix(host, "."+s) {
			return true
		}
	}
	return host == "" || strings.Contains(host, "example.") || strings.Contains(host, "your") ||
		strings.HasPrefix(host, "my") && !strings.Contains(host, ".") ||
		strings.ContainsAny(host, "${}<>%*") && !strings.Contains(host, "cluster")
}

// passwordWords are the words for a password; fillWords stand beside one in examples:
// "mypassword", "db_pass1".
var (
	passwordWords = [...]string{"password", "passwd", "secret", "pass"}
	fillWords     = wordSet("my your the db user some mysql admin")
)

// isExamplePassword reports whether the password is one of documentation: a placeholder,
// the name of the user, or the word for a password with little beside it.
func isExamplePassword(user, password string) bool {
	if isPlaceholder(password) || isTrivial(password) || strings.EqualFold(user, password) ||
		strings.ContainsAny(password, "${}<>") || len(password) < 3 {
		return true
	}
	lower := strings.ToLower(password)
	for _, s := range passwordWords {
		if !strings.Contains(lower, s) {
			continue
		}
		if rest := strings.Trim(strings.Replace(lower, s, "", 1), "_-0123456789"); rest == "" || fillWords[rest] {
			return true
		}
	}
	return false
}

// isLocalHost reports whether the host is the machine itself or one of a private
// network of containers.
func isLocalHost(host string) bool {
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host = host[:i]
	}
	return host == "localhost" || strings.HasPrefix(host, "127.") || host == "0.0.0.0" || host == "[::1]" ||
		!strings.Contains(host, ".")
}

// hostConfidence returns the confidence in a password for the host: on the machine itself
// it is often one of a developer.
func hostConfidence(host string) finding.Confidence {
	if isLocalHost(host) {
		return finding.LowConfidence
	}
	return ""
}

// hostTerms returns the term for a password of the machine itself or of its container network: an
// attacker needs access to that first.
func hostTerms(host string) []finding.SeverityTerm {
	if isLocalHost(host) {
		return []finding.SeverityTerm{{Points: severity.Lowered, Reason: "host of a local network"}}
	}
	return nil
}

// stringNames are the parameters of a connection string that hold a password.
var stringNames = []string{"password", "pwd", "sharedaccesskey", "accountkey"}

// findConnectionStrings finds connection strings: parameters between ";" or "&" or, for
// PostgreSQL, blanks, one of which names the server.
func (f *file) findConnectionStrings() {
	for sign := nextByte(f.text, '=', 0); sign >= 0; sign = nextByte(f.text, '=', sign+1) {
		if sign == 0 || sign+4 > len(f.text) || f.text[sign-1]|0x20 != 'd' && f.text[sign-1]|0x20 != 'y' {
			continue
		}
		for _, name := range stringNames {
			at := sign - len(name)
			if at < 0 || !strings.EqualFold(f.text[at:sign], name) || at > 0 && isLetter(f.text[at-1]) {
				continue
			}
			f.reportParameter(name, at, sign+1)
		}
	}
}

// reportParameter reports the value of the parameter that stands at the offset, when
// the parameters around it name a server.
func (f *file) reportParameter(name string, at, start int) {
	end := start
	for end < len(f.text) && end < start+200 && !strings.ContainsRune("\"'<>`;& \t\r\n", rune(f.text[end])) {
		end++
	}
	from, to := max(lineStart(f.text[max(at-600, 0):], at-max(at-600, 0))+max(at-600, 0), 0), end
	for to < len(f.text) && to < end+400 && f.text[to] != '\n' {
		to++
	}
	if !f.spendWork(8 * (to - from)) {
		return
	}
	if !isParameterSecret(name, f.text[start:end]) || !namesServer(f.text[from:at], f.text[end:to]) {
		return
	}
	if isLocal(f.text[from:to]) && !f.isConfiguration() {
		return
	}
	m := Match{Rule: textRules["jdbc"], Start: start, End: end}
	if isLocal(f.text[from:to]) {
		m.Confidence, m.Terms = finding.LowConfidence, hostTerms("localhost")
	}
	f.addGuess(m)
}

// isParameterSecret reports whether the value of a parameter may be a secret. Keys are in
// Base64, whose "+" is no sign of an expression as it is in a password.
func isParameterSecret(name, value string) bool {
	if len(value) < 4 || isPlaceholder(value) || isTrivial(value) {
		return false
	}
	key := name == "accountkey" || name == "sharedaccesskey"
	return key || !strings.ContainsAny(value, "${}<>()+")
}

// isLetter reports whether the byte is a letter or "_", so that a name goes on.
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// lineStart returns where the line begins that holds the byte.
func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

// serverNames are parameters that say where the server is.
var serverNames = []string{"server=", "data source=", "datasource=", "host=", "addr=", "address=", "jdbc:", "endpoint=",
	"accountname=", "provider=", "initial catalog=", "database=", "dbname=", "dsn="}

// namesServer reports whether one of the texts around the password says where the
// server is.
func namesServer(before, after string) bool {
	for _, name := range serverNames {
		if containsFold(before, name) || containsFold(after, name) {
			return true
		}
	}
	return false
}

// isLocal reports whether the parameters name the machine itself.
func isLocal(text string) bool {
	for _, s := range []string{"localhost", "127.0.0.1", "(local)", "host=db", "server=db", "=.;", "sqlexpress"} {
		if containsFold(text, s) {
			return true
		}
	}
	return false
}

// findGoDataSources finds user:password@tcp(host)/database, the form of Go's drivers of
// MySQL.
func (f *file) findGoDataSources() {
	for _, mark := range []string{"@tcp(", "@unix("} {
		for at := strings.Index(f.text, mark); at >= 0; {
			start := at
			for start > 0 && at-start < 200 && !strings.ContainsRune("\"'`=<> \t\n", rune(f.text[start-1])) {
				start--
			}
			if !f.spendWork(at - start + 100) {
				return
			}
			host := f.text[at+len(mark) : min(at+len(mark)+100, len(f.text))]
			if i := strings.IndexByte(host, ')'); i >= 0 {
				host = host[:i]
			}
			f.reportDataSource(start, at, host)
			next := strings.Index(f.text[at+1:], mark)
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
}

// reportDataSource reports the password of user:password between the bounds, when it is
// that of an account of the host.
func (f *file) reportDataSource(start, end int, host string) {
	c := strings.IndexByte(f.text[start:end], ':')
	if c < 0 || !isRealAccount(f.text[start:start+c], f.text[start+c+1:end], host) {
		return
	}
	if !isLocalHost(host) || f.isConfiguration() {
		f.addGuess(Match{Rule: textRules["jdbc"], Start: start + c + 1, End: end, Confidence: hostConfidence(host),
			Terms: hostTerms(host)})
	}
}

// staticKey is how the line goes on with which a static key of OpenVPN begins or ends.
const staticKey = "OpenVPN Static key V1-----"

// findPrivateKeys finds keys by the lines that they begin with.
func (f *file) findPrivateKeys() {
	for at := 0; ; {
		i := strings.Index(f.text[at:], "-----BEGIN ")
		if i < 0 {
			break
		}
		at += i + len("-----BEGIN ")
		if !f.spendWork(4000) {
			return
		}
		end := min(at+3000, len(f.text))
		head := f.text[at:end]
		start := at - len("-----BEGIN ")
		switch {
		case strings.HasPrefix(head, staticKey) && f.hasKeyBody(at, "-----END "+staticKey):
			f.addMatch(Match{Rule: textRules["openvpn"], Start: start, End: at + len(staticKey)})
		case isEncryptedKey(head):
			f.addMatch(Match{Rule: textRules["locked"], Start: start, End: f.findPrivateKeyEnd(start)})
		}
	}
	if strings.HasPrefix(f.text, "PuTTY-User-Key-File-") {
		f.findPuTTYKey()
	}
	if strings.HasPrefix(f.text, "== ed25519v1-secret:") {
		f.addMatch(Match{Rule: textRules["state"], Start: 0, End: len("== ed25519v1-secret:")})
	}
}

// hasKeyBody reports whether a key follows, and not a description of one.
func (f *file) hasKeyBody(at int, end string) bool {
	i := strings.Index(f.text[at:min(at+4000, len(f.text))], end)
	return i > 300 && !strings.Contains(f.text[at:at+i], "...")
}

// isEncryptedKey reports whether the text behind BEGIN is that of an encrypted key:
// PKCS #8, the older form of OpenSSL, and OpenSSH's with a cipher (whose first
// bytes name it).
func isEncryptedKey(head string) bool {
	if strings.HasPrefix(head, "ENCRYPTED PRIVATE KEY-----") {
		return true
	}
	if i := strings.Index(head, "PRIVATE KEY-----"); i < 0 || i > 12 {
		return false
	}
	head = head[strings.Index(head, "-----")+5:]
	head = strings.TrimLeft(head, "\r\n\\n ")
	if strings.HasPrefix(head, "Proc-Type: 4,ENCRYPTED") {
		return true
	}
	// "openssh-key-v1\0" and the length of a name that is not "none".
	return strings.HasPrefix(head, "b3BlbnNzaC1rZXktdjEAAAAA") &&
		!strings.HasPrefix(head, "b3BlbnNzaC1rZXktdjEAAAAABG5vbm")
}

// findPrivateKeyEnd returns the end of the key that begins at the offset.
func (f *file) findPrivateKeyEnd(start int) int {
	rest := f.text[start:min(start+32<<10, len(f.text))]
	if i := strings.Index(rest, "-----END "); i >= 0 {
		if j := strings.Index(rest[i+9:], "-----"); j >= 0 && j < 60 {
			return start + i + 9 + j + 5
		}
	}
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		return start + i
	}
	return start + len(rest)
}

// findPuTTYKey reports a key in PuTTY's format: the lines behind Private-Lines.
func (f *file) findPuTTYKey() {
	i := strings.Index(f.text, "Private-Lines:")
	if i < 0 {
		return
	}
	start := i + strings.IndexByte(f.text[i:]+"\n", '\n') + 1
	end := min(start, len(f.text))
	if j := strings.Index(f.text[end:], "Private-MAC"); j >= 0 {
		end = end + j
	} else {
		end = len(f.text)
	}
	s, e := min(start, end), end
	for e > s && f.text[e-1] <= ' ' {
		e--
	}
	rule := textRules["ppk"]
	if !strings.Contains(f.text[:i], "Encryption: none") {
		rule = textRules["locked"]
	}
	f.addMatch(Match{Rule: rule, Start: s, End: e})
}
