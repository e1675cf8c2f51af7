package credfile

import (
	"bytes"
	"path"
	"strings"

	"merlon/internal/finding"
)

// This file knows stores of keys and passwords by their first bytes, or by their
// names where they have no sign.
//
// Keystores and password databases are found without being opened: a file of the kind in a
// repository is the finding, whether its password is weak or not. Text files in which single
// secrets are marked are left to the formats.

// signature is a kind of store.
// A row matches if both name and first bytes do, each as far as given; a row needs at least
// one of the two.
type signature struct {
	// The id becomes the rule id and stays; name is the title.
	id, name string
	// Severity, remediation and references.
	class *secretClass
	// Separated by spaces; compared with the lower-case name.
	ends string // of names; empty: any name
	// Separated by spaces, or by "|" where names contain spaces. One with a folder is compared
	// with the end of the path.
	base string // whole names; empty: any
	// One of these byte strings at offset 0; empty: any content.
	magic  []string
	inside string // further down in the first bytes; may be empty
	// A sentence for people, which says what a thief gains.
	what string
	// Set by describeSignatures.
	rule *finding.Rule
}

// signatures are the stores of keys and passwords that are no text, by their names and
// first bytes.
var signatures = describeSignatures([]*signature{
	{id: "keepass-database", name: "KeePass database", class: vaultClass,
		magic: []string{"\x03\xD9\xA2\x9A\x67\xFB\x4B\xB5", "\x03\xD9\xA2\x9A\x65\xFB\x4B\xB5",
			"\x03\xD9\xA2\x9A\x66\xFB\x4B\xB5"},
		what: "The file is the database of a password manager."},
	{id: "password-safe", name: "Password Safe database", class: vaultClass, magic: []string{"PWS3"},
		what: "The file is the database of a password manager."},
	{id: "onepassword-vault", name: "1Password vault", class: vaultClass, ends: ".agilekeychain .opvault .1pif .1pux " +
		".agilekeychain.zip", base: "encryptionkeys.js 1password.keys",
		what: "The file is a vault or export of a password manager."},
	{id: "password-manager-file", name: "Password manager database", class: vaultClass, ends: ".kdb .kdbx .psafe3 " +
		".enpassdb .walletx .dashlane .keychain .keychain-db .kwallet .kwl",
		what: "The file is the database of a password manager."},
	{id: "java-key-store", name: "Java keystore", class: vaultClass,
		magic: []string{"\xFE\xED\xFE\xED", "\xCE\xCE\xCE\xCE"},
		what: "The file is a Java keystore. It may contain certificates only, which its format does not " +
			"show."},
	{id: "bouncy-castle-store", name: "Keystore", class: vaultClass, ends: ".bks .uber .jceks",
		what: "The file is a keystore of Java or Android."},
	{id: "pkcs12-store", name: "PKCS #12 keystore", class: vaultClass, ends: ".p12 .pfx .pkcs12 .ovpn12 " +
		".keystore", magic: []string{"\x30\x82", "\x30\x83", "\x30\x80"}, inside: "\x02\x01\x03",
		what: "The file contains a private key with its certificates."},
	{id: "der-private-key", name: "Private key in DER format", class: keyClass, ends: ".der .key .pk8 .p8 " +
		".pkcs8 .priv", magic: []string{"\x30\x82", "\x30\x81", "\x30\x77", "\x30\x2E"}, inside: "\x02\x01\x00",
		what: "The file is a private key in DER, the binary encoding of PEM."},
	{id: "apple-keychain", name: "macOS keychain", class: vaultClass, magic: []string{"kych"},
		what: "The file is a macOS keychain with passwords and keys."},
	{id: "browser-key", name: "Key of stored browser logins", class: vaultClass, base: "key4.db key3.db",
		what: "The file contains the key of the logins stored by Firefox or Thunderbird. It is not " +
			"protected without a primary password."},
	{id: "browser-database", name: "Stored browser logins", class: vaultClass, base: "login data|web " +
		"data|cookies.sqlite|login data for account|signons.sqlite", magic: []string{"SQLite format 3\x00"},
		what: "The file contains logins or session cookies stored by a browser."},
	{id: "cloud-database", name: "Stored cloud credential", class: cloudClass,
		base:  "credentials.db|access_tokens.db|msal_token_cache.bin|accesstokens.db",
		magic: []string{"SQLite format 3\x00"},
		what:  "The file contains tokens of a cloud CLI."},
	{id: "kerberos-keytab", name: "Kerberos keytab", class: keyClass, ends: ".keytab",
		magic: []string{"\x05\x02\x00", "\x05\x01\x00"},
		what:  "The file contains keys of services in a Kerberos realm."},
	{id: "kerberos-cache", name: "Kerberos ticket cache", class: vaultClass, magic: []string{"\x05\x04\x00\x0C"},
		what: "The file contains Kerberos tickets that authenticate their owner."},
	{id: "gnupg-keys", name: "GnuPG secret keyring", class: keyClass, base: "secring.gpg secring.kbx secring.skr",
		what: "The file is a keyring with private keys."},
	{id: "gnupg-private", name: "GnuPG private key", class: keyClass,
		magic: []string{"(21:protected-private-key", "(11:private-key"},
		what:  "The file is a private key of gpg-agent."},
	{id: "wallet", name: "Cryptocurrency wallet", class: vaultClass, base: "wallet.dat wallet.keys electrum.dat",
		what: "The file contains the private keys of a wallet."},
	{id: "ethereum-keystore", name: "Encrypted cryptocurrency wallet", class: lockedClass, ends: "", base: "",
		magic: []string{`{"address":"`, `{"version":3,"id":"`, `{"crypto":{`}, inside: `"ciphertext"`,
		what: "The file contains the encrypted private key of an account."},
	{id: "vnc-password", name: "VNC password", class: passwordClass, base: ".vnc/passwd",
		what: "The file contains a VNC password that is only obfuscated with a fixed key."},
	{id: "mysql-login-path", name: "MySQL login path", class: passwordClass, base: ".mylogin.cnf",
		what: "The file contains MySQL passwords, encrypted with a key in the same file."},
	{id: "disk-encryption-header", name: "LUKS header", class: lockedClass,
		magic: []string{"LUKS\xBA\xBE"},
		what:  "The file contains the LUKS header of an encrypted disk with its key slots."},
	{id: "tls-key-log", name: "TLS key log", class: keyClass,
		magic: []string{"CLIENT_RANDOM ", "# SSL/TLS secrets log file"},
		what:  "The file contains session keys that decrypt recorded TLS connections."},
	{id: "samba-database", name: "Samba password database", class: vaultClass, base: "secrets.tdb passdb.tdb",
		magic: []string{"TDB file\n"},
		what:  "The file contains users and secrets of a Samba server."},
	{id: "windows-accounts", name: "Windows password database", class: vaultClass,
		base: "sam|ntds.dit|security|system.hive|sam.hive", magic: []string{"regf", "\x00\x00\x00\x00\xEF\xCD\xAB\x89"},
		what: "The file contains password hashes of a Windows host or domain."},
})

// describeSignatures makes the rules of the rows.
func describeSignatures(rows []*signature) []*signature {
	for _, s := range rows {
		s.rule = s.class.newRule(s.id, s.name, s.what)
	}
	return rows
}

// MagicSize is the number of bytes that Store looks at.
// 2 KiB cover the header of every store in the table, and are read for each binary file of a
// repository.
const MagicSize = 2048

// hasStoreName reports whether the name alone speaks of a store.
// Such a file counts as a credential file, whatever its ending.
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
	// Rows with first bytes alone fit every name.
	if s.ends == "" && s.base == "" {
		return true
	}
	for _, end := range strings.Fields(s.ends) {
		if strings.HasSuffix(f.base, end) || path.Ext(f.base) == end {
			return true
		}
	}
	// Browser databases have spaces in their names: "login data".
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
// The first row that matches is returned, so that special stores precede general ones.
func MatchStore(name string, head []byte) *finding.Rule {
	f := newFile(name, "")
	head = head[:min(len(head), MagicSize)]
	// An empty file has the name of a store, but nothing in it.
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
// A version is an INTEGER of one byte: tag 02, length 01, value. It begins after 2 to 4 bytes
// of tag and length of the outer SEQUENCE.
func contentOffset(inside string) int {
	if len(inside) == 3 {
		return 8
	}
	return MagicSize
}
