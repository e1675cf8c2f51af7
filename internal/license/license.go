// Package license says what licences ask of those who use a package: which
// category an SPDX licence is of, what an expression of several comes to, and how
// an organization sees it.
//
// Identifiers are those of the SPDX licence list (https://spdx.org/licenses/),
// expressions those of SPDX 2.3, annex D
// (https://spdx.github.io/spdx-spec/v2.3/SPDX-license-expressions/).
package license

import (
	_ "embed" // the table of licences
	"slices"
	"strings"
	"sync"

	"github.com/github/go-spdx/v2/spdxexp/spdxlicenses"
)

// A Category says what a licence asks, by its name on the wire.
type Category string

// The categories of licences.
const (
	Permissive     Category = "PERMISSIVE"
	WeakCopyleft   Category = "WEAK_COPYLEFT"
	StrongCopyleft Category = "STRONG_COPYLEFT"
	Unknown        Category = "UNKNOWN"
)

// Categories lists every category, the least restrictive first.
var Categories = []Category{Permissive, WeakCopyleft, StrongCopyleft, Unknown}

// Risk returns how much of a risk the category is: NONE, MEDIUM, HIGH or UNKNOWN.
func (c Category) Risk() string {
	switch c {
	case Permissive:
		return "NONE"
	case WeakCopyleft:
		return "MEDIUM"
	case StrongCopyleft:
		return "HIGH"
	}
	return "UNKNOWN"
}

// RiskDescription says for people what the risk is.
func (c Category) RiskDescription() string {
	switch c {
	case Permissive:
		return "May be used in proprietary programs; copyright notices must be preserved."
	case WeakCopyleft:
		return "Changes of the package itself are published under the same licence; the program around it need not be."
	case StrongCopyleft:
		return "A program that is distributed, or for some licences offered over a network, with the package may " +
			"have to be published under the same licence."
	}
	return "The terms of this licence are unknown: read it before the package is used."
}

// A License is a licence and its category.
type License struct {
	ID       string // of SPDX, or an organization's own
	Name     string
	Category Category
}

//go:embed licenses.txt
var tableText string

// table holds the built-in licences by their identifier in lower case.
var table = sync.OnceValue(func() map[string]License {
	out := map[string]License{}
	var category Category
	for line := range strings.Lines(tableText) {
		id, name, row := strings.Cut(strings.TrimSpace(line), "\t")
		switch {
		case row:
			out[strings.ToLower(id)] = License{ID: id, Name: name, Category: category}
		case id != "":
			category = Category(id)
		}
	}
	return out
})

// BuiltIn returns the licences whose category is built in, by identifier.
func BuiltIn() []License {
	out := make([]License, 0, len(table()))
	for _, l := range table() {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b License) int { return compareIDs(a.ID, b.ID) })
	return out
}

// compareIDs orders identifiers without regard to their case, then with it.
func compareIDs(a, b string) int {
	if c := strings.Compare(strings.ToLower(a), strings.ToLower(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// A list gives the identifiers of SPDX by their lower-case form.
type list struct{ licenses, exceptions map[string]string }

// spdx is the list of SPDX; identifiers that it has given up are in it as well.
var spdx = sync.OnceValue(func() list {
	fill := func(ids ...[]string) map[string]string {
		out := map[string]string{}
		for _, id := range slices.Concat(ids...) {
			out[strings.ToLower(id)] = id
		}
		return out
	}
	return list{
		licenses:   fill(spdxlicenses.GetDeprecated(), spdxlicenses.GetLicenses()),
		exceptions: fill(spdxlicenses.GetExceptions()),
	}
})

// Canonical returns the identifier of a licence as SPDX spells it now, whatever
// its case: gpl-2.0+ is GPL-2.0-or-later. Known is false, and the identifier as it
// is, when SPDX does not list it.
func Canonical(id string) (canonical string, known bool) {
	list := spdx().licenses
	low := strings.ToLower(id)
	plain, later := strings.CutSuffix(low, "+")
	if later {
		if now, ok := list[plain+"-or-later"]; ok {
			return now, true
		}
		if now, ok := list[plain]; ok && !strings.HasSuffix(plain, "-or-later") {
			return now + "+", true
		}
	}
	if now, ok := list[low+"-only"]; ok { // GPL-2.0, as it was called before
		return now, true
	}
	if now, ok := list[low]; ok {
		return now, true
	}
	return id, false
}

// linking are exceptions that let a program of any licence be linked with the
// package: what is left of strong copyleft is weak.
var linking = []string{
	"389-exception", "CGAL-linking-exception", "Classpath-exception-2.0", "Classpath-exception-2.0-short",
	"eCos-exception-2.0",
	"erlang-otp-linking-exception", "FLTK-exception", "freertos-exception-2.0", "GCC-exception-2.0",
	"GCC-exception-2.0-note",
	"GCC-exception-3.1", "GNAT-exception", "GNU-compiler-exception", "gnu-javamail-exception",
	"GPL-3.0-linking-exception",
	"i2p-gpl-java-exception", "Independent-modules-exception", "Libtool-exception", "Linux-syscall-note",
	"mxml-exception",
	"OpenJDK-assembly-exception-1.0", "Simple-Library-Usage-exception", "WxWindows-exception-3.1",
	"Autoconf-exception-2.0", "Autoconf-exception-3.0", "Autoconf-exception-generic", "Autoconf-exception-generic-3.0",
	"Autoconf-exception-macro",
	"Bison-exception-1.24", "Bison-exception-2.2", "Font-exception-2.0",
}

// Classes say of which category licences are: as built in, or as an organization
// decided.
type Classes struct{ own map[string]License }

// NewClasses returns the classes of an organization that decided this of some
// licences.
func NewClasses(own []License) Classes {
	c := Classes{own: map[string]License{}}
	for _, l := range own {
		c.own[strings.ToLower(l.ID)] = l
	}
	return c
}

// Of returns the licence of an identifier of an Expression, which may be one with
// an exception. One that nobody knows is of the category Unknown.
func (c Classes) Of(id string) License {
	low := strings.ToLower(id)
	if l, ok := c.own[low]; ok {
		return withName(l)
	}
	if base, exception, ok := strings.Cut(id, " WITH "); ok {
		l := c.Of(base)
		l.ID, l.Name = id, l.Name+" with "+exception
		if l.Category == StrongCopyleft && slices.Contains(linking, exception) {
			l.Category = WeakCopyleft
		}
		return l
	}
	if l, ok := table()[low]; ok {
		return l
	}
	if plain, later := strings.CutSuffix(id, "+"); later {
		l := c.Of(plain)
		return License{ID: id, Name: l.Name + " or later", Category: l.Category}
	}
	return License{ID: id, Name: id, Category: Unknown}
}

// withName fills in the name of a licence that SPDX has one for.
func withName(l License) License {
	if built, ok := table()[strings.ToLower(l.ID)]; ok {
		l.Name = built.Name
	} else if l.Name == "" {
		l.Name = l.ID
	}
	return l
}

// Names reports whether somebody knows the licence: SPDX lists it, or the
// organization has put it into a category.
func (c Classes) Names(id string) bool {
	if _, ok := c.own[strings.ToLower(id)]; ok {
		return true
	}
	base, exception, with := strings.Cut(id, " WITH ")
	if with && spdx().exceptions[strings.ToLower(exception)] == "" {
		return false
	}
	_, known := Canonical(base)
	if !known && with {
		_, known = c.own[strings.ToLower(base)]
	}
	return known
}

// Own returns what the organization decided, by identifier.
func (c Classes) Own() []License {
	out := make([]License, 0, len(c.own))
	for _, l := range c.own {
		out = append(out, withName(l))
	}
	slices.SortFunc(out, func(a, b License) int { return compareIDs(a.ID, b.ID) })
	return out
}
