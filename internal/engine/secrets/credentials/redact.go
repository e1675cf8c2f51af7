package credentials

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file makes findings that do not tell the secret.

// mask stands where a secret was.
const mask = "[redacted]"

// shortest is the length from which on a secret is also removed where it stands
// a second time. Shorter ones are too likely to be a part of other words.
const shortest = 6

// redact returns the text with every secret replaced, on as many lines as
// before.
func redact(text string, secrets []secret) string {
	var spans []span
	add := func(s span) {
		if s.start >= s.end {
			return
		}
		spans = append(spans, s)
		value := text[s.start:s.end]
		if len(value) < shortest {
			return
		}
		for at := 0; ; {
			i := strings.Index(text[at:], value)
			if i < 0 {
				return
			}
			spans = append(spans, span{at + i, at + i + len(value)})
			at += i + len(value)
		}
	}
	done := map[span]bool{}
	for _, s := range secrets {
		for _, part := range append([]span{s.at}, s.others...) {
			if !done[part] {
				done[part] = true
				add(part)
			}
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.end <= at {
			continue
		}
		if s.start >= at {
			b.WriteString(text[at:s.start])
			b.WriteString(mask)
		}
		rest := text[max(s.start, at):s.end]
		for range strings.Count(rest, "\n") {
			b.WriteString("\n" + mask)
		}
		at = s.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// finding describes the secret. text is the file, clean the file without its
// secrets.
func (s secret) finding(rule *finding.Rule, text, clean string) finding.Finding {
	f := finding.Finding{
		Message:  "Hard-coded credential: " + rule.Name,
		Secret:   &finding.SecretMatch{Kind: rule.Name, Redacted: abridge(s.value)},
		Identity: rule.ID,
	}
	if s.at.start == s.at.end {
		f.Secret.Redacted = ""
		f.Message = "A file that holds credentials: " + rule.Name
		return f
	}
	f.Location.StartLine, f.Location.StartColumn = position(text, s.at.start)
	f.Location.EndLine, f.Location.EndColumn = position(text, s.at.end)
	f.Snippet = scan.Snippet([]byte(clean), f.Location)
	if random(s.value) && !guessable(rule.ID) {
		sum := sha256.Sum256([]byte("secret:" + s.value))
		f.Identity = hex.EncodeToString(sum[:])
	} else {
		f.Identity = lines(clean, f.Location.StartLine, f.Location.EndLine)
	}
	return f
}

// position returns line and column of the byte, both from 1.
func position(text string, at int) (line, column int) {
	start := lineStart(text, at)
	if at >= len(text) {
		start = strings.LastIndexByte(text, '\n') + 1
	}
	return strings.Count(text[:at], "\n") + 1, utf8.RuneCountInString(text[start:at]) + 1
}

// lines returns some lines of the text.
func lines(text string, first, last int) string {
	all := strings.SplitAfterN(text, "\n", last+1)
	return strings.Join(all[min(first-1, len(all)):min(last, len(all))], "")
}

// abridge returns what may be shown of a secret: its length, and the first four
// characters of one that is long enough, by which its owner knows it again.
func abridge(value string) string {
	n := utf8.RuneCountInString(value)
	if strings.HasPrefix(value, "-----BEGIN") {
		return fmt.Sprintf("private key (%d)", n)
	}
	if n < 20 {
		return fmt.Sprintf("…(%d)", n)
	}
	return fmt.Sprintf("%s…(%d)", string([]rune(value)[:4]), n)
}

// random reports whether the secret is long and irregular enough that nobody
// finds it by trying: only then may its hash leave the process. The measure is
// Shannon's entropy of its characters times its length.
func random(value string) bool {
	if len(value) < 20 {
		return false
	}
	counts := map[rune]int{}
	for _, r := range value {
		counts[r]++
	}
	n := float64(utf8.RuneCountInString(value))
	bits := 0.0
	for _, c := range counts {
		bits -= float64(c) * math.Log2(float64(c)/n)
	}
	return bits >= 70
}
