package advisory

import (
	"cmp"
	"slices"
	"strings"

	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file estimates the severity of an advisory without a score. Each class of weaknesses
// has a base vector of CVSS 3.1 that is typical of scored records of the class, with the metrics
// of a library whose input comes over a network. docs/advisories.md has the table. An
// estimate is marked as such (finding.Advisory.Estimated) and never replaces a score.

// A weaknessClass is weaknesses with a common typical impact.
type weaknessClass struct {
	name   string
	vector string
	cwe    []string
	words  *lazyregexp.Regexp // of summaries whose records name no CWE
}

// weaknessClasses are ordered by score, the worst first: of several weaknesses of a record the
// first class decides. The vectors stand near the medians of some 2,800 scored records of each
// class by their summaries. None is critical: an estimate is no reason to stop other work.
var weaknessClasses = []weaknessClass{
	{"code execution", "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:H",
		[]string{"CWE-77", "CWE-78", "CWE-88", "CWE-94", "CWE-95", "CWE-96", "CWE-98", "CWE-502", "CWE-506", "CWE-912",
			"CWE-917", "CWE-1321", "CWE-1336"},
		lazyregexp.New(`(?i)\b(arbitrary|remote) (code|command)|code (execution|injection)|command injection|` +
			`(insecure|unsafe) deseriali[sz]ation|prototype pollution|template injection|backdoor`)},
	{"SQL injection", "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H",
		[]string{"CWE-89", "CWE-90", "CWE-564", "CWE-643", "CWE-652", "CWE-943"},
		lazyregexp.New(`(?i)\b(no)?sql injection|ldap injection|xpath injection`)},
	{"memory corruption", "CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:H/I:H/A:H",
		[]string{"CWE-119", "CWE-120", "CWE-121", "CWE-122", "CWE-123", "CWE-124", "CWE-125", "CWE-190", "CWE-191",
			"CWE-415", "CWE-416", "CWE-680", "CWE-763", "CWE-787", "CWE-822", "CWE-824", "CWE-843", "CWE-908",
			"CWE-1325"},
		lazyregexp.New(`(?i)buffer (overflow|over-?read|underflow)|out.of.bounds|use.after.free|double.free|` +
			`memory (corruption|safety)|integer (over|under)flow|type confusion|uninitiali[sz]ed memory|heap ` +
			`overflow`)},
	{"path traversal", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N",
		[]string{"CWE-22", "CWE-23", "CWE-24", "CWE-29", "CWE-35", "CWE-36", "CWE-59", "CWE-61", "CWE-73", "CWE-548"},
		lazyregexp.New(`(?i)(path|directory) traversal|zip ?slip|arbitrary file|symlink (attack|following)|` +
			`(local|remote) file inclusion`)},
	{"XML external entities", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N",
		[]string{"CWE-91", "CWE-611", "CWE-827"}, lazyregexp.New(`(?i)\bxxe\b|external entit`)},
	{"request forgery and smuggling", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:H/A:N",
		[]string{"CWE-113", "CWE-93", "CWE-444", "CWE-436", "CWE-918", "CWE-1385"},
		lazyregexp.New(`(?i)request smuggling|(server.side request|request) forgery.*server|\bssrf\b|crlf injection|` +
			`(header|response) (injection|splitting)|cache poisoning`)},
	{"denial of service", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H",
		[]string{"CWE-20", "CWE-129", "CWE-248", "CWE-369", "CWE-399", "CWE-400", "CWE-401", "CWE-404", "CWE-405",
			"CWE-407",
			"CWE-409", "CWE-476", "CWE-617", "CWE-674", "CWE-770", "CWE-772", "CWE-776", "CWE-789", "CWE-834",
			"CWE-835",
			"CWE-1050", "CWE-1284", "CWE-1333"},
		lazyregexp.New(`(?i)denial.of.service|\bre?dos\b|\bpanics?\b|infinite (loop|recursion)|` +
			`(excessive|unbounded|uncontrolled|quadratic|exponential|unlimited) |(memory|resource|cpu|stack) ` +
			`(exhaustion|consumption)|crash|out of memory|stack overflow|nil pointer|null pointer`)},
	{"certificates not verified", "CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:N",
		[]string{"CWE-295", "CWE-296", "CWE-297", "CWE-298", "CWE-299", "CWE-322", "CWE-599"},
		lazyregexp.New(`(?i)(certificate|host ?name|tls|host key) (validation|verification|check)|name constraint`)},
	{"missing authentication or authorization", "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:N/A:N",
		[]string{"CWE-284", "CWE-285", "CWE-287", "CWE-288", "CWE-290", "CWE-294", "CWE-303", "CWE-304", "CWE-305",
			"CWE-306", "CWE-345", "CWE-347", "CWE-384", "CWE-639", "CWE-798", "CWE-862", "CWE-863"},
		lazyregexp.New(`(?i)(authentication|authorization|signature (verification )?|permission check|access control|` +
			`verification) ?bypass|bypass(es)? (of )?(authentication|authorization|access control|signature)|` +
			`improper (authentication|authorization|verification|access control)|session fixation|hard-?coded ` +
			`(credential|password|key)`)},
	{"request forgery against a user", "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:N/I:H/A:N",
		[]string{"CWE-352", "CWE-1021", "CWE-346", "CWE-942"},
		lazyregexp.New(`(?i)cross.site request forgery|\bcsrf\b|clickjacking|\bcors\b`)},
	{"cross-site scripting", "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N",
		[]string{"CWE-79", "CWE-80", "CWE-83", "CWE-87", "CWE-116", "CWE-601", "CWE-1022"},
		lazyregexp.New(`(?i)cross.site scripting|\bxss\b|open redirect|html injection|(un|not )escaped|sanitiz`)},
	{"weak cryptography", "CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:N/A:N",
		[]string{"CWE-203", "CWE-208", "CWE-310", "CWE-311", "CWE-319", "CWE-326", "CWE-327", "CWE-328", "CWE-330",
			"CWE-331", "CWE-335", "CWE-338", "CWE-354", "CWE-385", "CWE-916", "CWE-1240"},
		lazyregexp.New(`(?i)timing (attack|side|leak)|side.channel|weak (random|hash|key|cipher|cryptograph)|` +
			`predictable|cleartext|insecure random|padding oracle`)},
	{"information disclosure", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N",
		[]string{"CWE-200", "CWE-201", "CWE-209", "CWE-212", "CWE-213", "CWE-359", "CWE-377", "CWE-378", "CWE-379",
			"CWE-497", "CWE-522", "CWE-524", "CWE-532", "CWE-538", "CWE-668", "CWE-732", "CWE-922"},
		lazyregexp.New(`(?i)information (disclosure|exposure|leak)|(sensitive|credential|secret|token|password)s?\b.*` +
			`\b(leak|expos|disclos|log)|(leak|expos|disclos)\w* (of )?(sensitive|credential|secret|token|password)`)},
}

// estimateSeverity sets the severity of an advisory without a score: the typical vector of its
// weakness, else of the class that its summary names. A word of a database stands above it. What
// neither tells stays medium, marked as an estimate without a vector.
func estimateSeverity(a *finding.Advisory, worded bool) {
	if a.CVSSVector != "" || a.Malicious || worded {
		return
	}
	a.Estimated = true
	class := slices.IndexFunc(weaknessClasses, func(c weaknessClass) bool {
		return slices.ContainsFunc(a.CWE, func(id string) bool { return slices.Contains(c.cwe, id) })
	})
	if class < 0 {
		class = classOfText(cmp.Or(a.Summary, firstLine(a.Details)))
	}
	if class < 0 {
		return
	}
	vector := weaknessClasses[class].vector
	if version, score, ok := scoreCVSS(vector); ok {
		a.CVSSVersion, a.CVSS, a.CVSSVector, a.Severity = version, score, vector, finding.FromCVSS(score)
	}
}

// classOfText returns the class that a summary names first, or -1. The first words tell the
// impact: "Denial of service by memory corruption in …".
func classOfText(text string) int {
	best, at := -1, len(text)+1
	for i, c := range weaknessClasses {
		if m := c.words.FindStringIndex(strings.TrimSpace(text)); m != nil && m[0] < at {
			best, at = i, m[0]
		}
	}
	return best
}
