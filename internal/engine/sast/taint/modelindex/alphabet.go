package modelindex

import (
	"merlon/internal/engine/sast/pcre"
	"merlon/internal/engine/sast/taint/value"
)

// This file knows which characters are left in a text that a regular expression lets
// pass, or from which one has removed some.

// dangers has, by kind of sinks, the characters of which data must hold one to do
// harm. A text of letters and digits alone does none anywhere but as a name of a member:
// those kinds are not here.
var dangers = map[string]string{
	"command":  " \t\r\n;|&$`<>()\\'\"*?[]{}#!~",
	"sql":      "'\"`\\;()<>=-/*#\x00",
	"path":     "/\\",
	"html":     "<\"'`",
	"url":      ":",
	"script":   "'\"`\\<;()/",
	"code":     "()[]{}.;=`'\"+/\\,\n",
	"template": "{}<>%$#",
	"redirect": "/\\:",
	"ssrf":     "./\\:@?#",
	"header":   "\r\n", "log": "\r\n", "mail": "\r\n", "cookie": "\r\n;",
	"xpath":      "'\"/[]()@|",
	"ldap":       "*()\\&|=!",
	"nosql":      "[${",
	"regexp":     "+*{}()[]|\\^$?",
	"format":     "%{",
	"argument":   "-",
	"expression": "(){}.$#",
	"module":     "./\\",
}

// HarmlessKinds returns the bits of the kinds of sinks at which a text of only these
// characters does no harm.
func (r *Index) HarmlessKinds(a pcre.Alphabet) uint64 {
	bits := uint64(0)
	for kind, chars := range dangers {
		if !a.HasAny(chars) || kind == "path" && !a.HasAny(".") {
			bits |= r.KindBits(kind)
		}
	}
	return bits
}

// AdmittedKinds returns the bits of the kinds for which a text is harmless that an expression
// matches, or one that it does not match.
func (r *Index) AdmittedKinds(v *value.Value, whole, not bool) uint64 {
	expr, flags, ok := v.Pattern()
	if !ok {
		return 0
	}
	if whole {
		expr = "^(?:" + expr + ")$"
	}
	if not {
		if a, ok := pcre.Class(expr, flags); ok {
			return r.HarmlessKinds(a.Without())
		}
		return 0
	}
	if a, ok := pcre.Admits(expr, flags); ok {
		return r.HarmlessKinds(a)
	}
	return 0
}

// EscapedCharacters has the character that must not stay as it is, where programs escape what
// harms: with it, the others can do no harm in the places where such texts go.
var EscapedCharacters = map[string]string{"html": "<", "sql": "'"}
