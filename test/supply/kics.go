package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"merlon/test/table"
)

// This file asks whether the queries of the KICS project, on our own decoders and
// our own evaluation, find what their authors wrote down: each query has files that
// it must find something in, with the lines, and files in which it must be silent.

// kicsFloor is the share of the expected results to be found on the exact line.
// The rest are lines on which our decoder and that of KICS differ.
const kicsFloor = 0.97

// A kicsCase is one line on which a query must find something, or one on which it
// found something and must not.
// Name is the query's name as a result shows it, Query the folder of the test.
type kicsCase struct {
	Platform string `json:"platform"`
	Query    string `json:"query"`
	Name     string `json:"name"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Got      string `json:"got"`            // "found", "missing", "extra", "silent"
	Near     []int  `json:"near,omitempty"` // lines of the query in the file, when missing
}

// kicsExpected is an entry of positive_expected_result.json.
// The file is a JSON list. FileName is missing in older ones.
type kicsExpected struct {
	QueryName string `json:"queryName"`
	Line      int    `json:"line"`
	FileName  string `json:"fileName"`
}

// kicsQuery is one folder of a query.
// dir is the folder with query.rego, metadata.json and the folder test.
type kicsQuery struct {
	platform, name string // the folder below the platform's
	dir            string
}

// kicsTests scans the positive and negative test files of every KICS query, and compares the
// reported lines with the expected ones.
// There is one row for each platform, such as terraform, k8s or dockerfile.
func kicsTests(ctx context.Context, b *bench) ([]table.Row, error) {
	root := filepath.Join(b.kics, "assets", "queries")
	platforms, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var rows []table.Row
	var cases []kicsCase
	for _, p := range platforms {
		queries, err := kicsQueries(root, p.Name())
		if err != nil {
			return nil, err
		}
		// A folder without queries, such as common, has no row.
		if len(queries) == 0 {
			continue
		}
		got, err := b.kicsPlatform(ctx, p.Name(), queries)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name(), err)
		}
		cases = append(cases, got...)
		rows = append(rows, kicsRow(p.Name(), len(queries), got))
	}
	return rows, writeCases(b, "kics", cases)
}

// kicsQueries lists the queries of a platform, without experiments and inventories.
func kicsQueries(root, platform string) ([]kicsQuery, error) {
	var queries []kicsQuery
	err := filepath.WalkDir(filepath.Join(root, platform), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// The queries *_bom list resources for a bill of materials. The folders test contain
		// other files with the name metadata.json.
		if d.IsDir() && (d.Name() == "test" || strings.HasSuffix(d.Name(), "_bom")) {
			return filepath.SkipDir
		}
		if d.Name() != "metadata.json" {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		// Experimental is written as text in metadata.json.
		var about struct{ Experimental, Severity string }
		if err := json.Unmarshal(raw, &about); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		dir := filepath.Dir(path)
		if _, err := os.Stat(filepath.Join(dir, "query.rego")); err != nil || about.Experimental == "true" ||
			about.Severity == "TRACE" {
			return nil
		}
		name, err := filepath.Rel(filepath.Join(root, platform), dir)
		queries = append(queries, kicsQuery{platform, filepath.ToSlash(name), dir})
		return err
	})
	return queries, err
}

// kicsPlatform scans the tests of a platform: what must be found in one tree, what
// must be silent in another, each query's in a folder of its own, and in it each
// folder of the tests.
// All queries of a platform are scanned in one run, since each process reads and compiles all rules first.
func (b *bench) kicsPlatform(ctx context.Context, platform string, queries []kicsQuery) ([]kicsCase, error) {
	work, err := os.MkdirTemp("", "merlon-kics")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(work) }() // a temporary folder
	expected := map[string][]kicsExpected{}   // by folder below work
	for _, q := range queries {
		for _, kind := range []string{"positive", "negative"} {
			if err := kicsCopy(work, q, kind, expected); err != nil {
				return nil, fmt.Errorf("%s: %w", q.name, err)
			}
		}
	}
	byID, err := kicsNames(queries)
	if err != nil {
		return nil, err
	}
	// Findings of all queries in one map; the key says whose test it was found in.
	at := map[string]map[int]bool{} // lines by folder, rule name and file
	for _, kind := range []string{"positive", "negative"} {
		dir := filepath.Join(work, kind)
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		// The workflows of the platform cicd are analyzed by rules of ours, hence the second
		// analysis.
		r, _, err := b.scanTarget(ctx, dir, "--analyses", "iac,cicd")
		if err != nil {
			return nil, err
		}
		kicsLines(r, kind, platform, at, byID)
	}
	return kicsJudge(work, platform, queries, expected, at), nil
}

// kicsLines notes where each rule found something. Rules of pipelines are ours, so
// there every rule counts for every query.
func kicsLines(r *report, kind, platform string, at map[string]map[int]bool, byID map[string]string) {
	names := map[string]string{}
	// A finding that several rules report at one location names the others in Same; they are not
	// in the list of rules, so their names come from the ids.
	for _, f := range r.Findings {
		for _, id := range f.Same { // rules that are told of nowhere else
			names[id] = byID[path.Base(id)]
		}
	}
	for _, rule := range r.Rules {
		names[rule.ID] = rule.Name
	}
	for _, f := range r.Findings {
		for _, id := range append([]string{f.RuleID}, f.Same...) {
			name := names[id]
			if platform == "cicd" {
				name = ""
			}
			for _, l := range append([]place{f.Location}, f.Also...) {
				key := kicsKey(filepath.Dir(filepath.Join(kind, l.Path)), name, filepath.Base(l.Path))
				if at[key] == nil {
					at[key] = map[int]bool{}
				}
				at[key][l.StartLine] = true
			}
		}
	}
}

// kicsNames returns the names of the queries by the ends of our rules' ids.
// The ids of the imported queries are made in the same way, from the folder of the query.
func kicsNames(queries []kicsQuery) (map[string]string, error) {
	out := map[string]string{}
	for _, q := range queries {
		raw, err := os.ReadFile(filepath.Join(q.dir, "metadata.json"))
		if err != nil {
			return nil, err
		}
		var about struct {
			Name string `json:"queryName"`
		}
		if err := json.Unmarshal(raw, &about); err != nil {
			return nil, fmt.Errorf("%s: %w", q.name, err)
		}
		id := strings.NewReplacer("_", "-", "/", "-", " ", "-", ".", "-").Replace(q.name)
		out[strings.ToLower(id)] = about.Name
	}
	return out, nil
}

// kicsKey is the key of the expected findings of a rule in a file.
// NUL cannot be part of a path or a name. Titles of ours are in sentence case, those of the queries are not.
func kicsKey(dir, rule, file string) string {
	return dir + "\x00" + strings.ToLower(rule) + "\x00" + file
}

// kicsCopy copies the test files of one kind, and all that belong to no kind.
// Shared files, such as modules or variables, belong to both kinds. Names begin with "positive"
// or "negative".
func kicsCopy(work string, q kicsQuery, kind string, expected map[string][]kicsExpected) error {
	// The other kind's files are left out: one of them beside a negative test would be found
	// there.
	other := map[string]string{"positive": "negative", "negative": "positive"}[kind]
	tests := filepath.Join(q.dir, "test")
	return filepath.WalkDir(tests, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), other) && !strings.HasSuffix(d.Name(), "expected_result.json") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(tests, path)
		if err != nil {
			return err
		}
		folder := filepath.Join(kind, q.name, filepath.Dir(rel))
		if q.platform == "cicd" { // a workflow is one by its folder
			folder = filepath.Join(folder, ".github", "workflows")
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(d.Name(), "expected_result.json") {
			if kind == "negative" || d.Name() != "positive_expected_result.json" {
				return nil
			}
			var list []kicsExpected
			if err := json.Unmarshal(raw, &list); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			expected[folder] = list
			return nil
		}
		if err := os.MkdirAll(filepath.Join(work, folder), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(work, folder, d.Name()), raw, 0o644)
	})
}

// kicsJudge compares.
// A result found on another line is missing, with the lines in Near: the exact line is what an
// editor marks.
func kicsJudge(work, platform string, queries []kicsQuery, expected map[string][]kicsExpected,
	at map[string]map[int]bool) []kicsCase {
	var cases []kicsCase
	wanted := map[string]map[int]bool{}
	for _, folder := range slices.Sorted(maps.Keys(expected)) {
		for _, e := range expected[folder] {
			name := e.QueryName
			if platform == "cicd" {
				name = ""
			}
			c := kicsCase{Platform: platform, Query: strings.TrimPrefix(filepath.ToSlash(folder), "positive/"),
				Name: e.QueryName, File: e.FileName, Line: e.Line}
			key := kicsFind(at, folder, name, e)
			if wanted[key] == nil {
				wanted[key] = map[int]bool{}
			}
			// Some lists name a line twice, for two keys of it.
			if wanted[key][e.Line] {
				continue // the same expectation again
			}
			wanted[key][e.Line] = true
			c.Got = "found"
			if !at[key][e.Line] && (platform != "cicd" || !kicsWithin(filepath.Join(work, folder, e.FileName), e.Line,
				at[key])) {
				c.Got, c.Near = "missing", slices.Sorted(maps.Keys(at[key]))
			}
			cases = append(cases, c)
		}
	}
	return append(cases, kicsExtra(platform, queries, expected, at)...)
}

// kicsWithin reports whether one of the lines is in the block that begins on the
// line: our rules of pipelines tell the line of a script, not that of its key.
// A block ends at the next line that is indented no deeper; blank lines do not end it. Line
// numbers are from 1, so text[line] is the line after the first.
func kicsWithin(file string, line int, lines map[int]bool) bool {
	raw, err := os.ReadFile(file)
	if err != nil {
		return false // then there is nothing within it
	}
	text := strings.Split(string(raw), "\n")
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
	for i := line; i < len(text) && line > 0; i++ {
		if strings.TrimSpace(text[i]) != "" && indent(text[i]) <= indent(text[line-1]) {
			return false
		}
		if lines[i+1] {
			return true
		}
	}
	return false
}

// kicsFind returns the key of the expectation. An older one names no file: then it
// is the one in which something is found on the line.
// Of several files the first by name, so that each run judges the same one.
func kicsFind(at map[string]map[int]bool, folder, name string, e kicsExpected) string {
	if e.FileName != "" {
		return kicsKey(folder, name, e.FileName)
	}
	prefix := kicsKey(folder, name, "")
	best := prefix
	for key, lines := range at {
		if strings.HasPrefix(key, prefix) && lines[e.Line] && (best == prefix || key < best) {
			best = key
		}
	}
	return best
}

// kicsExtra lists what a query found where it must be silent: in its negative files.
// A query folder may have results of several names, and other queries may be right about its
// files: only its own names count.
func kicsExtra(platform string, queries []kicsQuery, expected map[string][]kicsExpected,
	at map[string]map[int]bool) []kicsCase {
	mine := map[string]map[string]bool{} // names of a query's results
	for folder, list := range expected {
		for _, q := range queries {
			if in := strings.TrimPrefix(filepath.ToSlash(folder), "positive/"); in == q.name ||
				strings.HasPrefix(in, q.name+"/") {
				if mine[q.name] == nil {
					mine[q.name] = map[string]bool{}
				}
				for _, e := range list {
					mine[q.name][e.QueryName] = true
				}
			}
		}
	}
	var cases []kicsCase
	for key, lines := range at {
		part := strings.Split(key, "\x00")
		in, negative := strings.CutPrefix(filepath.ToSlash(part[0]), "negative/")
		// The negative files of pipelines are not judged: our rules know more kinds of flaws than
		// the query.
		if !negative || platform == "cicd" {
			continue
		}
		for _, q := range queries {
			if (in == q.name || strings.HasPrefix(in, q.name+"/")) && mine[q.name][part[1]] {
				for line := range lines {
					cases = append(cases, kicsCase{Platform: platform, Query: in, Name: part[1], File: part[2],
						Line: line, Got: "extra"})
				}
			}
		}
	}
	slices.SortFunc(cases, func(a, b kicsCase) int {
		return cmp.Or(strings.Compare(a.Query, b.Query), strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	return cases
}

// kicsRow returns the row of a platform.
func kicsRow(platform string, queries int, cases []kicsCase) table.Row {
	count := map[string]int{}
	for _, c := range cases {
		count[c.Got]++
	}
	all := count["found"] + count["missing"]
	// A platform without expected results meets the floor.
	share := 1.0
	if all > 0 {
		share = float64(count["found"]) / float64(all)
	}
	return table.Row{
		Measure:  "expected results of the KICS queries, " + platform,
		Floor:    "≥ " + table.Percent(kicsFloor) + ", exact line",
		Measured: fmt.Sprintf("%s (%d of %d)", table.Percent(share), count["found"], all),
		Met:      table.Verdict(share >= kicsFloor),
		Note:     fmt.Sprintf("%d queries; %d lines found in files that must be silent", queries, count["extra"]),
	}
}
