package credentials

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"merlon/internal/engine/secrets/credfile"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/severity"
)

// This file makes findings that do not tell the secret.

// shortest is the length from which on a secret is also removed where it stands
// a second time. Shorter ones are too likely to be a part of other words.
const shortest = 6

// redactSecrets returns the text with every secret replaced, on as many lines as
// before.
func redactSecrets(text string, secrets []secret) string {
	spans, values := redactionParts(text, secrets)
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.end <= at {
			continue
		}
		b.WriteString(text[at:max(s.start, at)])
		b.WriteString(maskSecret(text[max(s.start, at):s.end]))
		at = s.end
	}
	b.WriteString(text[at:])
	if len(values) == 0 {
		return b.String()
	}
	pairs := make([]string, 0, 2*len(values))
	for _, v := range values {
		pairs = append(pairs, v, maskSecret(v))
	}
	return strings.NewReplacer(pairs...).Replace(b.String())
}

// redactionParts returns the places of the secrets by their start, and what else to look
// for, longest first.
func redactionParts(text string, secrets []secret) (spans []span, values []string) {
	for _, s := range secrets {
		for _, part := range slices.Concat([]span{s.at}, s.others, s.again) {
			if part.start < part.end {
				spans = append(spans, part)
				values = append(values, text[part.start:part.end])
			}
		}
	}
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	values = slices.Compact(values)
	return spans, slices.DeleteFunc(values, func(v string) bool { return len(v) < shortest })
}

// maskSecret returns the mask, on as many lines as the secret.
func maskSecret(secret string) string {
	return finding.Redacted + strings.Repeat("\n"+finding.Redacted, strings.Count(secret, "\n"))
}

// scannedFile is a file with its secrets, and without.
type scannedFile struct {
	*engine
	path        string
	text, clean *scan.Lines
}

// newFinding describes the secret.
func (p *scannedFile) newFinding(s secret) (*finding.Rule, finding.Finding) {
	rule := p.rules[s.rule]
	random := credfile.IsRandom(s.value) && !p.isGuessable(s.rule)
	f := finding.Finding{
		Message:  "Hard-coded credential: " + rule.Name,
		Secret:   &finding.SecretMatch{Kind: rule.Name, Redacted: abridgeSecret(s.value), Key: p.secretKey(s, random)},
		Identity: rule.ID,
	}
	if s.note != "" {
		f.Message += " (" + s.note + ")"
	}
	if s.unsure {
		f.Confidence = finding.LowConfidence
	}
	f.Terms = slices.Concat(s.terms, placeTerms(p.path, rule))
	if severity.ContextOf(p.path).Harmless() {
		f.Confidence = finding.LowConfidence
	}
	if credfile.IsRandom(s.value) {
		sum := sha256.Sum256([]byte("secret:" + s.value))
		f.Cause = hex.EncodeToString(sum[:]) // one decision, wherever it stands
	}
	if s.at.start == s.at.end {
		f.Secret.Redacted = ""
		f.Message = "A file that contains credentials: " + rule.Name
		return rule, f
	}
	f.Location = p.spanLocation(s.at)
	f.Snippet = p.clean.Snippet(f.Location)
	for _, at := range s.again {
		also := p.spanLocation(at)
		also.Path = p.path
		f.Also = append(f.Also, also)
	}
	if random {
		sum := sha256.Sum256([]byte("secret:" + s.value))
		f.Identity = hex.EncodeToString(sum[:])
	} else {
		f.Identity = p.clean.Code(finding.Location{StartLine: f.Location.StartLine, EndLine: f.Location.EndLine})
	}
	return rule, f
}

// spanLocation returns the lines and columns of the span.
func (p *scannedFile) spanLocation(at span) (l finding.Location) {
	l.StartLine, l.StartColumn = p.text.Position(at.start)
	l.EndLine, l.EndColumn = p.text.Position(at.end)
	return l
}

// abridgeSecret returns what may be shown of a secret: its length, and the first four
// characters of one that is long enough, by which its owner knows it again.
func abridgeSecret(value string) string {
	n := utf8.RuneCountInString(value)
	if strings.HasPrefix(value, "-----BEGIN") {
		return fmt.Sprintf("private key (%d)", n)
	}
	if n < 20 {
		return fmt.Sprintf("…(%d)", n)
	}
	return fmt.Sprintf("%s…(%d)", string([]rune(value)[:4]), n)
}
