package score

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
)

// A Label is a line, or a file, of which is known whether there is a flaw.
// Dir and Query are set in query tests only. Line is 0 for a label of a whole file. CWE is as the
// truth writes it, see parseCWEs.
type Label struct {
	Lang  string   `json:"lang"`
	File  string   `json:"file"`
	Line  int      `json:"line"`
	Vuln  bool     `json:"vuln"`
	Group string   `json:"group"`
	CWE   []string `json:"cwe"`
	Query string   `json:"query"`
	Dir   string   `json:"dir"`
}

// ReadJSONL decodes one JSON value a line.
func ReadJSONL[T any](r io.Reader) ([]T, error) {
	var out []T
	lines := bufio.NewScanner(r)
	// A line may be up to 16 MiB long; the default of the scanner is 64 KiB.
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, v)
	}
	return out, lines.Err()
}

// Lines judges each label by the findings at most tolerance lines away from it,
// of whatever weakness.
func Lines(truth []Label, findings []Finding, tolerance int) []Case {
	return judgeCases(truth, findings, func(l Label, f Finding) bool {
		return withinTolerance(f.Line, l.Line, tolerance)
	})
}

// Files judges each label by the findings in its file, of whatever weakness.
func Files(truth []Label, findings []Finding) []Case {
	return judgeCases(truth, findings, func(Label, Finding) bool { return true })
}

// Queries judges each label by the findings at most one line away that name one
// of its weaknesses or one of the same class.
func Queries(truth []Label, findings []Finding) []Case {
	return judgeCases(truth, findings, func(l Label, f Finding) bool {
		return withinTolerance(f.Line, l.Line, 1) && matchesWeakness(l, f)
	})
}

// Claims judges what was found rather than what is labelled, where the labels of a
// folder are all flaws of some weaknesses in it: each finding that names such a
// weakness, and is more than a line away from every label, is a case that is not real.
// Labels and findings are told apart by the folder of their file.
func Claims(truth []Label, findings []Finding) []Case {
	labelled := map[string][]Label{}
	for _, l := range truth {
		labelled[path.Dir(cleanPath(l.File))] = append(labelled[path.Dir(cleanPath(l.File))], l)
	}
	var out []Case
	for _, f := range findings {
		file := cleanPath(f.File)
		about := slices.DeleteFunc(slices.Clone(labelled[path.Dir(file)]), func(l Label) bool {
			return !matchesWeakness(l, f)
		})
		if len(about) == 0 || slices.ContainsFunc(about, func(l Label) bool {
			return cleanPath(l.File) == file && withinTolerance(f.Line, l.Line, 1)
		}) {
			continue
		}
		out = append(out, Case{ID: file + ":" + strconv.Itoa(f.Line), Group: about[0].Query, Found: true,
			Rules: []string{f.Rule}, Line: f.Line})
	}
	return out
}

// matchesWeakness reports whether a finding names a weakness of the label, or one of its class.
func matchesWeakness(l Label, f Finding) bool {
	return slices.ContainsFunc(parseCWEs(l.CWE), func(cwe int) bool {
		return slices.ContainsFunc(f.CWE, func(got int) bool { return SameClass(cwe, got) })
	})
}

// judgeCases returns a case for each label: found if a finding in its file satisfies hit.
func judgeCases(truth []Label, findings []Finding, hit func(Label, Finding) bool) []Case {
	index := byFile(findings)
	var out []Case
	for _, l := range truth {
		var hits []Finding
		for _, f := range index[cleanPath(l.File)] {
			if hit(l, f) {
				hits = append(hits, f)
			}
		}
		id := l.File
		if l.Line > 0 {
			id += ":" + strconv.Itoa(l.Line)
		}
		out = append(out, Case{ID: id, Group: l.Group, Real: l.Vuln, Found: len(hits) > 0, Rules: ruleNames(hits),
			Line: l.Line})
	}
	return out
}

// withinTolerance reports whether two line numbers are at most tolerance apart.
func withinTolerance(a, b, tolerance int) bool { return a-b <= tolerance && b-a <= tolerance }
