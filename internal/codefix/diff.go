package codefix

import (
	"fmt"
	"strings"
)

// This file writes unified diffs.

// diffContext is the number of unchanged lines around a change, as diff -u has them.
const diffContext = 3

// maxTable bounds the table of the longest common subsequence. Larger changes are shown as a
// replacement of all lines between the first and the last change.
const maxTable = 4 << 20

// A diffLine is a line of a diff: ' ' for one of both texts, '-' of the old, '+' of the new one.
type diffLine struct {
	kind byte
	text string
}

// Diff returns the change of a file as a unified diff that patch and git apply accept; empty when
// the texts are equal.
func Diff(path, before, after string) string {
	if before == after {
		return ""
	}
	lines := compareLines(splitLines(before), splitLines(after))
	var b strings.Builder
	fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n", path, path)
	oldLine, newLine := 1, 1
	for i := 0; i < len(lines); {
		if lines[i].kind == ' ' {
			i, oldLine, newLine = i+1, oldLine+1, newLine+1
			continue
		}
		start := max(0, i-diffContext)
		end := endOfHunk(lines, i)
		writeHunk(&b, lines[start:end], oldLine-(i-start), newLine-(i-start))
		for ; i < end; i++ {
			if lines[i].kind != '+' {
				oldLine++
			}
			if lines[i].kind != '-' {
				newLine++
			}
		}
	}
	return b.String()
}

// endOfHunk returns the index behind the hunk of the change at i: changes whose contexts touch
// are in one hunk.
func endOfHunk(lines []diffLine, i int) int {
	last := i
	for j := i; j < len(lines) && j-last <= 2*diffContext; j++ {
		if lines[j].kind != ' ' {
			last = j
		}
	}
	return min(len(lines), last+1+diffContext)
}

// writeHunk writes lines of a diff that begin at these lines of both texts.
func writeHunk(b *strings.Builder, lines []diffLine, oldLine, newLine int) {
	oldCount, newCount := 0, 0
	for _, l := range lines {
		if l.kind != '+' {
			oldCount++
		}
		if l.kind != '-' {
			newCount++
		}
	}
	// An empty side names the line before (POSIX, unified format of diff).
	if oldCount == 0 {
		oldLine--
	}
	if newCount == 0 {
		newLine--
	}
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", oldLine, oldCount, newLine, newCount)
	for _, l := range lines {
		b.WriteByte(l.kind)
		b.WriteString(l.text)
		if !strings.HasSuffix(l.text, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// compareLines returns the lines of both texts in order, with as few changes as possible.
func compareLines(a, b []string) []diffLine {
	var out []diffLine
	prefix := 0
	for prefix < len(a) && prefix < len(b) && a[prefix] == b[prefix] {
		out = append(out, diffLine{' ', a[prefix]})
		prefix++
	}
	suffix := 0
	for suffix < len(a)-prefix && suffix < len(b)-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	out = append(out, compareMiddle(a[prefix:len(a)-suffix], b[prefix:len(b)-suffix])...)
	for _, text := range a[len(a)-suffix:] {
		out = append(out, diffLine{' ', text})
	}
	return out
}

// compareMiddle compares what is between equal beginnings and ends, by the longest common
// subsequence.
func compareMiddle(a, b []string) []diffLine {
	var out []diffLine
	if len(a)*len(b) > maxTable {
		for _, text := range a {
			out = append(out, diffLine{'-', text})
		}
		for _, text := range b {
			out = append(out, diffLine{'+', text})
		}
		return out
	}
	// length[i][j] is that of the longest common subsequence of a[i:] and b[j:].
	length := make([][]int32, len(a)+1)
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, diffLine{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			out = append(out, diffLine{'-', a[i]})
			i++
		default:
			out = append(out, diffLine{'+', b[j]})
			j++
		}
	}
	return out
}
