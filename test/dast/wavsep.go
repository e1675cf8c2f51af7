package main

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"merlon/test/table"
)

// This file measures attacks on WAVSEP, whose folders say what is true of the
// pages in them: "…-Detection-Evaluation-GET-…" has a flaw in each page,
// "…-FalsePositives-GET" in none.

// A section is one kind of flaw in WAVSEP.
// Empty names of a scanner's modules mean that it is not run on the section.
type section struct {
	name   string
	folder string // below /wavsep/active
	seeds  []string
	class  class
	// The share of vulnerable pages that must be found, and the number of safe ones that may be
	// reported.
	tpr      float64 // at least
	wrong    int     // at most
	check    string  // merlon's check for the class
	wapiti   string  // its modules for the class
	template string  // nuclei's folder of templates below dast/vulnerabilities
	dalfox   string  // what it looks for; empty: not this class
}

// sections are the parts of WAVSEP with their floors.
var sections = []section{
	{name: "XSS", folder: "Reflected-XSS", seeds: []string{"index-xss.jsp", "index-xss-exotic.jsp", "index-false.jsp"},
		class: crossSiteScripting, tpr: .74, check: "xss", wapiti: "xss", template: "xss", dalfox: "xss"},
	{name: "SQL injection", folder: "SQL-Injection", seeds: []string{"index-sql.jsp", "index-sql-exotic.jsp",
		"index-false.jsp"}, class: sqlInjection, tpr: 1, check: "sqlinjection", wapiti: "sql", template: "sqli"},
	{name: "file inclusion", folder: "LFI", seeds: []string{"index-lfi.jsp", "index-false.jsp"}, class: pathTraversal,
		tpr: .6, wrong: 1, check: "pathtraversal", wapiti: "file", template: "lfi"},
	{name: "redirect", folder: "Unvalidated-Redirect", seeds: []string{"index-redirect.jsp", "index-false.jsp"},
		class: openRedirect, tpr: .95, check: "redirect", wapiti: "redirect", template: "redirect", dalfox: "redirect"},
}

// wavsepBase is where its pages are.
const wavsepBase = "/wavsep/active/"

// A page is one page of a target with what each scanner said of it.
type page struct {
	Section, Path string
	Vulnerable    bool
	// It is filled while scanners are judged.
	Told map[string]bool // by scanner
}

// measureWAVSEP scans WAVSEP section by section. Its false positive cases resemble vulnerable
// ones.
func measureWAVSEP(ctx context.Context, b *bench) ([]table.Row, error) {
	var rows []table.Row
	var cases []page
	for _, sec := range sections {
		if !b.cases.MatchString(sec.name) {
			continue
		}
		got, pages, err := b.wavsepSection(ctx, sec)
		rows, cases = append(rows, got...), append(cases, pages...)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", sec.name, err)
		}
	}
	return rows, table.Keep(filepath.Join(b.out, "wavsep.jsonl"), cases)
}

// wavsepSection scans one section with merlon and the other scanners. Each looks
// for the section's kind of flaw only, and none runs script: the others cannot, or do
// not unless they are told. The database is made anew for each:
// attacks fill it.
func (b *bench) wavsepSection(ctx context.Context, sec section) ([]table.Row, []page, error) {
	pages, err := sec.listPages(filepath.Join(b.targets, "wavsep", "app", "WebContent", "active"))
	if err != nil {
		return nil, nil, err
	}
	var rows []table.Row
	// For the comparison of costs at the end.
	results := map[string]result{}
	for _, scanner := range append([]string{"merlon"}, b.peers...) {
		if scanner != "merlon" && !scannerSupports(scanner, sec) {
			continue
		}
		got, err := b.attackWavsep(ctx, scanner, sec, pages)
		switch {
		// Another scanner that fails is a row; ours ends the measure.
		case err != nil && (scanner == "merlon" || ctx.Err() != nil):
			return rows, pages, fmt.Errorf("%s: %w", scanner, err)
		case err != nil:
			rows = append(rows, table.Row{Measure: fmt.Sprintf("WAVSEP GET %s, %s", sec.name, scanner),
				Measured: "not measured", Note: err.Error()})
			continue
		}
		t := judgePages(scanner, got, sec.class, pages)
		results[scanner] = result{found: t.Found, requests: got.Requests, wall: got.Cost.Wall}
		row := table.Row{Measure: fmt.Sprintf("WAVSEP GET %s (%d), %s", sec.name, t.Vulnerable, scanner),
			Measured: fmt.Sprintf("TPR %s (%d), %d of %d wrong", table.Percent(t.tpr()), t.Found, t.Wrong, t.Safe),
			Note: got.describeCost() + listNames("; missed: ", shortPaths(t.Missed)) +
				listNames("; wrong: ", shortPaths(t.Alarms))}
		if scanner == "merlon" {
			row.Floor = fmt.Sprintf("TPR ≥ %.0f %%, ≤ %d wrong", 100*sec.tpr, sec.wrong)
			row.Met = table.Verdict(t.tpr() >= sec.tpr, t.Wrong <= sec.wrong)
		}
		rows = append(rows, row)
	}
	return append(rows, compareScanners("WAVSEP GET "+sec.name, results)...), pages, nil
}

// attackWavsep runs one scanner on a fresh target.
func (b *bench) attackWavsep(ctx context.Context, scanner string, sec section, pages []page) (*scan, error) {
	s, err := b.startTarget(ctx, "wavsep")
	if err != nil {
		return nil, err
	}
	defer s.stopTarget()
	job := job{name: "wavsep-" + sec.folder, base: s.baseAddress() + "/wavsep/", exclude: sec.excludePatterns(),
		section: sec}
	for _, seed := range sec.seeds {
		job.seeds = append(job.seeds, s.baseAddress()+wavsepBase+seed)
	}
	for _, p := range pages {
		if folder := s.baseAddress() + path.Dir(p.Path) + "/"; !slices.Contains(job.folders, folder) {
			job.folders = append(job.folders, folder)
		}
	}
	if scanner == "merlon" {
		return b.scanServer(ctx, s, run{command: "dast", name: job.name, browser: "none", checks: []string{sec.check},
			plan: plan{URL: job.base, Seeds: job.seeds, Exclude: job.exclude}})
	}
	return b.peerScan(ctx, s, scanner, job)
}

// excludePatterns returns patterns of what is not of the section.
func (sec section) excludePatterns() []string {
	out := []string{"*wavsep-install*", "*-POST*", "*-COOKIE*"}
	for _, folder := range []string{"Reflected-XSS", "SQL-Injection", "LFI", "RFI", "Unvalidated-Redirect", "DOM-XSS",
		"Obsolete-Files"} {
		if folder != sec.folder {
			out = append(out, wavsepBase+folder+"/*")
		}
	}
	return out
}

// listPages lists the cases of the section that are asked with GET.
func (sec section) listPages(active string) ([]page, error) {
	// The cases by POST and cookie repeat those by GET.
	files, err := filepath.Glob(filepath.Join(active, sec.folder, "*-GET*", "Case*.jsp"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no cases in %s", filepath.Join(active, sec.folder))
	}
	var out []page
	for _, file := range files {
		folder := filepath.Base(filepath.Dir(file))
		out = append(out, page{Section: sec.name, Path: wavsepBase + sec.folder + "/" + folder + "/" +
			filepath.Base(file),
			// The truth is in the name of the folder.
			Vulnerable: !strings.Contains(folder, "FalsePositives"), Told: map[string]bool{}})
	}
	return out, nil
}

// judgePages counts the pages about which the scanner told a flaw of the class.
func judgePages(scanner string, s *scan, c class, pages []page) tally {
	told := map[string]bool{}
	for _, f := range s.Flaws {
		if c.includesFlaw(f) {
			told[f.Path] = true
		}
	}
	var t tally
	for _, p := range pages {
		p.Told[scanner] = told[p.Path]
		t.addCase(p.Path, p.Vulnerable, told[p.Path])
	}
	return t
}

// shortPaths leaves the last folder and the number of a case.
func shortPaths(paths []string) []string {
	var out []string
	for _, path := range paths {
		folder := filepath.Base(filepath.Dir(path))
		number, _, _ := strings.Cut(filepath.Base(path), "-")
		out = append(out, strings.ReplaceAll(folder, "-Detection-Evaluation", "")+"/"+number)
	}
	return out
}
