// Package license reads under which licence a package says that it is, as SPDX
// license expressions (https://spdx.github.io/spdx-spec/v2.3/SPDX-license-expressions/).
package license

import (
	"regexp"
	"slices"
	"strings"

	"github.com/github/go-spdx/v2/spdxexp"
)

// maxDeclaration bounds what is taken for a declaration: some packages put the
// whole text there.
// Real expressions are far shorter.
const maxDeclaration = 300

// unknown begins the name of a licence that SPDX does not list.
const unknown = "LicenseRef-"

// Known reports whether an expression names only licences that SPDX lists.
func Known(expression string) bool {
	return expression != "" && !strings.Contains(expression, unknown)
}

// Expression returns the SPDX expression of what a package declares: an expression,
// or the name of a licence as people write it. What is neither gets a name of its
// own, LicenseRef-…; nothing is "".
func Expression(text string) string {
	text = strings.Join(strings.Fields(strings.Trim(text, `"' `)), " ")
	switch {
	case text == "", len(text) > maxDeclaration, nothing[strings.ToLower(text)],
		strings.HasPrefix(strings.ToUpper(text), "SEE LICENSE"):
		return ""
	}
	if e, ok := validExpression(text); ok {
		return e
	}
	if id := byName(text); id != "" {
		return id
	}
	if e := joinedExpression(text); e != "" {
		return e
	}
	name := strings.Trim(notIdentifier.ReplaceAllString(text, "-"), "-.")
	if len(name) > 80 {
		name = strings.Trim(name[:80], "-.")
	}
	if name == "" {
		return ""
	}
	return unknown + name
}

// nothing lists what says nothing.
// The keys are in lower case. A text of this list is as good as no declaration.
var nothing = map[string]bool{"unknown": true, "none": true, "n/a": true, "other": true, "license": true,
	"dual license": true, "noassertion": true, "see license": true}

// Any returns the expression of several licences of which one may be chosen.
func Any(list []string) string {
	var out []string
	for _, text := range list {
		e := Expression(text)
		if e == "" || slices.Contains(out, e) {
			continue
		}
		out = append(out, e)
	}
	if len(out) < 2 {
		return strings.Join(out, "")
	}
	// Operators bind differently: parentheses keep a compound expression together.
	for i, e := range out {
		if strings.Contains(e, " ") {
			out[i] = "(" + e + ")"
		}
	}
	return strings.Join(out, " OR ")
}

var (
	word          = regexp.MustCompile(`[A-Za-z0-9.+-]+`)
	notIdentifier = regexp.MustCompile(`[^A-Za-z0-9.-]+`)
	operator      = regexp.MustCompile(`(?i)^(and|or|with)$`)
)

// validExpression returns an expression as the list of SPDX writes its names; false when
// it is none.
func validExpression(text string) (string, bool) {
	if strings.Count(text, "(") > 20 {
		return "", false // the parser of the library is recursive
	}
	text = word.ReplaceAllStringFunc(text, func(id string) string {
		if operator.MatchString(id) {
			return strings.ToUpper(id)
		}
		// "GPL-2.0+": the operator is part of the word here.
		plain, later := strings.CutSuffix(id, "+")
		if ok, listed := spdxexp.ActiveLicense(plain); ok {
			if later {
				return listed + "+"
			}
			return listed
		}
		return id
	})
	return text, parsesAsExpression(text)
}

// parsesAsExpression reports whether the library reads a text as an expression. It panics
// on some that are none, such as "((".
func parsesAsExpression(text string) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	ok, _ = spdxexp.ValidateLicenses([]string{text})
	return ok
}

// joinedExpression reads "MIT or Apache-2.0", "MIT/Apache-2.0" and the like.
func joinedExpression(text string) string {
	for _, by := range []struct{ pattern, operator string }{{`(?i)\s+or\s+|\s*/\s*|\s*\|+\s*`, " OR "},
		{`(?i)\s+and\s+|\s*&\s*|\s*;\s*|\s*,\s*`, " AND "}} {
		// "or" is tried first: "A and B or C" is split into "A and B" and "C".
		parts := regexp.MustCompile(by.pattern).Split(strings.Trim(text, "()"), 10)
		if len(parts) < 2 {
			continue
		}
		var out []string
		for _, p := range parts {
			e, ok := validExpression(p)
			if !ok {
				e = byName(p)
			}
			if e == "" {
				out = nil
				break
			}
			out = append(out, e)
		}
		if out != nil {
			return strings.Join(out, by.operator)
		}
	}
	return ""
}

var (
	// "Apache License 2.0 (ASL 2.0)"
	inBrackets = regexp.MustCompile(`\s*\([^()]*\)\s*$`)
	separator  = regexp.MustCompile(`[^a-z0-9.+]+`)
	filler     = regexp.MustCompile(`\b(?:the|license|licence|licenses|licensed|version|software|under|terms|agreement|clause)\b`)
	// "v2", "v. 2"
	versioned = regexp.MustCompile(`\bv\.?\s*([0-9])`)
	// "GPLv3", "Apache2"
	glued  = regexp.MustCompile(`\b(a?l?gpl|mpl|epl|cddl|apache|asl|bsd|eupl|afl|zpl)\s*v?\s*([0-9])`)
	number = regexp.MustCompile(`\b([0-9](?:\.[0-9])?)\b`)
)

// byName returns the identifier of a licence that is named as people do, or "".
func byName(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	if short := inBrackets.ReplaceAllString(text, ""); short != "" {
		text = short
	}
	later := strings.Contains(text, "later") || strings.Contains(text, "newer") || strings.HasSuffix(text, "+")
	// "The Apache Software License, Version 2.0" becomes "apache 2.0".
	text = filler.ReplaceAllString(separator.ReplaceAllString(text, " "), " ")
	text = glued.ReplaceAllString(versioned.ReplaceAllString(text, "$1"), "$1 $2")
	text = strings.Join(strings.Fields(text), " ")
	if id := byWords[text]; id != "" {
		return id
	}
	return gnuLicense(text, later)
}

// gnuFamily tells which of the GNU licenses a text names, "" for none.
func gnuFamily(text string) string {
	switch {
	case strings.Contains(text, "affero") || strings.Contains(text, "agpl"):
		return "AGPL"
	case strings.Contains(text, "lesser") || strings.Contains(text, "library general") ||
		strings.Contains(text, "lgpl"):
		return "LGPL"
	case strings.Contains(text, "gpl") || strings.Contains(text, "gnu general public"):
		return "GPL"
	}
	return ""
}

// gnuLicense reads the names of the GNU licences.
func gnuLicense(text string, later bool) string {
	family, m := gnuFamily(text), number.FindString(text)
	// An exception ("with Classpath exception") has other terms than the plain licence.
	if family == "" || m == "" || strings.Contains(text, "exception") {
		return ""
	}
	if !strings.Contains(m, ".") {
		m += ".0"
	}
	id := family + "-" + m
	if later {
		id += "-or-later"
	} else {
		id += "-only"
	}
	if ok, _ := spdxexp.ActiveLicense(id); !ok {
		return ""
	}
	return id
}

// byWords gives the identifier by the words of a name that tell it.
// The key is what byName leaves of a name: lower case, without filler words, versions apart.
var byWords = map[string]string{
	"mit": "MIT", "expat": "MIT", "mit x11": "MIT", "mit expat": "MIT", "bouncy castle": "MIT",
	"bouncy castle licence": "MIT",
	"mit no attribution":    "MIT-0",
	"apache 2":              "Apache-2.0", "apache 2.0": "Apache-2.0", "apache": "Apache-2.0", "asl 2.0": "Apache-2.0",
	"asl 2": "Apache-2.0", "al 2.0": "Apache-2.0",
	"apache foundation 2.0": "Apache-2.0", "apache public 2.0": "Apache-2.0", "apache 2.0 only": "Apache-2.0",
	"apache 1.1": "Apache-1.1",
	"bsd 3":      "BSD-3-Clause", "3 bsd": "BSD-3-Clause", "new bsd": "BSD-3-Clause", "modified bsd": "BSD-3-Clause",
	"revised bsd": "BSD-3-Clause",
	"bsd 3 new":   "BSD-3-Clause", "bsd new": "BSD-3-Clause", "bsd 3 new or revised": "BSD-3-Clause",
	"eclipse distribution 1.0": "BSD-3-Clause", "edl 1.0": "BSD-3-Clause",
	"eclipse distribution": "BSD-3-Clause",
	"bsd 2":                "BSD-2-Clause", "2 bsd": "BSD-2-Clause", "simplified bsd": "BSD-2-Clause",
	"freebsd": "BSD-2-Clause", "bsd 2 simplified": "BSD-2-Clause",
	"0bsd": "0BSD", "isc": "ISC", "iscl": "ISC",
	"mozilla public 2.0": "MPL-2.0", "mpl 2.0": "MPL-2.0", "mpl 2": "MPL-2.0", "mozilla public 1.1": "MPL-1.1",
	"mpl 1.1":            "MPL-1.1",
	"eclipse public 1.0": "EPL-1.0", "epl 1.0": "EPL-1.0", "eclipse public 2.0": "EPL-2.0", "epl 2.0": "EPL-2.0",
	"common development and distribution 1.0": "CDDL-1.0", "cddl 1.0": "CDDL-1.0", "cddl 1.1": "CDDL-1.1",
	"common development and distribution 1.1": "CDDL-1.1",
	"cc0": "CC0-1.0", "cc0 1.0 universal": "CC0-1.0", "cc0 1.0": "CC0-1.0", "creative commons zero 1.0 " +
		"universal": "CC0-1.0", "unlicense": "Unlicense", "wtfpl": "WTFPL",
	"zlib": "Zlib", "zlib libpng": "Zlib", "boost 1.0": "BSL-1.0", "boost": "BSL-1.0",
	"python foundation": "PSF-2.0", "psf": "PSF-2.0", "psfl": "PSF-2.0", "psf 2": "PSF-2.0", "python 2.0": "Python-2.0",
	"zope public 2.1": "ZPL-2.1", "zpl 2.1": "ZPL-2.1", "artistic 2.0": "Artistic-2.0",
	"universal permissive 1.0": "UPL-1.0", "json": "JSON",
	"eupl 1.2": "EUPL-1.2", "european union public 1.2": "EUPL-1.2", "academic free 3.0": "AFL-3.0",
	"afl 3.0": "AFL-3.0", "ruby": "Ruby", "hpnd": "HPND",
	"gpl 2 with classpath exception": "GPL-2.0-only WITH Classpath-exception-2.0", "gpl2 w cpe": "GPL-2.0-only WITH " +
		"Classpath-exception-2.0",
	"gpl 2 w cpe": "GPL-2.0-only WITH Classpath-exception-2.0", "gnu general public 2 with classpath " +
		"exception": "GPL-2.0-only WITH Classpath-exception-2.0",
}
