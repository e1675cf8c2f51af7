package inventory

import (
	"bytes"
	"encoding/binary"
	"path"
	"strings"
	"unicode/utf16"

	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// This file says which lines of a requirements file the library's reader leaves
// out (https://pip.pypa.io/en/stable/reference/requirements-file-format/).

var (
	includeLine = lazyregexp.New(`^(?:-r|--requirement|-c|--constraint)[ =]*(\S+)`)
	optionLine  = lazyregexp.New(`^--?(?:i|index-url|extra-index-url|f|find-links|trusted-host|pre|no-index|only-binary|no-binary|prefer-binary|require-hashes|use-feature)\b`)
)

// glued matches a version with a comment right behind it. No version holds a number
// sign; pip wants a space before a comment, and people forget it.
var glued = lazyregexp.New(`(==[ \t]*[0-9][^\s#;,]*)#`)

// normalizeText puts a space before comments without one, and makes UTF-8 of the UTF-16
// that the shell of Windows writes: pip goes by the mark at the beginning.
func normalizeText(content []byte) []byte {
	if bytes.HasPrefix(content, []byte{0xff, 0xfe}) || bytes.HasPrefix(content, []byte{0xfe, 0xff}) {
		little := content[0] == 0xff
		units := make([]uint16, 0, len(content)/2)
		for i := 2; i+1 < len(content); i += 2 {
			unit := binary.BigEndian.Uint16(content[i:])
			if little {
				unit = binary.LittleEndian.Uint16(content[i:])
			}
			units = append(units, unit)
		}
		content = []byte(string(utf16.Decode(units)))
	}
	return glued.Compiled().ReplaceAll(content, []byte("$1 #"))
}

// reportLeftOut degrades what a requirements file names by address, and files that it
// includes and that are not there.
func (inv *inventory) reportLeftOut(file string, content []byte) {
	var addresses, missing []string
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if i := strings.Index(line, " #"); i >= 0 {
			line = strings.TrimSpace(line[:i])
		}
		m := includeLine.FindStringSubmatch(line)
		switch {
		case line == "" || line[0] == '#' || optionLine.MatchString(line):
		case m != nil:
			if target := path.Join(path.Dir(file), m[1]); !inv.files[target] {
				missing = append(missing, m[1])
			}
		case strings.Contains(line, "://"), strings.HasPrefix(line, "-e"), strings.HasPrefix(line, "--editable"):
			addresses = append(addresses, withoutSecret(line))
		}
	}
	if len(addresses) > 0 {
		inv.Degrade(scan.Reason{Code: scan.NoVersion, Skipped: true, Path: file,
			Message: "names these by address, so they were not " +
				"checked: " + List(addresses)})
	}
	if len(missing) > 0 {
		inv.Degrade(scan.Reason{Code: "unreadable", Path: file, Message: "includes files that are not " +
			"there: " + List(missing)})
	}
}

// userPart matches a user and password in an address.
var userPart = lazyregexp.New(`://[^/@\s]*@`)

// withoutSecret removes name and password from an address.
func withoutSecret(line string) string { return OneLine(userPart.ReplaceAllString(line, "://")) }
