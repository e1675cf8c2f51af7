package credentials

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"merlon/internal/engine/secrets/credfile"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file looks at the changes of a file, for the analyzer of the history.

// A Change is a version of a file with what is new in it.
type Change struct {
	Path string
	Text string // of the whole file, as Text returns it
	// New holds the ranges of whole lines that are new, in order, as pairs of
	// offsets; around them, Near holds the same ranges with some lines more.
	New, Near [][2]int
}

// A Secret is a credential that a change brings.
type Secret struct {
	Rule    *finding.Rule
	Finding finding.Finding // with its Secret.Key
	Value   string          // it must not leave the process
}

// IsScanned reports whether the analyzer looks at files of that name.
func IsScanned(name string) bool { return isScannedName(name) }

// DecodeText returns the text of a file, and false for one that is not text.
func DecodeText(b []byte) (string, bool) { return decodeText(b) }

// FindKeyStore returns the finding of a store of keys or passwords that the file is.
func FindKeyStore(name string, b []byte) (Secret, bool) {
	e, err := load()
	rule := credfile.MatchStore(name, b[:min(len(b), credfile.MagicSize)])
	if err != nil || rule == nil {
		return Secret{}, false
	}
	p := &scannedFile{e, name, scan.NewLines(nil), scan.NewLines(nil)}
	rule, f := p.newFinding(secret{rule: shortID(rule)})
	return Secret{Rule: rule, Finding: f}, true
}

// Find returns the credentials that the change brings. What they are is decided
// by the new lines, with those around them; formats that are understood as a
// whole only are read as a whole when a new line speaks of what they hold.
func Find(ctx context.Context, c *Change) ([]Secret, error) {
	e, err := load()
	if err != nil {
		return nil, err
	}
	x := c.changedExcerpt()
	found, err := e.scanWindows(ctx, c.Path, x.text)
	if err != nil {
		return nil, err
	}
	for i := range found {
		s := &found[i]
		if s.at != (span{}) {
			s.at = x.originalSpan(s.at)
		}
		for k := range s.others {
			s.others[k] = x.originalSpan(s.others[k])
		}
	}
	whole := true
	if credfile.MayConcern(c.Path, x.text) {
		var formats []secret
		formats, whole = findByFormat(c.Path, c.Text)
		found = append(found, formats...)
	}
	var fresh []secret
	for _, s := range e.dropDuplicates(c.Text, sortByPosition(found)) {
		if s.at.start == s.at.end || c.touchesNewLine(s.at) {
			fresh = append(fresh, s)
		}
	}
	out := e.describeSecrets(c, fresh)
	if !whole {
		return out, errWork
	}
	return out, nil
}

// IsPartial reports whether the error tells that only the first part of a file was
// looked at.
func IsPartial(err error) bool { return errors.Is(err, errWork) }

// changedExcerpt returns the new lines with those around them.
func (c *Change) changedExcerpt() excerpt {
	var x excerpt
	var b strings.Builder
	for _, r := range c.Near {
		x.at, x.from = append(x.at, b.Len()), append(x.from, r[0])
		b.WriteString(c.Text[r[0]:r[1]])
		if r[1] < len(c.Text) {
			b.WriteString(separator)
		}
	}
	x.text = b.String()
	return x
}

// touchesNewLine reports whether the span touches a new line.
func (c *Change) touchesNewLine(s span) bool {
	for _, r := range c.New {
		if s.start < r[1] && s.end > r[0] {
			return true
		}
	}
	return false
}

// describeSecrets makes the findings.
func (e *engine) describeSecrets(c *Change, secrets []secret) []Secret {
	if len(secrets) == 0 {
		return nil
	}
	p := &scannedFile{e, c.Path, scan.NewLines([]byte(c.Text)), scan.NewLines([]byte(redactSecrets(c.Text, secrets)))}
	var out []Secret
	for _, s := range secrets {
		rule, f := p.newFinding(s)
		f.Location.Path = c.Path
		out = append(out, Secret{rule, f, s.value})
	}
	return out
}

// salt makes keys of secrets useless outside of the process.
var salt = func() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return b
}()

// secretKey names a secret within the process: by its value where that is random, else
// by its file too, because people make up the same password more than once.
func (p *scannedFile) secretKey(s secret, random bool) string {
	m := hmac.New(sha256.New, salt)
	parts := []string{s.rule, s.value}
	if !random {
		parts = append(parts, p.path)
	}
	m.Write([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(m.Sum(nil))
}
