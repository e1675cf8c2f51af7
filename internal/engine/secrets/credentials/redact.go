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

// shortest is the length from which on a secret is also removed where it stands
// a second time. Shorter ones are too likely to be a part of other words.
const shortest = 6

// redact returns the text with every secret replaced, on as many lines as
// before.
func redact(text string, secrets []secret) string {
	spans, values := parts(text, secrets)
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.end <= at {
			continue
		}
		b.WriteString(text[at:max(s.start, at)])
		b.WriteString(masked(text[max(s.start, at):s.end]))
		at = s.end
	}
	b.WriteString(text[at:])
	if len(values) == 0 {
		return b.String()
	}
	pairs := make([]string, 0, 2*len(values))
	for _, v := range values {
		pairs = append(pairs, v, masked(v))
	}
	return strings.NewReplacer(pairs...).Replace(b.String())
}

// parts returns the places of the secrets by their start, and what else to look
// for, longest first.
func parts(text string, secrets []secret) (spans []span, values []string) {
	for _, s := range secrets {
		for _, part := range append([]span{s.at}, s.others...) {
			if part.start < part.end {
				spans = append(spans, part)
				values = append(values, text[part.start:part.end])
			}
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	values = slices.Compact(values)
	return spans, slices.DeleteFunc(values, func(v string) bool { return len(v) < shortest })
}

// masked returns the mask, on as many lines as the secret.
func masked(secret string) string {
	return finding.Redacted + strings.Repeat("\n"+finding.Redacted, strings.Count(secret, "\n"))
}

// finding describes the secret. text is the file, clean the file without its
// secrets.
func (s secret) finding(rule *finding.Rule, text, clean *scan.Lines) finding.Finding {
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
	f.Location.StartLine, f.Location.StartColumn = text.Position(s.at.start)
	f.Location.EndLine, f.Location.EndColumn = text.Position(s.at.end)
	f.Snippet = clean.Snippet(f.Location)
	if random(s.value) && !guessable(rule.ID) {
		sum := sha256.Sum256([]byte("secret:" + s.value))
		f.Identity = hex.EncodeToString(sum[:])
	} else {
		f.Identity = clean.Code(finding.Location{StartLine: f.Location.StartLine, EndLine: f.Location.EndLine})
	}
	return f
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
