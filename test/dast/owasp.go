package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"merlon/test/table"
)

// This file measures attacks on the OWASP Benchmark, served. Its own list says what
// is true of each case, and a case's address holds its name.

// A category is one kind of flaw in the Benchmark.
type category struct {
	name  string // as in the list and in addresses
	class class
	score int // at least, true positive rate less false positive rate in percent
}

// categories are the vulnerability categories of the OWASP Benchmark, with their class.
var categories = []category{
	{"xss", crossSiteScripting, 88},
	{"sqli", sqlInjection, 80},
	{"cmdi", commandInjection, 80},
	{"pathtraver", pathTraversal, 55},
	{"ldapi", ldapInjection, 85},
	{"xpathi", xpathInjection, 75},
}

// mostWrong is the share of safe cases of a category that may be told.
const mostWrong = .01

// owaspBenchmark scans the OWASP Benchmark for Java, one category at a time.
func owaspBenchmark(ctx context.Context, b *bench) ([]table.Row, error) {
	expected, err := expectedCases(filepath.Join(b.targets, "benchmark", "expectedresults-1.2.csv"))
	if err != nil {
		return nil, err
	}
	var rows []table.Row
	var cases []page
	for _, c := range categories {
		if !b.cases.MatchString(c.name) {
			continue
		}
		// A fresh target for each category: attacks leave data behind.
		got, err := b.attackBenchmark(ctx, c)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", c.name, err)
		}
		pages := expected[c.name]
		t := judgePages("merlon", got.byCase(), c.class, pages)
		cases = append(cases, pages...)
		// The score of the Benchmark's own score card.
		score := 100 * (t.tpr() - t.fpr())
		rows = append(rows, table.Row{Measure: fmt.Sprintf("OWASP Benchmark 1.2 "+
			"served, %s", c.name), Floor: fmt.Sprintf("TPR − FPR ≥ %d, FPR ≤ 1 %%", c.score),
			Measured: fmt.Sprintf("%.1f (%d/%d, %d/%d)", score, t.Found, t.Vulnerable, t.Wrong, t.Safe),
			Met:      table.Verdict(score >= float64(c.score), t.fpr() <= mostWrong),
			Note: got.describeCost() + listNames("; wrong: ", t.Alarms) + listNames("; told of a kind that the case "+
				"has not: ", c.wrongCategory(got.byCase(), pages))})
	}
	return rows, table.Keep(filepath.Join(b.out, "benchmark.jsonl"), cases)
}

// attackBenchmark scans one category from its page of links.
func (b *bench) attackBenchmark(ctx context.Context, c category) (*scan, error) {
	s, err := b.startTarget(ctx, "benchmark")
	if err != nil {
		return nil, err
	}
	defer s.stopTarget()
	p := plan{URL: s.baseAddress() + "/benchmark/", Seeds: []string{s.baseAddress() + "/benchmark/" + c.name +
		"-Index.html"}}
	// The pages link to each other's index; the other categories are excluded.
	for _, name := range []string{"xss", "sqli", "cmdi", "pathtraver", "ldapi", "xpathi", "crypto", "hash",
		"securecookie", "trustbound", "weakrand"} {
		if name != c.name {
			p.Exclude = append(p.Exclude, "/benchmark/"+name+"-*")
		}
	}
	return b.scanServer(ctx, s, run{command: "dast", name: "benchmark-" + c.name, plan: p})
}

// wrongCategory returns the cases of which a flaw of another category is told. A case has no
// other than its own.
func (c category) wrongCategory(s *scan, pages []page) []string {
	var out []string
	for _, other := range categories {
		// A finding of the own category is judged by judgePages.
		if other.name == c.name {
			continue
		}
		for _, f := range s.Flaws {
			if other.class.includesFlaw(f) && slices.ContainsFunc(pages, func(p page) bool {
				return p.Path == f.Path
			}) &&
				!slices.Contains(out, f.Path) {
				out = append(out, f.Path)
			}
		}
	}
	return out
}

// byCase returns the scan with the names of cases instead of paths.
func (s *scan) byCase() *scan {
	out := *s
	out.Flaws = nil
	for _, f := range s.Flaws {
		// "/benchmark/xss-00/BenchmarkTest00013.html" is the form of the case of that name.
		f.Path = strings.TrimSuffix(f.Path[strings.LastIndexByte(f.Path, '/')+1:], ".html")
		out.Flaws = append(out.Flaws, f)
	}
	return &out
}

// expectedCases reads the list: name, category, whether the flaw is real, CWE.
func expectedCases(file string) (map[string][]page, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	r := csv.NewReader(f)
	// The header begins with #; a record may have more than four fields.
	r.FieldsPerRecord, r.Comment = -1, '#'
	records, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	out := map[string][]page{}
	for i, record := range records {
		if len(record) < 4 {
			return nil, fmt.Errorf("%s: record %d has %d fields", file, i+1, len(record))
		}
		out[record[1]] = append(out[record[1]],
			page{Section: record[1], Path: record[0], Vulnerable: record[2] == "true", Told: map[string]bool{}})
	}
	return out, nil
}
