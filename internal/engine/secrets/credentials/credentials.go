// Package credentials finds credentials that are written in files: keys, tokens
// and passwords of some 380 services, private keys, and what looks like a secret
// by its name and its randomness.
//
// The rules and the matching are betterleaks' (MIT), run in process on bytes
// that the driver has read: it opens no file and makes no request. This package
// adds what a report needs: names, severity, weakness and remedy of each rule,
// exact places, and redaction. A secret leaves it only as its first four
// characters and its length.
package credentials

import (
	"bytes"
	_ "embed" // the manual
	"errors"
	"path"
	"strings"
	"unicode/utf16"

	"merlon/internal/engine/secrets/credfile"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/severity"
)

//go:embed doc.md
var doc string

// Analyzer finds credentials in files.
var Analyzer = &scan.Analyzer{
	ID:       "secrets/credentials",
	Version:  3,
	Analysis: finding.Secret,
	Doc:      doc,
	Rules:    listRules,
	Match:    isScannedName,
	File:     analyzeFile,
}

// isScannedName leaves out what the manual lists: by name, what holds no text that
// somebody wrote.
func isScannedName(name string) bool {
	lower := strings.ToLower(name)
	if isGenerated(lower) {
		return false
	}
	known := credfile.IsCredentialFile(name)
	if !known && binary[path.Ext(lower)] {
		return false
	}
	e, err := load()
	if err != nil {
		return true // run tells the error
	}
	return !e.skip(map[string]string{"path": name}) || known && !isInstalled(lower)
}

// binary lists the ends of names that stand for no text, beyond those of the
// rule set: archives, compiled programs, sound and film.
var binary = func() map[string]bool {
	m := map[string]bool{}
	for _, ext := range strings.Fields(`7z a aar apk ar avi avif bz2 class crx deb dmg dylib ear flac gz ico img ipa iso jar jks
		lib lz4 m4a mkv mov mp3 mp4 mpeg nupkg o obj ogg parquet psd pyc pyo qcow2 rar rpm so tar tgz tif tiff vhd vmdk war wasm
		wav webm webp whl woff woff2 xz zip zst`) {
		m["."+ext] = true
	}
	return m
}()

// analyzeFile reports the secrets of one file.
func analyzeFile(p *scan.FilePass) error {
	e, err := load()
	if err != nil {
		return err
	}
	b, err := p.ReadFile()
	if err != nil {
		return err
	}
	return e.reportSecrets(p, b)
}

// reportSecrets reports the credentials of a file.
func (e *engine) reportSecrets(pass *scan.FilePass, b []byte) error {
	name := pass.Path
	var secrets []secret
	var failed error
	text, ok := decodeText(b)
	if rule := credfile.MatchStore(name, b[:min(len(b), credfile.MagicSize)]); rule != nil {
		secrets = append(secrets, secret{rule: shortID(rule)})
	}
	if ok || isKeyStoreName(name) && len(secrets) == 0 {
		var found []secret
		if found, failed = e.findSecrets(pass.Context, name, text); failed != nil && !errors.Is(failed, errWork) {
			return failed
		}
		secrets = append(secrets, found...)
	}
	if len(secrets) == 0 {
		return failed
	}
	p := &scannedFile{e, name, scan.NewLines([]byte(text)), scan.NewLines([]byte(redactSecrets(text, secrets)))}
	for _, s := range secrets {
		rule, f := p.newFinding(s)
		if pass.Verify != nil && s.value != "" {
			f.Secret.Validity = pass.Verify.Verify(pass.Context, rule.ID, s.value)
			if f.Secret.Validity == finding.Valid {
				f.Terms = append(f.Terms, finding.SeverityTerm{Points: severity.Raised,
					Reason: "its issuer accepts it"})
			}
		}
		pass.Report(rule, f)
	}
	return failed
}

// isKeyStoreName reports whether the name is that of a key store, which the rule set finds
// by its name and has no text.
func isKeyStoreName(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".p12" || ext == ".pfx"
}

// decodeText returns the text of a file in UTF-8, and false for one that is not
// text. UTF-16 is read when the file says so with its first two bytes.
func decodeText(b []byte) (string, bool) {
	if little, big := bytes.HasPrefix(b, []byte{0xFF, 0xFE}), bytes.HasPrefix(b, []byte{0xFE, 0xFF}); little || big {
		units := make([]uint16, 0, len(b)/2)
		for i := 2; i+1 < len(b); i += 2 {
			lo, hi := b[i], b[i+1]
			if big {
				lo, hi = hi, lo
			}
			units = append(units, uint16(hi)<<8|uint16(lo))
		}
		return string(utf16.Decode(units)), true
	}
	if bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 {
		return "", false
	}
	return string(b), true
}
