package advisory

import (
	"slices"
	"strings"

	"merlon/internal/finding"
)

// This file keeps scores and weaknesses by CVE. Databases of ecosystems often leave both out
// (none of Go's and of RubySec's older records has a score), while a record about another
// package of the same CVE has them: Bitnami scores flaws of the Go standard library. They stand
// in blocks of packages of an ecosystem that does not exist, under the name of the CVE, so that
// the format of the data file and the import of changes stay what they are.

// scoreEcosystem is the ecosystem of those blocks. A record cannot name it.
const scoreEcosystem = "\x00CVE"

// scoreEntry returns what a record says of its CVE; false when it says nothing, or has several
// CVEs, of which the score may be that of any.
func (r *record) scoreEntry() (affected, bool) {
	cve := ""
	for _, name := range r.names {
		if _, ok := parseCVE(name); !ok {
			continue
		}
		if cve != "" {
			return affected{}, false
		}
		cve = name
	}
	if cve == "" {
		return affected{}, false
	}
	severities := slices.Clone(r.severities)
	for i := range r.affected {
		severities = append(severities, r.affected[i].severities...)
	}
	var scored []finding.AdvisorySeverity
	for _, s := range severities {
		if _, _, ok := scoreCVSS(s.Score); ok && !slices.Contains(scored, s) && len(scored) < 4 {
			scored = append(scored, s)
		}
	}
	if len(scored) == 0 && len(r.cwe) == 0 {
		return affected{}, false
	}
	return affected{ecosystem: scoreEcosystem, name: cve, names: []string{r.id}, severities: scored, versions: r.cwe},
		true
}

// addScores completes an advisory that has no score, or no weakness, from what other records
// say of its CVE. The one that it is named by counts first: others may be other flaws.
func (f *File) addScores(a *finding.Advisory) error {
	if a.CVE == "" || a.CVSSVector != "" && len(a.CWE) > 0 {
		return nil
	}
	list, err := f.findPackage(packageKey{scoreEcosystem, a.CVE})
	if err != nil {
		return err
	}
	for i := range list {
		if a.CVSSVector == "" {
			for _, s := range list[i].severities {
				if !slices.Contains(a.Severities, s) {
					a.Severities = append(a.Severities, s)
				}
			}
		}
		for _, cwe := range list[i].versions {
			if !slices.Contains(a.CWE, cwe) && strings.HasPrefix(cwe, "CWE-") {
				a.CWE = append(a.CWE, cwe)
			}
		}
	}
	slices.SortFunc(a.CWE, compareNames)
	return nil
}
