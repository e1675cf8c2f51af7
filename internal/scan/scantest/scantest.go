// Package scantest runs an analyzer over its testdata and compares what it finds
// with what the files themselves say.
//
// A line on which a finding is expected says so in a comment, in whatever way
// the language writes comments:
//
//	tok = os.environ["X"]; key = "…"   # want "AWS access token"
//
// The words between quotes are regular expressions; each must match one finding
// that starts on the line, in its text `message [rule id]`. Several findings are
// several quotes. "want+1" speaks of the next line, "want-2" of the last but one.
// A file whose format has no comments has its expectations in a file beside it,
// NAME.want, one a line: `3 "regexp"`, and `0 "regexp"` for the file as a whole.
//
// Every other finding fails the test. So does testdata without a file that has a
// finding, or without a file that the analyzer looks at and finds nothing in.
//
// The three characters {-} are removed from test data before it is scanned, so
// that a secret in it need not be written in one piece, which would make
// everybody's secret scanner speak up.
package scantest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// Run runs the analyzer over the folder testdata of the calling test. The
// options may be changed, for example to give it advisories.
func Run(t *testing.T, a *scan.Analyzer, change ...func(*scan.Options)) {
	t.Helper()
	s, err := loadSuite("testdata")
	if err != nil {
		t.Fatal(err)
	}
	o := scan.Options{Root: s.writeFiles(t, nil), Analyzers: []*scan.Analyzer{a}}
	for _, c := range change {
		c(&o)
	}
	for _, fault := range s.compareFindings(a, o) {
		t.Error(fault)
	}
	for _, fault := range s.runDamaged(t, o) {
		t.Error(fault)
	}
}

// suite is the test data.
type suite struct {
	files map[string][]byte
	wants map[string][]want
}

// want is an expected finding.
type want struct {
	line int
	re   *regexp.Regexp
}

// loadSuite reads the folder.
func loadSuite(dir string) (*suite, error) {
	s := &suite{files: map[string][]byte{}, wants: map[string][]want{}}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if of, ok := strings.CutSuffix(name, ".want"); ok {
			err = s.parseSidecar(of, string(b))
		} else {
			s.files[name] = bytes.ReplaceAll(b, []byte("{-}"), nil)
			err = s.parseComments(name, string(b))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	return s, err
}

const quoted = `(?:"(?:[^"\\]|\\.)*"|` + "`[^`]*`)"

var (
	comment  = regexp.MustCompile(`\bwant([+-]\d+)?((?:\s+` + quoted + `)+)`)
	pattern  = regexp.MustCompile(quoted)
	sideline = regexp.MustCompile(`^(\d+)((?:\s+` + quoted + `)+)\s*$`)
)

// parseComments reads the expectations in the lines of a file.
func (s *suite) parseComments(name, text string) error {
	for n, line := range strings.Split(text, "\n") {
		for _, m := range comment.FindAllStringSubmatch(line, -1) {
			offset, _ := strconv.Atoi(m[1]) // empty is 0
			if err := s.addExpectation(name, n+1+offset, m[2]); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseSidecar reads the expectations in the file beside a file.
func (s *suite) parseSidecar(name, text string) error {
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		m := sideline.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("line %d is not a number and a quoted regular expression", n+1)
		}
		at, _ := strconv.Atoi(m[1]) // digits
		if err := s.addExpectation(name, at, m[2]); err != nil {
			return err
		}
	}
	return nil
}

// addExpectation adds the quoted patterns that findings at the line must match.
func (s *suite) addExpectation(name string, line int, quotes string) error {
	for _, q := range pattern.FindAllString(quotes, -1) {
		text, err := strconv.Unquote(q)
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", line, q, err)
		}
		re, err := regexp.Compile(text)
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		s.wants[name] = append(s.wants[name], want{line, re})
	}
	return nil
}

// writeFiles puts the files, changed by change, into a folder.
func (s *suite) writeFiles(t *testing.T, change func([]byte) []byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range s.files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if change != nil {
			b = change(b)
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// compareFindings compares the findings with the expectations and returns what differs.
func (s *suite) compareFindings(a *scan.Analyzer, o scan.Options) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }

	first, r, err := runWith(o, 1)
	if err != nil {
		return []string{err.Error()}
	}
	again, _, err := runWith(o, 8)
	if err != nil {
		return []string{err.Error()}
	}
	if diff := cmp.Diff(first, again); diff != "" {
		fault("one worker and eight give different results (-1 +8):\n%s", diff)
	}
	for _, st := range r.Incomplete() {
		fault("%s %s: %+v", st.Analyzer, st.State, st.Reasons)
	}
	for name := range s.wants {
		if _, ok := s.files[name]; !ok {
			fault("%s.want is for a file that does not exist", name)
		}
	}
	left := map[string][]want{}
	for name, wants := range s.wants {
		left[name] = append([]want(nil), wants...)
	}
	for _, f := range r.Findings {
		if !takeExpectation(left, f) {
			fault("%s:%d: unexpected finding: %s", f.Location.Path, f.Location.StartLine, findingText(f))
		}
	}
	for name, wants := range left {
		for _, w := range wants {
			fault("%s:%d: no finding matches %q", name, w.line, w.re)
		}
	}
	silent := false
	for name := range s.files {
		silent = silent || len(s.wants[name]) == 0 && (a.Match == nil || a.Match(name))
	}
	if len(s.wants) == 0 {
		fault("testdata has no file in which something is to be found")
	}
	if !silent {
		fault("testdata has no analyzed file without expected findings")
	}
	return faults
}

// takeExpectation removes an expectation that the finding meets.
func takeExpectation(left map[string][]want, f finding.Finding) bool {
	wants := left[f.Location.Path]
	for i, w := range wants {
		if w.line == f.Location.StartLine && w.re.MatchString(findingText(f)) {
			left[f.Location.Path] = append(wants[:i:i], wants[i+1:]...)
			return true
		}
	}
	return false
}

// findingText is what expectations are compared with.
func findingText(f finding.Finding) string { return f.Message + " [" + f.RuleID + "]" }

// runDamaged runs the analyzer over damaged files: whatever they hold, it must not
// crash or hang.
func (s *suite) runDamaged(t *testing.T, o scan.Options) []string {
	var faults []string
	for name, change := range map[string]func([]byte) []byte{
		"cut in half":    func(b []byte) []byte { return b[:len(b)/2] },
		"without breaks": func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte(" ")) },
		"with zeros":     func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("e"), []byte{0}) },
		"not UTF-8":      func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("e"), []byte{0xFF}) },
		"empty":          func([]byte) []byte { return nil },
	} {
		o.Root = s.writeFiles(t, change)
		_, r, err := runWith(o, 2)
		if err != nil {
			faults = append(faults, fmt.Sprintf("files %s: %v", name, err))
			continue
		}
		for _, st := range r.Incomplete() {
			for _, reason := range st.Reasons {
				if reason.Code == "panic" || reason.Code == "timeout" {
					faults = append(faults, fmt.Sprintf("files %s: %s: %s: %s", name, reason.Path, reason.Code,
						reason.Message))
				}
			}
		}
	}
	return faults
}

var duration = regexp.MustCompile(`"(duration":\d+|started":"[^"]*")`)

// still passes on everything but progress, which depends on who is quicker.
type still struct{ scan.Handler }

// Progress drops the message: it depends on timing.
func (still) Progress(*scan.Progress) error { return nil }

// runWith runs the scan and returns its stream, without times, and its result.
func runWith(o scan.Options, workers int) (string, *Kept, error) {
	o.Workers = workers
	var b bytes.Buffer
	r := &Kept{}
	if err := scan.Run(context.Background(), o, scan.Tee(r, still{scan.Encode(&b)})); err != nil {
		return "", nil, err
	}
	return duration.ReplaceAllString(b.String(), ""), r, nil
}
