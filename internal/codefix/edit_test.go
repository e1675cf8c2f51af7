package codefix

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/finding"
)

func TestApply(t *testing.T) {
	edit := func(start, end int, lines ...string) finding.Edit {
		return finding.Edit{StartLine: start, EndLine: end, Lines: lines}
	}
	for _, tt := range []struct {
		name, text string
		edits      []finding.Edit
		want       string // or the error
	}{
		{"replace", "a\nb\nc\n", []finding.Edit{edit(2, 2, "x", "y")}, "a\nx\ny\nc\n"},
		{"insert before", "a\nb\n", []finding.Edit{edit(2, 1, "x")}, "a\nx\nb\n"},
		{"delete", "a\nb\nc\n", []finding.Edit{edit(1, 2)}, "c\n"},
		{"several", "a\nb\nc\n", []finding.Edit{edit(1, 0, "0"), edit(1, 1, "A"), edit(3, 3)}, "0\nA\nb\n"},
		{"append", "a\n", []finding.Edit{edit(2, 1, "b")}, "a\nb\n"},
		{"append without a final newline", "a", []finding.Edit{edit(2, 1, "b")}, "a\nb"},
		{"replace the last line without a final newline", "a\nb", []finding.Edit{edit(2, 2, "c")}, "a\nc"},
		{"delete the last line without a final newline", "a\nb", []finding.Edit{edit(2, 2)}, "a"},
		{"CRLF", "a\r\nb\r\n", []finding.Edit{edit(2, 1, "x"), edit(2, 2, "c")}, "a\r\nx\r\nc\r\n"},
		{"CRLF without a final newline", "a\r\nb", []finding.Edit{edit(3, 2, "c")}, "a\r\nb\r\nc"},
		{"empty file", "", []finding.Edit{edit(1, 0, "a")}, "a\n"},
		{"no edits", "a\n", nil, "the fix has no edits"},
		{"beyond the end", "a\n", []finding.Edit{edit(2, 2, "b")}, "lines 2 to 2 are not in the file, which has " +
			"1 lines"},
		{"line 0", "a\n", []finding.Edit{edit(0, 0, "b")}, "lines 0 to 0 are not in the file, which has 1 lines"},
		{"overlap", "a\nb\n", []finding.Edit{edit(1, 2, "x"), edit(2, 2, "y")}, "the edits of lines 1 and 2 overlap " +
			"or are out of order"},
		{"out of order", "a\nb\n", []finding.Edit{edit(2, 2, "x"), edit(1, 1, "y")}, "the edits of lines 2 and 1 " +
			"overlap or are out of order"},
		{"two insertions at one place", "a\n", []finding.Edit{edit(1, 0, "x"), edit(1, 0, "y")},
			"the edits of lines 1 and 1 overlap or are out of order"},
		{"insertion into replaced lines", "a\nb\n", []finding.Edit{edit(1, 2, "x"), edit(2, 1, "y")},
			"the edits of lines 1 and 2 overlap or are out of order"},
		{"a line end in a line", "a\n", []finding.Edit{edit(1, 1, "x\ny")}, "the edit of line 1 has a line end " +
			"inside a line"},
	} {
		got, err := Apply(tt.text, tt.edits)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What Diff writes makes the new text of the old one with git apply.
func TestDiff(t *testing.T) {
	if got := Diff("a", "x\n", "x\n"); got != "" {
		t.Errorf("equal texts differ by %q", got)
	}
	long := strings.Repeat("line\n", 10)
	for _, tt := range []struct{ name, before, after, want string }{
		{"one line", "a\nb\nc\n", "a\nx\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"no final newline", "a\nb", "a\nc", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of " +
			"file\n+c\n" +
			"\\ No newline at end of file\n"},
		{"far apart", "first\n" + long + "last\n", "FIRST\n" + long + "LAST\n", ""},
		{"near", "1\n2\n3\n4\n5\n6\n7\n8\n", "1\nx\n3\n4\n5\n6\ny\n8\n", ""},
		{"inserted", long, "new\n" + long + "end\n", ""},
		{"deleted", "a\n" + long, long, ""},
		{"all deleted", "a\nb\n", "", ""},
		{"all new", "", "a\nb\n", ""},
		{"too large to compare", strings.Repeat("x\n", 3000), strings.Repeat("y\n", 3000), ""},
	} {
		got := Diff("f", tt.before, tt.after)
		if tt.want != "" && got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
		if tt.before == "" || tt.after == "" { // git wants /dev/null for created and removed files
			continue
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "f")
		if err := os.WriteFile(file, []byte(tt.before), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(got)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s\n%s", tt.name, err, out, got)
		}
		if after, err := os.ReadFile(file); err != nil || string(after) != tt.after {
			t.Errorf("%s: applied, the diff gives %q, %v", tt.name, after, err)
		}
	}
}
