package advisory

import (
	"cmp"
	"slices"
	"strings"
	"time"

	gocvss20 "github.com/pandatix/go-cvss/20"
	gocvss30 "github.com/pandatix/go-cvss/30"
	gocvss31 "github.com/pandatix/go-cvss/31"
	gocvss40 "github.com/pandatix/go-cvss/40"

	"merlon/internal/finding"
)

// rankSource orders records by how much their texts are worth to people: reviewed first,
// enumerations last.
func rankSource(id string) int {
	switch {
	case strings.HasPrefix(id, "GHSA-"):
		return 0
	case strings.HasPrefix(id, "CVE-"):
		return 2
	}
	return 1
}

// nameAdvisory chooses the name that an advisory is keyed by: the lowest CVE, else the lowest
// GHSA, else the lowest of all. Names that the records which affect the version do not have, or
// share with a record that is only about one and does not affect it, come last: an advisory that
// was merged over several CVEs is that of the one whose range holds the version.
func nameAdvisory(a *finding.Advisory, records []details) {
	slices.SortFunc(a.Aliases, compareNames)
	a.Aliases = slices.Compact(a.Aliases)
	a.ID = a.Aliases[0]
	for _, name := range a.Aliases {
		if strings.HasPrefix(name, "MAL-") {
			a.Malicious = true
		}
	}
	a.CVE, a.GHSA = matchingName(a.Aliases, records, "CVE-"), matchingName(a.Aliases, records, "GHSA-")
	a.ID = cmp.Or(a.CVE, a.GHSA, a.ID)
}

// matchingName returns the lowest name of a kind whose most specific records, those with the
// fewest names of the kind, affect the version; else the lowest name of the kind, or "".
func matchingName(names []string, records []details, prefix string) string {
	lowest := ""
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		lowest = cmp.Or(lowest, name)
		fewest, hit := 0, false
		for i := range records {
			if !slices.Contains(records[i].names, name) {
				continue
			}
			n := 0
			for _, other := range records[i].names {
				if strings.HasPrefix(other, prefix) {
					n++
				}
			}
			switch {
			case fewest == 0 || n < fewest:
				fewest, hit = n, records[i].hit
			case n == fewest:
				hit = hit || records[i].hit
			}
		}
		if hit {
			return name
		}
	}
	return lowest
}

// compareNames orders names so that numbers in them count as numbers:
// CVE-2020-9999 stands before CVE-2020-10000.
func compareNames(a, b string) int {
	pa, pb := strings.Split(a, "-"), strings.Split(b, "-")
	for i := range min(len(pa), len(pb)) {
		x, y := pa[i], pb[i]
		if isDigits(x) && isDigits(y) && len(x) != len(y) {
			return cmp.Compare(len(x), len(y))
		}
		if n := strings.Compare(x, y); n != 0 {
			return n
		}
	}
	return cmp.Compare(len(pa), len(pb))
}

// isDigits reports whether a text is digits only.
func isDigits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// formatTime is a time as RFC 3339; empty when it is not known.
func formatTime(t time.Time) string {
	if t.Unix() <= 0 {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// earlierTime returns the earlier of two times, of which either may be empty.
func earlierTime(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

// firstLine is the first line of a text that says something, as a summary.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimLeft(line, "# "))
		if line == "" {
			continue
		}
		if short := truncate(line, 120); short != line {
			return short + "…"
		}
		return line
	}
	return ""
}

// setSeverity sets the severity: malicious packages are critical; else the worst score of
// the newest version of CVSS that can be scored; else the worst word of the records; else what
// is typical of the weakness.
func setSeverity(a *finding.Advisory, records []details) {
	for _, s := range a.Severities {
		version, score, ok := scoreCVSS(s.Score)
		// Versions compare as texts: "2.0" < "3.0" < "3.1" < "4.0".
		if ok && (version > a.CVSSVersion || version == a.CVSSVersion && score > a.CVSS) {
			a.CVSSVersion, a.CVSS, a.CVSSVector = version, score, s.Score
		}
	}
	worded := false
	switch {
	case a.Malicious:
		a.Severity = finding.Critical
	case a.CVSSVector != "":
		a.Severity = finding.FromCVSS(a.CVSS)
	default:
		for i := range records {
			if s := fromLabel(records[i].label); s.Rank() > a.Severity.Rank() {
				a.Severity = s
			}
		}
		worded = a.Severity != ""
		a.Severity = cmp.Or(a.Severity, finding.Medium)
	}
	estimateSeverity(a, worded)
}

// fromLabel reads a severity in words; empty when it is none.
func fromLabel(label string) finding.Severity {
	switch label {
	case "critical":
		return finding.Critical
	case "high", "important":
		return finding.High
	case "medium", "moderate":
		return finding.Medium
	// "negligible" is a word of Ubuntu, "unimportant" of Debian, "important" of Red Hat.
	case "low", "minor", "negligible", "none", "unimportant":
		return finding.Low
	}
	return ""
}

// scoreCVSS scores a vector of any version; false when it cannot be read.
func scoreCVSS(vector string) (version string, score float64, ok bool) {
	switch {
	case strings.HasPrefix(vector, "CVSS:4.0/"):
		v, err := gocvss40.ParseVector(vector)
		if err != nil {
			return "", 0, false
		}
		return "4.0", v.Score(), true
	case strings.HasPrefix(vector, "CVSS:3.1/"):
		v, err := gocvss31.ParseVector(vector)
		if err != nil {
			return "", 0, false
		}
		return "3.1", v.BaseScore(), true
	case strings.HasPrefix(vector, "CVSS:3.0/"):
		v, err := gocvss30.ParseVector(vector)
		if err != nil {
			return "", 0, false
		}
		return "3.0", v.BaseScore(), true
	}
	// Version 2 has no prefix: "AV:N/AC:L/Au:N/C:P/I:P/A:P".
	v, err := gocvss20.ParseVector(vector)
	if err != nil {
		return "", 0, false
	}
	return "2.0", v.BaseScore(), true
}
