package credfile

import (
	"strings"

	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/severity"
)

// This file reads formats that are neither lists of assignments nor documents.

// reportValue reports the bounds as a secret of the format, unless the value is none.
func (f *file) reportValue(x *format, start, end int) {
	if start >= end || isPlaceholder(f.text[start:end]) || f.repeatsName(start, end) {
		return
	}
	m := Match{Rule: x.rule, Start: start, End: end}
	if isTrivial(f.text[start:end]) {
		m.Confidence, m.Terms = finding.LowConfidence, weakTerms
	}
	// Calls and rows are guesses: the value may be a test or an example. All other formats are
	// files that programs really read.
	if x.class == codeClass || x.class == recordClass {
		f.addGuess(m)
		return
	}
	f.addMatch(m)
}

// weakTerms are for words that stand in many examples. Who takes one as password does so where it
// matters little, or has a worse flaw than its place in a file.
var weakTerms = []finding.SeverityTerm{{Points: severity.Lowered, Reason: "word of examples"}}

// repeatsName reports whether the value is a name of several words that stands before it too:
// db_user_password: db_user_password.
func (f *file) repeatsName(start, end int) bool {
	value := f.text[start:end]
	before := strings.TrimRight(f.text[max(start-len(value)-8, 0):start], " \t=:\"'")
	return len(splitName(value)) > 1 && strings.HasSuffix(before, value)
}

// readWhole returns the first line of a file that is nothing but a secret.
func readWhole(f *file) []entry {
	start, end := 0, len(f.text)
	for start < end && f.text[start] <= ' ' {
		start++
	}
	for end > start && f.text[end-1] <= ' ' {
		end--
	}
	// Less than 6 characters protect nothing. White space or brackets show that the file is a
	// text, a page or code.
	if end-start < 6 || end-start > 4096 || strings.ContainsAny(f.text[start:end], " \t\n<>{}") {
		return nil
	}
	return []entry{{key: "password", start: start, end: end, in: &scope{}}}
}

// readYAMLOrINI reads either form, which the tools of one kind use side by side.
// The extension does not tell: some tools changed from INI to YAML under the same name.
func readYAMLOrINI(f *file) []entry {
	if strings.HasSuffix(f.base, ".json") {
		return readJSON(f)
	}
	out := readYAML(f)
	return append(out, readAssignments(f)...)
}

// readNPM reads .npmrc: //host/:_authToken=value and _auth = value.
func readNPM(f *file) []entry {
	out := readINI(f)
	for i := range out {
		if at := strings.LastIndexByte(out[i].key, ':'); at >= 0 {
			out[i].key = out[i].key[at+1:]
		}
	}
	eachLine(f.text, func(start, end int) { // lines that look like comments
		start, end = trimBounds(f.text, start, end)
		line := f.text[start:end]
		at := strings.Index(line, ":_")
		eq := strings.IndexByte(line, '=')
		if !strings.HasPrefix(line, "//") || at < 0 || eq < at {
			return
		}
		s, e := valueBounds(f.text, start+eq+1, end)
		out = append(out, entry{key: strings.TrimSpace(line[at+1 : eq]), start: s, end: e, in: &scope{}})
	})
	return out
}

// readState reads a Terraform state. The values of outputs that say of themselves
// that they are sensitive count under the output's name.
func readState(f *file) []entry {
	entries := readJSON(f)
	sensitive := map[*scope]bool{}
	for _, e := range entries {
		if e.key == "sensitive" && f.text[e.start:e.end] == "true" {
			sensitive[e.in] = true
		}
	}
	for i, e := range entries {
		if sensitive[e.in] && e.key == "value" {
			entries[i].key = "secret"
		}
	}
	return entries
}

// readRemote reads the settings of remote sessions: XML, key=value, or
// "key:type:value".
// An example is Remote Desktop (.rdp): "password 51:b:0100…".
func readRemote(f *file) []entry {
	if strings.HasPrefix(strings.TrimSpace(f.text), "<") {
		return readXML(f)
	}
	out := readAssignments(f)
	eachLine(f.text, func(start, end int) {
		line := f.text[start:end]
		if parts := strings.SplitN(line, ":", 3); len(parts) == 3 && len(parts[1]) == 1 &&
			strings.HasPrefix(line, "password") {
			out = append(out, entry{key: "password", start: end - len(parts[2]), end: end, in: &scope{}})
		}
	})
	return out
}

// readLDIF reads "attribute: value", "attribute:: base64" and slapd.conf's
// "rootpw value".
// A double colon marks Base64 (RFC 2849).
func readLDIF(f *file) []entry {
	var out []entry
	in := &scope{}
	eachLine(f.text, func(start, end int) {
		start, end = trimBounds(f.text, start, end)
		i := strings.IndexAny(f.text[start:end], ": \t")
		if i <= 0 || f.text[start] == '#' {
			return
		}
		s, e := trimBounds(f.text, start+i, end)
		for s < e && (f.text[s] == ':' || f.text[s] == ' ' || f.text[s] == '\t') {
			s++
		}
		out = append(out, entry{key: f.text[start : start+i], start: s, end: e, in: in})
	})
	return out
}

// readSVN reads Subversion's "K n / key / V n / value" records.
// A record has a key of n bytes and a value of m bytes, each behind a line with its length.
func readSVN(f *file) []entry {
	var out []entry
	in := &scope{}
	var before [3]string
	eachLine(f.text, func(start, end int) {
		if strings.HasPrefix(before[0], "K ") && strings.HasPrefix(before[2], "V ") {
			out = append(out, entry{key: before[1], start: start, end: end, in: in})
		}
		before[0], before[1], before[2] = before[1], before[2], f.text[start:end]
	})
	return append(out, readAssignments(f)...)
}

// findNetrc reads the tokens of netrc(5): machine, login, password, account;
// macros end at an empty line.
// An entry may be spread over lines, so that the token before is kept from line to line.
func findNetrc(f *file, x *format) {
	before := ""
	skip := false
	eachLine(f.text, func(start, end int) {
		start, end = trimBounds(f.text, start, end)
		if start == end {
			skip = false
			return
		}
		if skip || f.text[start] == '#' {
			return
		}
		for start < end {
			stop := start
			if f.text[start] == '"' {
				if q := strings.IndexByte(f.text[start+1:end], '"'); q >= 0 {
					// Tokens may be in quotes, which belong to the syntax.
					stop = start + q + 2
				}
			}
			for stop < end && f.text[stop] != ' ' && f.text[stop] != '\t' {
				stop++
			}
			token := f.text[start:stop]
			if before == "password" || before == "passwd" {
				s, e := start, stop
				if len(token) > 1 && token[0] == '"' && token[len(token)-1] == '"' {
					s, e = s+1, e-1
				}
				f.reportValue(x, s, e)
				// The password itself must not be taken for the next keyword.
				token = ""
			}
			skip = skip || token == "macdef"
			before = token
			start, _ = trimBounds(f.text, stop, end)
		}
	})
}

// findAddresses reports the passwords in addresses, one or more a line.
// https://token@host has the token as the user name, without a password.
func findAddresses(f *file, x *format) {
	eachLine(f.text, func(start, end int) {
		for at := start; ; {
			i := strings.Index(f.text[at:end], "://")
			if i < 0 {
				return
			}
			at += i + 3
			stop := at
			for stop < end && f.text[stop] > ' ' && f.text[stop] != '"' && f.text[stop] != '\'' {
				stop++
			}
			if a, ok := parseUserinfo(f.text, at, stop, true); ok {
				s := a.password
				if s.start == s.end {
					s = a.user // a token alone
				}
				f.reportValue(x, s.start, s.end)
			}
			at = stop
		}
	})
}

// findCVS reads .cvspass: "/1 :pserver:user@host:/path Ascrambled".
// The scramble is a fixed substitution of characters that anyone can reverse.
func findCVS(f *file, x *format) {
	eachLine(f.text, func(start, end int) {
		start, end = trimBounds(f.text, start, end)
		if i := strings.LastIndexByte(f.text[start:end], ' '); i > 0 &&
			strings.Contains(f.text[start:end], ":pserver:") {
			f.reportValue(x, start+i+1, end)
		}
	})
}

// findRelay reads lines of "host user:password" and "host:user:password".
// Postfix writes "host user:password", Sendmail "P:password" in quotes.
func findRelay(f *file, x *format) {
	eachLine(f.text, func(start, end int) {
		start, end = trimBounds(f.text, start, end)
		line := f.text[start:end]
		if line == "" || line[0] == '#' {
			return
		}
		if i := strings.Index(line, `"P:`); i >= 0 {
			s := start + i + 3
			if q := strings.IndexByte(f.text[s:end], '"'); q >= 0 {
				f.reportValue(x, s, s+q)
			}
			return
		}
		if i := strings.LastIndexByte(line, ':'); i > 0 && i+1 < len(line) {
			f.reportValue(x, start+i+1, end)
		}
	})
}

// findSecretsFile reads lines whose last word is a secret, as in chap-secrets
// (client server secret address), ipsec.secrets (: PSK "secret") and
// rsyncd.secrets (user:secret).
// The separator decides: a colon leads to the secret, otherwise the third word is it.
func findSecretsFile(f *file, x *format) {
	eachLine(f.text, func(start, end int) {
		start, end = trimBounds(f.text, start, end)
		line := f.text[start:end]
		if line == "" || line[0] == '#' || strings.HasPrefix(line, "include ") {
			return
		}
		if i := strings.IndexByte(line, ':'); i >= 0 {
			s, e := trimBounds(f.text, start+i+1, end)
			// The kinds of IPsec secrets stand in front of the value.
			for _, kind := range []string{"PSK", "EAP", "XAUTH", "RSA"} {
				if strings.HasPrefix(f.text[s:e], kind) {
					s, e = trimBounds(f.text, s+len(kind), e)
				}
			}
			s, e = valueBounds(f.text, s, e)
			f.reportValue(x, s, e)
			return
		}
		if words := splitFields(f.text, start, end); len(words) >= 3 {
			f.reportValue(x, words[2].start, words[2].end)
		}
	})
}

// span is a range of bytes.
type span struct{ start, end int }

// splitFields splits the range at white space; quotes hold words together and are not
// part of them.
func splitFields(text string, start, end int) []span {
	var out []span
	for start < end {
		if start, _ = trimBounds(text, start, end); start == end {
			break
		}
		stop := start
		if q := text[start]; q == '"' || q == '\'' {
			if i := strings.IndexByte(text[start+1:end], q); i >= 0 {
				out = append(out, span{start + 1, start + 1 + i})
				start += i + 2
				continue
			}
		}
		for stop < end && text[stop] != ' ' && text[stop] != '\t' {
			stop++
		}
		out = append(out, span{start, stop})
		start = stop
	}
	return out
}

// hashed is a password's hash as crypt(3), Apache, LDAP and Windows write it.
// The prefixes: $1$ MD5, $2y$ bcrypt, $5$ and $6$ SHA-2, $y$ yescrypt, $apr1$ Apache, $P$ and
// $H$ phpass; {SSHA} and others of LDAP (RFC 2307); 32 to 128 hexadecimal digits without a
// prefix.
var hashed = lazyregexp.New(`^(?:!?\$(?:[156y7]|2[abxy]?|apr1|sha1|md5|argon2\w*|pbkdf2\S*|scrypt|P|H|gy|8|14)\$\S{8,}|\{(?:S?SHA\d*|S?MD5|CRYPT|PBKDF2\S*|BLF-CRYPT|PLAIN|ARGON2\S*|CLEARTEXT)\}\S{4,}|_[./0-9A-Za-z]{19}|[0-9a-fA-F]{32,128})$`)

// crypted is a hash of the first crypt(3), which only a file of users has.
// 13 characters are too short to be told from a word, so the second field of a line is
// required, and a character that is no lower-case letter.
var crypted = lazyregexp.New(`^[./0-9A-Za-z]{13}$`)

// findHashes reads files of users: name:hash, name:realm:hash, name:uid:LM:NT.
// Lines of user files are short; one above 4,096 bytes is other data.
func findHashes(f *file, x *format) {
	eachLine(f.text, func(start, end int) {
		start, end = trimBounds(f.text, start, end)
		if start == end || f.text[start] == '#' || end-start > 4096 {
			return
		}
		// The first five fields are enough: in shadow(5) the hash is the second, in smbpasswd the
		// third and fourth.
		for n, field := 0, start; field < end && n < 5; n++ {
			stop := end
			if i := strings.IndexByte(f.text[field:end], ':'); i >= 0 {
				stop = field + i
			}
			if v := f.text[field:stop]; n > 0 && (hashed.MatchString(v) || n == 1 && crypted.MatchString(v) &&
				strings.ContainsAny(v, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ./")) {
				f.addMatch(Match{Rule: x.rule, Start: field, End: stop})
				return
			}
			field = stop + 1
		}
	})
}

// device finds the passwords in the settings of network devices.
var device = lazyregexp.New(`(?i)(?:\b(?:enable|username \S+|user \S+)\b.*?\b(?:secret|password) (?:\d{1,2} )?|^\s*(?:password|key-string|key|tacacs-server key|radius-server key|pre-shared-key(?: address \S+)? key|snmp-server community|rocommunity|rwcommunity|community|wpa-psk (?:ascii|hex)?(?: \d)?|ppp (?:chap|pap) (?:password|sent-username \S+ password)|neighbor \S+ password|authPassphrase) (?:\d{1,2} )?|\b(?:password|secret|encrypted-password|wpa2?-pre-shared-key|pre-shared-key)(?: ascii-text)?[= ])"?([^\s";]{3,})`)

// findDevice finds the passwords in the configuration of a router or switch.
func findDevice(f *file, x *format) { f.reportPerLine(x, device) }

// reportPerLine reports the last group of each match of the expression in a line.
// The lines of an attacker's file could make the expression slow; each match is paid from the
// budget of the file.
func (f *file) reportPerLine(x *format, re *lazyregexp.Regexp) {
	eachLine(f.text, func(start, end int) {
		if line := f.text[start:end]; len(line) < 8<<10 && f.spendWork(4*len(line)) &&
			!isComment(strings.TrimSpace(line)) {
			// 20 matches per line: a real line has one or two.
			for _, m := range re.FindAllStringSubmatchIndex(line, 20) {
				for g := len(m) - 2; g >= 2; g -= 2 {
					if m[g] >= 0 {
						f.reportValue(x, start+m[g], start+m[g+1])
						break
					}
				}
			}
		}
	})
}

const (
	quotedOrBare = `(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"';&|]+))`
	inQuotes     = `(?:'([^'\n]+)'|"([^"\n]+)")`
)

// typed finds the passwords in what somebody typed.
var typed = lazyregexp.New(`(?i)(?:` +
	`\b(?:mysql|mysqldump|mysqladmin|mariadb|mycli)\b[^|;\n]*?\s-p` + quotedOrBare +
	`|\b(?:sshpass|plink|pscp|psftp)\b[^|;\n]*?\s-(?:p|pw)\s*` + quotedOrBare +
	`|\b(?:docker|podman|helm registry|az|heroku|cf|oc|npm|mongo|mongosh|mongodump|redis-cli|psql|ldapsearch|smbclient|7z|zip|unzip|openssl|keytool|svn|wget|lftp|winexe|net use|curl|rpcclient|xfreerdp|htpasswd)\b[^|;\n]*?\s(?:--password|--pass|--http-password|--ftp-password|--passphrase|--token|-storepass|-keypass|-passin pass:|-passout pass:)[= :]?` + quotedOrBare +
	`|\b(?:docker|podman|mongo|mongosh|mongodump|az|oc)\b[^|;\n]*?\s-p\s+` + quotedOrBare +
	`|\b(?:redis-cli)\b[^|;\n]*?\s-a\s+` + quotedOrBare +
	`|\bcurl\b[^|;\n]*?\s(?:-u|--user)[ =]?["']?[^\s:"']+:([^\s"']+)` +
	`|\b(?:[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_KEY|ACCESS_KEY|SECRET_KEY|PASS|PWD))=` +
	quotedOrBare +
	`|\bidentified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?` + inQuotes +
	`|\b(?:set\s+password\b[^=\n]*=|password\s*\()\s*(?:password\s*\(\s*)?` + inQuotes +
	`|\b(?:create|alter)\s+(?:user|role)\b[^;\n]*?\bpassword\s+` + inQuotes +
	`|\b(?:auth|config set requirepass)\s+([^\s"']{6,})\s*$` +
	`|(?:Cleartext-Password|User-Password)\s*:?=\s*` + inQuotes + `|^\s*secret\s*=\s*` + quotedOrBare +
	`|\becho\s+` + quotedOrBare + `\s*\|\s*(?:sudo\s+-S|passwd|docker login|chpasswd)` + `)`)

// findCommands finds the passwords that were typed as arguments of commands: history files
// of shells.
func findCommands(f *file, x *format) { f.reportPerLine(x, typed) }

// stored finds the passwords of statements that make users.
var stored = lazyregexp.New(`(?i)(?:\bidentified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?` + inQuotes +
	`|\b(?:create|alter)\s+(?:user|role)\b[^;\n]*?\bpassword\s+` + inQuotes +
	`|\bset\s+password\b[^=\n]*=\s*(?:password\s*\(\s*)?` + inQuotes + `)`)

// managed finds the passwords with which machines of an inventory are managed.
var managed = lazyregexp.New(`(?i)\b(?:ansible_(?:ssh_|become_|sudo_|su_|winrm_|httpapi_)?pass(?:word)?|[a-z0-9_]*_(?:password|passwd|pass|pwd))["']?\s*[=:]\s*` + quotedOrBare)

// findInventory finds the passwords with which an inventory signs in to its machines.
func findInventory(f *file, x *format) { f.reportPerLine(x, managed) }

// login is a call that signs in with an address of mail as name and a text as
// password.
var login = lazyregexp.New(`(?i)(?:\blog_?in|\bauthenticate|\bauth|\bsign_?in)\(\s*(?:"[^"\s@]+@[^"\s]+\.[a-z]{2,}"|'[^'\s@]+@[^'\s]+\.[a-z]{2,}')\s*,\s*(?:"([^"\s]{6,})"|'([^'\s]{6,})')`)

// findLogins finds the passwords of calls that sign in.
// The word is searched first, since the expression begins with alternatives and would be tried
// at every position. The window around it is 400 bytes.
func findLogins(f *file, x *format) {
	for _, word := range x.hints {
		for at := indexFold(f.text, word, 0); at >= 0; at = indexFold(f.text, word, at+1) {
			if !f.spendWork(20 * 400) {
				return
			}
			start := max(strings.LastIndexByte(f.text[max(at-20, 0):at], '\n')+1+max(at-20, 0), 0)
			m := login.FindStringSubmatchIndex(f.text[start:min(at+400, len(f.text))])
			if m == nil {
				continue
			}
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 {
					f.reportValue(x, start+m[g], start+m[g+1])
				}
			}
		}
	}
}

// named keys of BIND: secret "base64"; and K*.private: Key: base64.
var nameKey = lazyregexp.New(`(?i)(?:\bsecret\s+"?([A-Za-z0-9+/=]{16,})"?\s*;|^(?:Key|PrivateKey|PrivateExponent|Private_value\(x\)):\s*([A-Za-z0-9+/=]{16,}))`)

// findNamedKey finds the secrets of DNS updates (TSIG, RFC 8945) in named.conf and key
// files.
func findNamedKey(f *file, x *format) { f.reportPerLine(x, nameKey) }

// findAnswers reads <Password><Value>…</Value></Password> and cpassword="…".
func findAnswers(f *file, x *format) {
	for _, e := range readXML(f) {
		switch k := normalizeName(e.key); {
		case k == "cpassword", strings.HasSuffix(k, "password"),
			k == "value" && e.in != nil && strings.HasSuffix(normalizeName(e.in.name), "password"):
			f.reportValue(x, e.start, e.end)
		}
	}
}

// findTable reads a table with a line of names: every cell of a column of
// secrets is one.
// A byte order mark in front of the first name is skipped.
func findTable(f *file, x *format) {
	if strings.HasSuffix(f.base, ".json") {
		for _, e := range readJSON(f) {
			if isSecretName(e.key) || normalizeName(e.key) == "totp" {
				f.reportValue(x, e.start, e.end)
			}
		}
		return
	}
	var columns []bool
	eachLine(f.text, func(start, end int) {
		cells := cellsOf(f.text, start, end)
		if columns == nil {
			if len(cells) == 1 && strings.Contains(f.text[start:end], "=") { // rootkey.csv: AWSSecretKey=…
				if e, ok := parseAssignment(f, start, end, nil); ok && isSecretName(e.key) {
					f.reportValue(x, e.start, e.end)
				}
				return
			}
			for _, c := range cells {
				columns = append(columns, isSecretName(strings.TrimPrefix(f.text[c.start:c.end], "\uFEFF")) ||
					strings.HasSuffix(strings.ToLower(f.text[c.start:c.end]), "totp"))
			}
			return
		}
		for i, c := range cells {
			if i < len(columns) && columns[i] {
				f.reportValue(x, c.start, c.end)
			}
		}
	})
}

// cellsOf splits a line of a table at its commas.
func cellsOf(text string, start, end int) []span {
	var out []span
	for start <= end && len(out) < 200 {
		if start < end && text[start] == '"' {
			if q := strings.IndexByte(text[start+1:end], '"'); q >= 0 {
				out = append(out, span{start + 1, start + 1 + q})
				start += q + 3
				continue
			}
		}
		stop := end
		if i := strings.IndexByte(text[start:end], ','); i >= 0 {
			stop = start + i
		}
		out = append(out, span{start, stop})
		start = stop + 1
	}
	return out
}
