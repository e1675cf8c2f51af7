package credentials

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/betterleaks/betterleaks/config"
	"github.com/betterleaks/betterleaks/detect"
	"github.com/betterleaks/betterleaks/logging"
	expressions "github.com/betterleaks/betterleaks/regexp"
	"github.com/betterleaks/betterleaks/sources"

	"merlon/internal/engine/secrets/credfile"
	"merlon/internal/engine/secrets/pattern"
	"merlon/internal/errs"
	"merlon/internal/finding"
)

// This file runs the rules over a text.

// engine is the compiled rule set. It may be used by several goroutines.
type engine struct {
	main    *detect.Detector // every rule but those of the next two
	generic *detect.Detector
	storage *detect.Detector
	skip    sources.SkipFunc
	rules   map[string]*finding.Rule // by the rule's name in the rule set, or behind the prefix
	formats map[string]bool          // of the rules, those of formats of files
}

// load builds the engine, once in a process; it takes some 30 ms.
var load = sync.OnceValues(func() (*engine, error) {
	// The library would write to standard error, secrets included at its lowest
	// level. 7 is zerolog's "disabled".
	logging.Logger = logging.Logger.Output(io.Discard).Level(7)
	expressions.SetEngine(pattern.For(expressions.Stdlib{}.Compile)) // for the rules, which are read next
	cfg, err := config.Default()
	if err != nil {
		return nil, fmt.Errorf("read the rules for credentials: %w", err)
	}
	if cfg, err = addOwnForms(cfg); err != nil {
		return nil, err
	}
	e := &engine{rules: map[string]*finding.Rule{}, formats: map[string]bool{}}
	e.main = newDetector(cfg, func(id string) bool {
		return id != genericRule && id != storageRule && id != storageName
	})
	e.generic = newDetector(cfg, func(id string) bool { return id == genericRule })
	e.storage = newDetector(cfg, func(id string) bool { return id == storageRule || id == storageName })
	e.skip = e.main.SkipFunc()
	for id := range cfg.Rules {
		e.rules[id] = describeRule(id)
	}
	for i := range tokenForms {
		id := tokenForms[i].id
		e.rules[id] = describeRule(id)
	}
	for _, r := range credfile.Rules() {
		e.rules[shortID(r)], e.formats[shortID(r)] = r, true
	}
	return e, nil
})

// listRules returns the rules in the order of their ids.
func listRules() ([]*finding.Rule, error) {
	e, err := load()
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(e.rules), func(a, b *finding.Rule) int { return strings.Compare(a.ID, b.ID) }),
		nil
}

// newDetector compiles those of the rules that keep says.
func newDetector(cfg *config.Config, keep func(id string) bool) *detect.Detector {
	d := detect.NewDetectorContext(context.Background(), filterRules(cfg, keep), detect.ValidationOptions{})
	// What may be ignored is decided in triage, where it is on record, not by a
	// comment beside the secret.
	d.IgnoreGitleaksAllow = true
	return d
}

// A window is the part of a text that is searched at once. The library looks for
// lines and neighbours in the whole of what it is given for each match, so that
// a large file in one piece, or one full of tokens, costs quadratic time. A secret that begins in the
// window may end, and have its companion, within the margin around it.
const (
	window = 128 << 10
	margin = 8 << 10
)

// span is a range of bytes.
type span struct{ start, end int }

// secret is a match of a rule.
type secret struct {
	rule   string
	value  string
	at     span   // of the secret in the text; empty for a file as a whole
	others []span // further parts of the same credential, such as the key that belongs to the id
	again  []span // where the same value stands again
	note   string // for the message; may be empty
	unsure bool   // less certain than the rule says
	terms  []finding.SeverityTerm
}

// findSecrets returns the secrets of the text in the order in which they stand.
func (e *engine) findSecrets(ctx context.Context, path, text string) ([]secret, error) {
	out, err := e.scanWindows(ctx, path, text)
	if err != nil {
		return nil, err
	}
	formats, whole := findByFormat(path, text)
	out = e.dropDuplicates(text, sortByPosition(append(out, formats...)))
	if !whole {
		return out, errWork
	}
	return out, nil
}

// findByFormat returns what the formats of files know.
func findByFormat(path, text string) (out []secret, whole bool) {
	matches, whole := credfile.Find(path, text)
	for _, m := range matches {
		s := secret{rule: shortID(m.Rule), value: text[m.Start:m.End], at: span{m.Start, m.End},
			note: m.Note, unsure: m.Confidence == finding.LowConfidence, terms: m.Terms}
		judgePlace(text, &s)
		out = append(out, s)
	}
	return out, whole
}

// scanWindows runs the rules over the text, a window at a time.
func (e *engine) scanWindows(ctx context.Context, path, text string) ([]secret, error) {
	var out []secret
	seen := map[string]bool{}
	for start := 0; start == 0 || start < len(text); {
		end := lineStart(text, min(start+window, len(text)))
		if end <= start {
			end = min(start+window, len(text)) // one line longer than a window
		}
		from := lineStart(text, max(start-margin, 0))
		to := min(end+margin, len(text))
		for _, s := range e.searchPart(ctx, path, text, span{from, to}) {
			key := fmt.Sprint(s.rule, s.at)
			if mine := s.at.start >= start && (s.at.start < end || end == len(text)); mine && !seen[key] {
				seen[key] = true
				out = append(out, s)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err // the library stops without a word
		}
		if start = end; end == len(text) {
			break
		}
	}
	return out, nil
}

// sortByPosition sorts by place.
func sortByPosition(secrets []secret) []secret {
	slices.SortStableFunc(secrets, func(a, b secret) int {
		return cmp.Or(cmp.Compare(a.at.start, b.at.start), cmp.Compare(a.at.end, b.at.end), cmp.Compare(a.rule, b.rule))
	})
	return secrets
}

// shortID returns the name of the rule in the table.
func shortID(r *finding.Rule) string { return strings.TrimPrefix(r.ID, prefix) }

// certaintyRank ranks what rules say about one secret: the generic rule least; what
// is known by the format of its file more; what is known by its own form most,
// but for the one thing that the form does not tell, that a key is encrypted.
func (e *engine) certaintyRank(s secret) int {
	switch {
	case s.rule == genericRule:
		return 0
	case e.formats[s.rule] && strings.HasPrefix(s.rule, "encrypted-"):
		return 4
	case e.formats[s.rule]:
		return 2
	case e.rules[s.rule].Confidence == finding.LowConfidence:
		return 1
	}
	return 3
}

// dropDuplicates removes what a less certain rule says about a secret that a more certain
// one knows, what lies within another secret, and joins equal values.
func (e *engine) dropDuplicates(text string, secrets []secret) []secret {
	for level := 1; level <= 4; level++ {
		var known []span
		for _, s := range secrets {
			if e.certaintyRank(s) >= level {
				known = append(append(known, s.at), s.others...)
			}
		}
		touched := overlapsAny(known)
		secrets = slices.DeleteFunc(secrets, func(s secret) bool { return e.certaintyRank(s) < level && touched(s.at) })
	}
	secrets = slices.DeleteFunc(secrets, func(s secret) bool {
		return s.rule == genericRule && credfile.IsMinified(text, s.at.start, s.at.end)
	})
	return e.joinEqualValues(dropContained(secrets))
}

// dropContained removes what lies within another secret, such as the password of an address, or
// what two rules of equal certainty say about one place.
func dropContained(secrets []secret) []secret {
	slices.SortStableFunc(secrets, func(a, b secret) int {
		return cmp.Or(cmp.Compare(a.at.start, b.at.start), cmp.Compare(b.at.end, a.at.end))
	})
	reach := 0
	return slices.DeleteFunc(secrets, func(s secret) bool {
		if s.at.end <= reach && s.at.end > s.at.start {
			return true
		}
		reach = max(reach, s.at.end)
		return false
	})
}

// joinable is the length from which on a value that rules find at several places of a file is one
// secret. Shorter ones are made up more than once.
const joinable = 8

// joinEqualValues makes one secret of what has the same value. The most severe rule tells it.
func (e *engine) joinEqualValues(secrets []secret) []secret {
	first := map[string]int{}
	out := secrets[:0]
	for _, s := range secrets {
		i, known := first[s.value]
		if !known || len(s.value) < joinable && out[i].rule != s.rule {
			if !known {
				first[s.value] = len(out)
			}
			out = append(out, s)
			continue
		}
		if one := &out[i]; e.points(s) > e.points(*one) {
			s.again = append(append(s.again, one.at), one.again...)
			*one = s
		} else {
			one.again = append(append(one.again, s.at), s.again...)
		}
	}
	return out
}

// points returns the severity of a secret as a number, with what its value says.
func (e *engine) points(s secret) int {
	n := e.rules[s.rule].Severity.Rank()
	for _, t := range s.terms {
		n += t.Points
	}
	return n
}

// overlapsAny returns a function that reports whether a span overlaps one of the known.
// The span of a file as a whole, which is empty, overlaps none.
func overlapsAny(known []span) func(span) bool {
	slices.SortFunc(known, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	starts, reach := make([]int, len(known)), make([]int, len(known)) // reach: how far those up to here go
	for i, k := range known {
		starts[i], reach[i] = k.start, max(k.end, reach[max(i-1, 0)])
	}
	return func(s span) bool {
		n := sort.SearchInts(starts, s.end)
		return n > 0 && reach[n-1] > s.start
	}
}

// errWork tells that the secrets of the first part of a file were found.
var errWork = errs.E(errs.TooLarge, "the file has more secret candidates than the limit; the rest was skipped")

// lineStart returns the offset at which the line of the byte begins.
func lineStart(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	return strings.LastIndexByte(text[:at], '\n') + 1
}

// searchPart runs the rules over a part of the text.
func (e *engine) searchPart(ctx context.Context, path, text string, part span) []secret {
	piece := text[part.start:part.end]
	out := splitKeyBlocks(piece, applyRules(ctx, e.main, path, wholeExcerpt(piece)))
	out = append(out, findTokens(piece)...)
	if x := assignmentLines(piece); x.text != "" {
		out = append(out, applyRules(ctx, e.generic, path, x)...)
	}
	for _, at := range credfile.FindAssigned(path, piece) {
		out = append(out, secret{rule: genericRule, value: piece[at.Start:at.End], at: span{at.Start, at.End}})
	}
	if hasStorageKey(piece) {
		out = append(out, applyRules(ctx, e.storage, path, wholeExcerpt(piece))...)
	}
	kept := out[:0]
	for _, s := range out {
		if judgeSecret(piece, &s) {
			kept = append(kept, s)
		}
	}
	out = kept
	for i := range out {
		s := &out[i]
		if s.at != (span{}) {
			s.at = s.at.shiftBy(part.start)
		}
		for j := range out[i].others {
			out[i].others[j] = out[i].others[j].shiftBy(part.start)
		}
	}
	return out
}

// applyRules runs one rule set over an excerpt; places are those of the text that
// it is from.
func applyRules(ctx context.Context, d *detect.Detector, path string, x excerpt) []secret {
	fragment := sources.Fragment{Raw: x.text, StartLine: 1, Attributes: map[string]string{sources.AttrPath: path}}
	var out []secret
	var lines []int
	//lint:ignore SA1019 its successor takes a source that opens the file itself
	for _, f := range d.DetectContext(ctx, fragment) {
		if lines == nil {
			lines = lineStarts(x.text)
		}
		s := secret{rule: f.RuleID, value: f.Secret}
		if f.StartLine > 0 {
			s.at = x.originalSpan(locateSecret(x.text, lines, f.StartLine, f.Match, f.Secret))
		}
		for _, set := range f.RequiredSets {
			for _, c := range set.Components {
				s.others = append(s.others, x.originalSpan(locateSecret(x.text, lines, c.StartLine, c.Match, c.Secret)))
			}
		}
		out = append(out, s)
	}
	return out
}

// shiftBy returns the span in a text that begins so many bytes earlier.
func (s span) shiftBy(by int) span { return span{s.start + by, s.end + by} }

// lineStarts returns the offsets at which lines begin.
func lineStarts(text string) []int {
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// isInsideBase64 reports whether the secret is a piece of a longer Base64 text, where
// any form of token comes up by chance: it touches a "+" or "/" of a run that is
// longer than itself by more than a key and value would need.
func isInsideBase64(text string, at span) bool {
	if at == (span{}) {
		return false
	}
	if touches := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] == '+' || text[i] == '/')
	}; !touches(at.start-1) && !touches(at.end) {
		return false
	}
	start, end := at.start, at.end
	for start > 0 && isBase64Byte(text[start-1]) {
		start--
	}
	for end < len(text) && isBase64Byte(text[end]) {
		end++
	}
	around := text[start:at.start] + text[at.end:end]
	return len(around) >= 16 && strings.Contains(around, "+")
}

// isBase64Byte reports whether the byte is a digit of Base64 (RFC 4648, section 4); the
// padding is none.
func isBase64Byte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/'
}

// locateSecret returns where the secret stands. The library's columns count the line
// break on some lines and not on others, so they are not used: the match is
// looked up from the start of its line. Where it is not found, the whole line
// counts as secret.
func locateSecret(text string, lines []int, line int, match, value string) span {
	start := lines[min(line-1, len(lines)-1)]
	if i := strings.Index(text[start:], match); i >= 0 {
		if j := strings.Index(match, value); j >= 0 {
			return span{start + i + j, start + i + j + len(value)}
		}
		return span{start + i, start + i + len(match)}
	}
	end := len(text)
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		end = start + i
	}
	return span{start, end}
}
