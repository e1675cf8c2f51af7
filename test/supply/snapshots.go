package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// This file reads what the tests of zizmor say of its test workflows. Each test
// names a file, how sensitive the run is (its "persona"), and holds the output
// that the run must have, with the kind and place of every finding.

// A snapshot is one run of zizmor's tests over one file.
// persona decides how much is reported: "regular" reports what is surely worth it, "pedantic"
// also style, "auditor" also what may be a false positive.
type snapshot struct {
	file    string // below test-data; a folder has no extension
	module  string // the audit that the test is about: "bot-conditions"
	persona string // "regular", "pedantic" or "auditor"
	finds   []expected
}

// An expected is one finding of a run.
// The path is "" for a single file. start is the line of the arrow, end the last line marked with
// ^.
type expected struct {
	audit      string
	path       string // below the input, when that is a folder
	start, end int    // lines; the flagged part stands within
}

var (
	// Expressions that read the snapshot tests of zizmor, which are Rust sources.
	// inputOf captures the test file, as in .input(input_under_test("bot-conditions.yml")).
	inputOf   = regexp.MustCompile(`\.input\(\s*input_under_test\(\s*"([^"]+)"\s*,?\s*\)\s*,?\s*\)`)
	personaOf = regexp.MustCompile(`--persona=(\w+)|--(pedantic)`)
	// rawText captures the expected output, a raw or a plain string of Rust behind the last
	// argument.
	rawText = regexp.MustCompile(`(?s)@r#"(.*?)"#|@r?"(.*?)"\s*\)`)
	// headline is the first line of a finding, as in "error[bot-conditions]: spoofable bot actor
	// check".
	headline = regexp.MustCompile(`^\s*(?:error|warning|info|help)\[([a-z-]+)\]: `)
	// arrow is the location, as in "  --> @@INPUT@@:12:5", with a path behind it if the input is
	// a folder.
	arrow = regexp.MustCompile(`^\s*--> @@INPUT@@/?([^:]*):(\d+):\d+`)
	// numbered is a quoted line of the file, as in " 12 |     if: github.actor == …".
	numbered = regexp.MustCompile(`^\s*(\d+)\s\| `)
)

// readSnapshots returns the runs that need neither the network nor a
// configuration of zizmor's, which no other program knows.
func readSnapshots(tests string) ([]snapshot, error) {
	files, err := filepath.Glob(filepath.Join(tests, "audit", "*.rs"))
	if err != nil {
		return nil, err
	}
	var out []snapshot
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		module := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(name), ".rs"), "_", "-")
		// The text before the first macro is imports and helpers.
		for _, part := range strings.Split(string(b), "assert_snapshot!(")[1:] {
			if s, ok := readSnapshot(module, part); ok {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// readSnapshot reads one snapshot; false when it is not of a workflow.
// The part reaches to the next macro; what follows #[test] belongs to the next test.
func readSnapshot(module, text string) (snapshot, bool) {
	if end := strings.Index(text, "#[test]"); end >= 0 {
		text = text[:end]
	}
	in := inputOf.FindStringSubmatch(text)
	want := rawText.FindStringSubmatch(text)
	if in == nil || want == nil ||
		// Runs with a configuration, a network, fixes or an expected failure cannot be compared.
		slices.ContainsFunc([]string{".config(", "AssertOnline", "gh_token", "--fix", ".expects_failure"},
			func(s string) bool {
				return strings.Contains(text, s)
			}) {
		return snapshot{}, false
	}
	s := snapshot{file: in[1], module: module, persona: "regular"}
	// One of the two groups is empty.
	if p := personaOf.FindStringSubmatch(text); p != nil {
		s.persona = p[1] + p[2]
	}
	s.finds = readFindings(want[1] + want[2])
	return s, true
}

// readFindings reads a run's output. A finding is a headline, an arrow to its
// first line, and the lines of the file, those of the flagged part marked with ^.
func readFindings(text string) []expected {
	var out []expected
	audit, line := "", 0
	for _, l := range strings.Split(text, "\n") {
		if m := headline.FindStringSubmatch(l); m != nil {
			audit = m[1]
			continue
		}
		if m := arrow.FindStringSubmatch(l); m != nil && audit != "" {
			// Only the first arrow of a headline is the finding's; others are related locations,
			// which the empty audit leaves out.
			n, _ := strconv.Atoi(m[2]) // digits
			out = append(out, expected{audit: audit, path: m[1], start: n, end: n})
			audit, line = "", 0
			continue
		}
		if m := numbered.FindStringSubmatch(l); m != nil {
			line, _ = strconv.Atoi(m[1]) // digits
			continue
		}
		// A line of ^ marks the quoted line above it. The end is the last marked line.
		if len(out) > 0 && line > 0 && strings.Contains(l, "^") && strings.Contains(l, "|") {
			out[len(out)-1].end = max(out[len(out)-1].end, line)
		}
	}
	return out
}

// A workflowCase is one file of the tests with all that its runs say.
type workflowCase struct {
	file    string
	finds   []expected      // of any persona, without doubles
	regular map[string]bool // audits that the regular run reports something of
	runs    map[string]bool // personas
	modules map[string]bool
}

// isDevelopment reports whether the case belongs to the half that rules are made on.
// A hash of the name, so that the halves are the same in each checkout: a first digit of 0 to 7.
func (c *workflowCase) isDevelopment() bool {
	sum := sha256.Sum256([]byte(c.file))
	return hex.EncodeToString(sum[:1])[0] <= '7'
}

// joinRuns joins the runs by file.
// One file is run with different personas by several tests; all findings together are what may be
// found in it.
func joinRuns(all []snapshot) []*workflowCase {
	by := map[string]*workflowCase{}
	var out []*workflowCase
	for _, s := range all {
		c := by[s.file]
		if c == nil {
			c = &workflowCase{file: s.file, regular: map[string]bool{}, runs: map[string]bool{},
				modules: map[string]bool{}}
			by[s.file] = c
			out = append(out, c)
		}
		c.runs[s.persona], c.modules[s.module] = true, true
		for _, e := range s.finds {
			if !slices.Contains(c.finds, e) {
				c.finds = append(c.finds, e)
			}
			if s.persona == "regular" {
				c.regular[e.audit] = true
			}
		}
	}
	slices.SortFunc(out, func(a, b *workflowCase) int { return strings.Compare(a.file, b.file) })
	return out
}
