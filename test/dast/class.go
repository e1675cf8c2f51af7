package main

import (
	"slices"
	"strings"
)

// This file says which weaknesses are which class of flaw.

// A class is a kind of flaw that targets are made of, as the numbers that the
// Common Weakness Enumeration has for it and its kin.
type class []string

var (
	// Classes of weaknesses. Scanners name a weakness at different levels of the CWE hierarchy, so
	// a benchmark case is found when a finding has any CWE of its class.
	crossSiteScripting = class{"CWE-79", "CWE-80", "CWE-116"}
	sqlInjection       = class{"CWE-89", "CWE-564"}
	pathTraversal      = class{"CWE-22", "CWE-23", "CWE-24", "CWE-35", "CWE-36", "CWE-73", "CWE-98"}
	openRedirect       = class{"CWE-601"}
	commandInjection   = class{"CWE-77", "CWE-78", "CWE-88"}
	ldapInjection      = class{"CWE-90"}
	xpathInjection     = class{"CWE-643", "CWE-91"}
	fileUpload         = class{"CWE-434"}
	requestForgery     = class{"CWE-352"}
	serverForgery      = class{"CWE-918"}
	authorization      = class{"CWE-639", "CWE-284", "CWE-285", "CWE-425", "CWE-566", "CWE-862", "CWE-863"}
	massAssignment     = class{"CWE-915"}
	exposure           = class{"CWE-200", "CWE-201", "CWE-213", "CWE-312", "CWE-359", "CWE-497", "CWE-522"}
	enumeration        = class{"CWE-203", "CWE-204", "CWE-208"}
	slowExpression     = class{"CWE-1333", "CWE-730"}
	noLimit            = class{"CWE-307", "CWE-770", "CWE-799"}
	weakToken          = class{"CWE-321", "CWE-326", "CWE-345", "CWE-347", "CWE-1391"}
	// Session ids that can be guessed or fixed.
	weakSession  = class{"CWE-330", "CWE-331", "CWE-334", "CWE-340", "CWE-341", "CWE-384"}
	weakPassword = class{"CWE-521", "CWE-798", "CWE-1391", "CWE-1392", "CWE-1393"}
	logInjection = class{"CWE-117"}
	// Error messages with internal details, such as stack traces.
	errorMessages  = class{"CWE-209", "CWE-210", "CWE-211", "CWE-550", "CWE-1295"}
	contentPolicy  = class{"CWE-693", "CWE-1021"}
	clientEnforced = class{"CWE-602", "CWE-603"}
	weakCrypto     = class{"CWE-327", "CWE-328"}
)

// includesFlaw reports whether a flaw is of the class.
func (c class) includesFlaw(f flaw) bool {
	return slices.ContainsFunc(f.CWE, func(name string) bool { return slices.Contains(c, strings.ToUpper(name)) })
}

// joinClasses joins classes.
func (c class) joinClasses(others ...string) class { return append(slices.Clone(c), others...) }

// A tally counts cases of one class.
// Missed and Alarms are the names of the cases behind the counts, for the notes.
type tally struct {
	Vulnerable, Found int // cases that are, and those of them that were told
	Safe, Wrong       int // cases that are not, and those of them that were told
	Missed, Alarms    []string
}

// addCase counts a case.
func (t *tally) addCase(name string, vulnerable, told bool) {
	switch {
	case vulnerable && told:
		t.Vulnerable++
		t.Found++
	case vulnerable:
		t.Vulnerable++
		t.Missed = append(t.Missed, name)
	case told:
		t.Safe++
		t.Wrong++
		t.Alarms = append(t.Alarms, name)
	default:
		t.Safe++
	}
}

// tpr and fpr are shares; 0 of no cases.
func (t *tally) tpr() float64 { return shareOf(t.Found, t.Vulnerable) }

// fpr returns the false positive rate.
func (t *tally) fpr() float64 { return shareOf(t.Wrong, t.Safe) }

// shareOf returns n of a total as a share; 0 of none.
func shareOf(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}
