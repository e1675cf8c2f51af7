package score

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// An OwaspCase is one test of an OWASP Benchmark.
type OwaspCase struct {
	Name     string // "BenchmarkTest00001"
	Category string // "sqli"
	Real     bool
	CWE      int
}

// ReadOwasp decodes an expectedresults file: "name,category,real,cwe" with
// comments after '#'.
func ReadOwasp(r io.Reader) ([]OwaspCase, error) {
	var out []OwaspCase
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		fields := strings.Split(text, ",")
		if len(fields) < 4 {
			return nil, fmt.Errorf("line %d: %d fields instead of 4", n, len(fields))
		}
		flaw, err := strconv.ParseBool(fields[2])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		cwe, err := strconv.Atoi(fields[3])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, OwaspCase{fields[0], fields[1], flaw, cwe})
	}
	return out, lines.Err()
}

// Owasp judges each test by the file that has its name: it is found if a finding
// in that file names the expected weakness. Others do not count, for or against:
// the tests have flaws beside the one that they are about. As the benchmark's
// own score card does, SQL injection (89) stands for its Hibernate form (564).
func Owasp(truth []OwaspCase, findings []Finding) []Case {
	index := map[string][]Finding{}
	for _, f := range findings {
		base := path.Base(f.File)
		name := strings.TrimSuffix(base, path.Ext(base))
		index[name] = append(index[name], f)
	}
	var out []Case
	for _, t := range truth {
		var hits []Finding
		for _, f := range index[t.Name] {
			if slices.Contains(f.CWE, t.CWE) || t.CWE == 564 && slices.Contains(f.CWE, 89) {
				hits = append(hits, f)
			}
		}
		out = append(out, Case{ID: t.Name, Group: t.Category, Real: t.Real, Found: len(hits) > 0,
			Rules: ruleNames(hits)})
	}
	return out
}
