package advisory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file answers a look-up: which flaws affect a version, each once under all
// its names.

// Match implements scan.Advisories. With an error come the matches that could be
// decided.
func (f *File) Match(ctx context.Context, ecosystem, name, version string) ([]scan.AdvisoryMatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !f.Knows(ecosystem) {
		return nil, errs.E(errs.NotFound, "there is no vulnerability data for %s", ecosystem)
	}
	list, err := f.findPackage(newPackageKey(ecosystem, name))
	if err != nil {
		return nil, err
	}
	// Distributions share one key for all releases ("Debian"); records of another release
	// ("Debian:11" for a system of "Debian:12") do not apply.
	list = slices.DeleteFunc(list, func(a affected) bool { return !sameRelease(a.ecosystem, ecosystem) })
	if len(list) == 0 {
		return nil, nil
	}
	compare := newComparer(ecosystem)
	hits, undecided := evaluateRecords(compare, list, version)
	if len(hits) == 0 {
		return nil, undecided
	}
	// The lowest version without any known vulnerability; it is the same for all matches.
	upgradeAll := compare.upgradeAll(list, version)
	var out []scan.AdvisoryMatch
	for _, group := range groupAliases(list) {
		m, ok, err := f.describeMatch(compare, group, hits, version)
		if err != nil {
			return nil, err
		}
		if ok {
			m.UpgradeAll = upgradeAll
			f.addExploitation(m.Advisory)
			out = append(out, m)
		}
	}
	// Sorted by identifier, so that two scans of the same data give the same report.
	slices.SortFunc(out, func(a, b scan.AdvisoryMatch) int { return cmp.Compare(a.Advisory.ID, b.Advisory.ID) })
	return out, undecided
}

// evaluateRecords decides each record. The error sums up those that it cannot decide.
func evaluateRecords(compare *comparer, list []affected, version string) (map[*affected]rangeHit, error) {
	// A record that cannot be decided, for example "1.x-dev" against a range, must not hide the
	// records that can: the hits are returned along with the error.
	hits := map[*affected]rangeHit{}
	var undecided []string
	var cause error
	for i := range list {
		h, err := compare.isAffected(&list[i], version)
		if h.affected {
			hits[&list[i]] = h
		}
		if err != nil {
			undecided = append(undecided, list[i].names[0])
			cause = cmp.Or(cause, err)
		}
	}
	if len(undecided) == 0 {
		return hits, nil
	}
	// A version that does not parse is the cause for all of them, and the clearer message.
	if err := compare.checkVersion(version); err != nil {
		cause = err
	}
	more := ""
	// A message with dozens of CVE names is of no use: three name the kind of the problem.
	if len(undecided) > 3 {
		undecided, more = undecided[:3], fmt.Sprintf(" and %d more", len(undecided)-3)
	}
	return hits, fmt.Errorf("%w (needed to decide %s%s)", cause, strings.Join(undecided, ", "), more)
}

// groupAliases groups records that share a name: they are about one vulnerability. It is a
// union-find over the names.
func groupAliases(list []affected) [][]*affected {
	group := make([]int, len(list)) // index of a record with a lower or the same index
	root := func(i int) int {
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	first := map[string]int{}
	for i := range list {
		group[i] = i
		for _, name := range list[i].names {
			j, seen := first[name]
			if !seen {
				first[name] = i
				continue
			}
			a, b := root(i), root(j)
			// The lower index becomes the root, so the groups keep the order of the records.
			group[max(a, b)] = min(a, b)
		}
	}
	var out [][]*affected
	place := map[int]int{}
	for i := range list {
		r := root(i)
		n, ok := place[r]
		if !ok {
			n = len(out)
			place[r] = n
			out = append(out, nil)
		}
		out[n] = append(out[n], &list[i])
	}
	return out
}

// describeMatch describes a vulnerability, when one of its records affects the version.
func (f *File) describeMatch(compare *comparer, group []*affected, hits map[*affected]rangeHit,
	version string) (scan.AdvisoryMatch, bool, error) {
	var m scan.AdvisoryMatch
	found, open := false, true
	for _, a := range group {
		if h, ok := hits[a]; ok {
			found = true
			m.Introduced = cmp.Or(m.Introduced, h.introduced)
			open = open && h.open
			m.Symbols = addSymbols(m.Symbols, a.symbols)
		}
	}
	if !found {
		return m, false, nil
	}
	m.Fixed, m.Upgrade = compare.listFixes(group, version)
	m.OpenEnded = open && len(m.Fixed) == 0
	var records []details
	for _, a := range group {
		d, err := f.readRecord(a.number)
		if err != nil {
			return m, false, err
		}
		// The first name of a record is its identifier. A difference means that the index and the
		// chunks come from two versions of the file.
		if len(a.names) == 0 || d.id != a.names[0] {
			return m, false, damagedError("a record is not the one that a package names")
		}
		d.severities = append(d.severities, a.severities...)
		d.label = cmp.Or(a.label, d.label)
		_, d.hit = hits[a]
		records = append(records, d)
	}
	m.Advisory = mergeRecords(records)
	if err := f.addScores(m.Advisory); err != nil {
		return m, false, err
	}
	setSeverity(m.Advisory, records)
	return m, true, nil
}

// addSymbols joins what two records of a flaw say. A record that names none takes
// nothing away.
func addSymbols(list, more []finding.Symbols) []finding.Symbols {
	for _, s := range more {
		if !slices.ContainsFunc(list, func(o finding.Symbols) bool {
			return o.Path == s.Path && slices.Equal(o.Names, s.Names)
		}) {
			list = append(list, s)
		}
	}
	return list
}

// mergeRecords makes one advisory of the records of a vulnerability.
func mergeRecords(records []details) *finding.Advisory {
	// The best source comes first: the first non-empty text of the sorted records is used. A
	// record that does not affect the version describes another vulnerability.
	slices.SortStableFunc(records, func(a, b details) int {
		return cmp.Or(boolToInt(b.hit)-boolToInt(a.hit), cmp.Compare(rankSource(a.id), rankSource(b.id)),
			compareNames(a.id, b.id))
	})
	out := &finding.Advisory{
		Severities: []finding.AdvisorySeverity{}, References: []finding.AdvisoryReference{}, CWE: []string{},
	}
	for i := range records {
		d := &records[i]
		out.Aliases = append(out.Aliases, d.names...)
		out.Summary = cmp.Or(out.Summary, d.summary)
		out.Details = cmp.Or(out.Details, d.text)
		out.SchemaVer = cmp.Or(out.SchemaVer, d.schema)
		// The first publication and the latest change over all sources are shown.
		out.Published = earlierTime(out.Published, formatTime(d.published))
		out.Modified = max(out.Modified, formatTime(d.modified))
		out.CWE = append(out.CWE, d.cwe...)
		for _, s := range d.severities {
			if !slices.Contains(out.Severities, s) {
				out.Severities = append(out.Severities, s)
			}
		}
		for _, r := range d.references {
			if len(out.References) < maxReferences &&
				!slices.ContainsFunc(out.References, func(o finding.AdvisoryReference) bool {
					return o.URL == r.URL
				}) {
				out.References = append(out.References, r)
			}
		}
	}
	nameAdvisory(out, records)
	slices.SortFunc(out.CWE, compareNames)
	out.CWE = slices.Compact(out.CWE)
	out.Summary = cmp.Or(out.Summary, firstLine(out.Details), out.ID)
	return out
}
