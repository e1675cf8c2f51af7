package credfile

import (
	"bytes"
	"path"
	"strings"

	"merlon/internal/finding"
)

// This file knows stores of keys and passwords by their first bytes, or by their
// names where they have no sign.

// signature is a kind of store.
type signature struct {
	id, name string
	class    *secretClass
	ends     string // of names; empty: any name
	base     string // whole names; empty: any
	magic    []string
	inside   string // further down in the first bytes; may be empty
	what     string
	rule     *finding.Rule
}

// signatures are the stores of keys and passwords that are no text, by their names and
// first bytes.
var signatures = describeSignatures([]*signature{
	{id: "keepass-database", name: "KeePass database", class: vaultClass,
		magic: []string{"\x03\xD9\xA2\x9A\x67\xFB\x4B\xB5", "\x03\xD9\xA2\x9A\x65\xFB\x4B\xB5",
			"\x03\xD9\xA2\x9A\x66\xFB\x4B\xB5"}, what: "A password manager's database."},
	{id: "password-safe", name: "Password Safe database", class: vaultClass, magic: []string{"PWS3"},
		what: "A password manager's database."},
	{id: "onepassword-vault", name: "1Password vault", class: vaultClass, ends: ".agilekeychain .opvault .1pif .1pux " +
		".agilekeychain.zip", base: "encryptionkeys.js 1password.keys", what: "A password manager's vault or export."},
	{id: "password-manager-file", name: "Password manager's file", class: vaultClass, ends: ".kdb .kdbx .psafe3 " +
		".enpassdb .walletx .dashlane .keychain .keychain-db .kwallet .kwl", what: "A password manager's database."},
	{id: "java-key-store", name: "Java key store", class: vaultClass,
		magic: []string{"\xFE\xED\xFE\xED", "\xCE\xCE\xCE\xCE"}, what: "A key store of Java; those that hold " +
			"certificates only look the same from outside."},
	{id: "bouncy-castle-store", name: "Key store", class: vaultClass, ends: ".bks .uber .jceks", what: "A key store " +
		"of Java or Android."},
	{id: "pkcs12-store", name: "PKCS #12 key store", class: vaultClass, ends: ".p12 .pfx .pkcs12 .ovpn12 " +
		".keystore", magic: []string{"\x30\x82", "\x30\x83", "\x30\x80"}, inside: "\x02\x01\x03",
		what: "A store with a private key and its certificates."},
	{id: "der-private-key", name: "Private key in binary form", class: keyClass, ends: ".der .key .pk8 .p8 " +
		".pkcs8 .priv", magic: []string{"\x30\x82", "\x30\x81", "\x30\x77", "\x30\x2E"}, inside: "\x02\x01\x00",
		what: "A private key in DER, the binary form of PEM."},
	{id: "apple-keychain", name: "Keychain of macOS", class: vaultClass, magic: []string{"kych"}, what: "A store of " +
		"passwords and keys of macOS."},
	{id: "browser-key", name: "Key of a browser's logins", class: vaultClass, base: "key4.db key3.db",
		what: "Firefox and Thunderbird keep the key of the stored logins here; without a primary password it opens " +
			"them for everybody."},
	{id: "browser-database", name: "Logins stored by a browser", class: vaultClass, base: "login data|web " +
		"data|cookies.sqlite|login data for account|signons.sqlite", magic: []string{"SQLite format 3\x00"},
		what: "A browser keeps stored logins or open sessions here."},
	{id: "cloud-database", name: "Stored cloud credential", class: cloudClass,
		base:  "credentials.db|access_tokens.db|msal_token_cache.bin|accesstokens.db",
		magic: []string{"SQLite format 3\x00"}, what: "The command line of a cloud keeps its tokens here."},
	{id: "kerberos-keytab", name: "Kerberos keys", class: keyClass, ends: ".keytab",
		magic: []string{"\x05\x02\x00", "\x05\x01\x00"}, what: "The keys of services in a Kerberos realm."},
	{id: "kerberos-cache", name: "Kerberos tickets", class: vaultClass, magic: []string{"\x05\x04\x00\x0C"},
		what: "Tickets with which their owner is signed in."},
	{id: "gnupg-keys", name: "GnuPG private keys", class: keyClass, base: "secring.gpg secring.kbx secring.skr",
		what: "A ring of private keys."},
	{id: "gnupg-private", name: "GnuPG private key", class: keyClass,
		magic: []string{"(21:protected-private-key", "(11:private-key"}, what: "A private key as GnuPG's agent " +
			"keeps it."},
	{id: "wallet", name: "Wallet of a cryptocurrency", class: vaultClass, base: "wallet.dat wallet.keys electrum.dat",
		what: "The keys of a wallet."},
	{id: "ethereum-keystore", name: "Wallet of a cryptocurrency", class: lockedClass, ends: "", base: "",
		magic: []string{`{"address":"`, `{"version":3,"id":"`, `{"crypto":{`}, inside: `"ciphertext"`,
		what: "An encrypted key of an account."},
	{id: "vnc-password", name: "VNC password", class: passwordClass, base: ".vnc/passwd", what: "The password of a " +
		"remote desktop, scrambled with a fixed key."},
	{id: "mysql-login-path", name: "MySQL login path", class: passwordClass, base: ".mylogin.cnf",
		what: "Passwords of MySQL, encrypted with a key that stands in the same file."},
	{id: "disk-encryption-header", name: "Header of an encrypted disk", class: lockedClass,
		magic: []string{"LUKS\xBA\xBE"}, what: "The header of an encrypted disk, with its keys."},
	{id: "tls-key-log", name: "Log of TLS keys", class: keyClass,
		magic: []string{"CLIENT_RANDOM ", "# SSL/TLS secrets log file"}, what: "Keys of recorded connections, which " +
			"they open."},
	{id: "samba-database", name: "Passwords of a Samba server", class: vaultClass, base: "secrets.tdb passdb.tdb",
		magic: []string{"TDB file\n"}, what: "A file server's users and secrets."},
	{id: "windows-accounts", name: "Windows accounts", class: vaultClass,
		base: "sam|ntds.dit|security|system.hive|sam.hive", magic: []string{"regf", "\x00\x00\x00\x00\xEF\xCD\xAB\x89"},
		what: "The hashes of the passwords of a machine or a domain."},
})

// describeSignatures makes the rules of the rows.
func describeSignatures(rows []*signature) []*signature {
	for _, s := range rows {
		s.rule = s.class.newRule(s.id, s.name, s.what)
	}
	return rows
}

// MagicSize is the number of bytes that Store looks at.
const MagicSize = 2048

// hasStoreName reports whether the name alone speaks of a store.
func (f *file) hasStoreName() bool {
	for _, s := range signatures {
		if (s.ends != "" || s.base != "") && s.matchesName(f) {
			return true
		}
	}
	return false
}

// matchesName reports whether the name is one of the store's.
func (s *signature) matchesName(f *file) bool {
	if s.ends == "" && s.base == "" {
		return true
	}
	for _, end := range strings.Fields(s.ends) {
		if strings.HasSuffix(f.base, end) || path.Ext(f.base) == end {
			return true
		}
	}
	split := strings.Fields
	if strings.Contains(s.base, "|") {
		split = func(names string) []string { return strings.Split(names, "|") }
	}
	for _, base := range split(s.base) {
		if f.base == base || strings.Contains(base, "/") && strings.HasSuffix(f.path, "/"+base) {
			return true
		}
	}
	return false
}

// MatchStore returns the store of keys or passwords that the file is, by its name and
// its first bytes, and nil when it is none.
func MatchStore(name string, head []byte) *finding.Rule {
	f := newFile(name, "")
	head = head[:min(len(head), MagicSize)]
	if len(head) == 0 {
		return nil
	}
	for _, s := range signatures {
		if s.matchesName(f) && s.matchesHead(head) {
			return s.rule
		}
	}
	return nil
}

// matchesHead reports whether a file begins as the signature says.
func (s *signature) matchesHead(head []byte) bool {
	if len(s.magic) == 0 {
		return true
	}
	for _, m := range s.magic {
		if bytes.HasPrefix(head, []byte(m)) {
			// The version of a key or store stands in the first bytes, behind the
			// length of the sequence (X.690, RFC 5208, RFC 7292).
			return s.inside == "" || bytes.Contains(head[:min(len(head), contentOffset(s.inside))], []byte(s.inside))
		}
	}
	return false
}

// contentOffset returns how many bytes from the start a mark may stand: a version of three
// bytes stands behind the outer length, a longer name anywhere in the head.
func contentOffset(inside string) int {
	if len(inside) == 3 {
		return 8
	}
	return MagicSize
}
