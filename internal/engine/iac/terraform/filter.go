package terraform

import (
	"encoding/json"
	"strings"
)

// This file reads the filters of log metrics, `{ ($.eventName = CreateVpc) || … }`,
// into the JSON form in which queries ask them: an object of _op, _left and _right
// for each operator, and of _selector, _op and _value for each comparison. The
// grammar is Amazon's, "Filter pattern syntax for metric filters".

// maxFilter bounds the words of one filter.
const maxFilter = 2000

// filterJSON returns the JSON form, or the text itself when it is no filter.
func filterJSON(text string) string {
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "{")
	if !ok || !strings.HasSuffix(inner, "}") {
		return text
	}
	p := &filterParser{words: filterWords(strings.TrimSuffix(inner, "}"))}
	if len(p.words) > maxFilter {
		return text
	}
	e := p.any(0)
	if e == nil || p.at != len(p.words) {
		return text
	}
	out, err := json.Marshal(map[string]any{"_kics_filter_expr": e})
	if err != nil {
		return text
	}
	return string(out)
}

// filterWords cuts a filter into its words.
func filterWords(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
		case strings.HasPrefix(s[i:], "&&"), strings.HasPrefix(s[i:], "||"), strings.HasPrefix(s[i:], "!="), strings.HasPrefix(s[i:], ">="), strings.HasPrefix(s[i:], "<="):
			out, i = append(out, s[i:i+2]), i+2
		case strings.IndexByte("()=<>", c) >= 0:
			out, i = append(out, s[i:i+1]), i+1
		case c == '"' || c == '\'':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return append(out, s[i:])
			}
			out, i = append(out, s[i:i+end+2]), i+end+2
		default:
			end := strings.IndexAny(s[i:], " \t\r\n()=<>!&|")
			if end <= 0 {
				end = len(s) - i
			}
			out, i = append(out, s[i:i+end]), i+end
		}
	}
	return out
}

// filterParser reads words.
type filterParser struct {
	words []string
	at    int
}

func (p *filterParser) next() string {
	if p.at >= len(p.words) {
		return ""
	}
	p.at++
	return p.words[p.at-1]
}

// any reads comparisons that || joins; both of && bind closer.
func (p *filterParser) any(depth int) any { return p.chain("||", depth, p.every) }

func (p *filterParser) every(depth int) any { return p.chain("&&", depth, p.one) }

func (p *filterParser) chain(op string, depth int, part func(int) any) any {
	left := part(depth)
	for left != nil && p.at < len(p.words) && p.words[p.at] == op {
		p.at++
		right := part(depth)
		if right == nil {
			return nil
		}
		left = map[string]any{"_op": op, "_left": left, "_right": right}
	}
	return left
}

func (p *filterParser) one(depth int) any {
	word := p.next()
	if word == "(" {
		if depth >= maxDepth {
			return nil
		}
		e := p.any(depth + 1)
		if p.next() != ")" {
			return nil
		}
		return e
	}
	op, value := p.next(), p.next()
	if !strings.HasPrefix(word, "$.") || value == "" || strings.Contains("() && ||", value) {
		return nil
	}
	return map[string]any{"_selector": word, "_op": op, "_value": value}
}
