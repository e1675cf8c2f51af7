package hosts

import "regexp"

// ok: regular-expression-escape
var escaped = regexp.MustCompile("\\bforbidden\\.example")

// ok: regular-expression-escape
var raw = regexp.MustCompile(`\bforbidden\.example`)

// ok: regular-expression-escape
var bell = regexp.MustCompile("\x07")
