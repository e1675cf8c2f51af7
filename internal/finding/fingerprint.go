package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
)

// A Fingerprint names a flaw so that the next scan knows it again. Both parts
// are 32 hexadecimal digits and reveal nothing of the code.
//
// Place tells two flaws of one scan apart: rule, file, the flawed code without
// white space, and how many equal ones stand above it in the file. It survives
// moved lines and reformatting. Flaw leaves out file and count: it survives a
// renamed file too, and is what triage falls back on when Place is gone.
type Fingerprint struct {
	Place string `json:"place"`
	Flaw  string `json:"flaw"`
}

// NewFingerprint returns the fingerprint of the ordinal-th (from 0) flaw with the
// identity that the rule reports in the file.
func NewFingerprint(ruleID, path, identity string, ordinal int) Fingerprint {
	identity = removeSpace(identity)
	return Fingerprint{
		Place: hashParts("place", ruleID, path, identity, strconv.Itoa(ordinal)),
		Flaw:  hashParts("flaw", ruleID, identity),
	}
}

// hashParts hashes the parts, each with its length, to 128 bits.
func hashParts(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// removeSpace removes all white space, so that reformatted code is the same code.
func removeSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// InComponent returns the fingerprint of the flaw in the part of a project with the name,
// such as a container image among others: two parts may hold files of one name.
// What is flawed in both stays the same Flaw.
func (f Fingerprint) InComponent(part string) Fingerprint {
	return Fingerprint{Place: hashParts("part", part, f.Place), Flaw: f.Flaw}
}
