package kics

import (
	"encoding/json"
	"errors"
	"strings"
)

// This file reads the patterns that filter log events, as metric filters of a cloud
// have them: { ($.eventName = "X") || $.userIdentity.type != Root }. Queries compare
// such a pattern as a tree, which they expect as JSON in place of the text:
//
//	{"_kics_filter_expr": {"_op": "||", "_left": …, "_right": …}}
//	{"_selector": "$.eventName", "_op": "=", "_value": "X"}
//
// The language: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html.

// filterFields are the names of the fields that hold such patterns.
var filterFields = map[string]bool{"pattern": true, "FilterPattern": true, "filter_pattern": true}

const maxFilter = 10_000 // bytes, and with it the depth of parentheses

// errFilter ends a pattern that cannot be read.
var errFilter = errors.New("not a filter pattern")

// filterTree returns the JSON of a pattern; it is false for a text that is none.
func filterTree(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxFilter || !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return "", false
	}
	f := filterParser{rest: text[1 : len(text)-1]}
	tree, err := f.parseOr(0)
	if err != nil || f.peekWord() != "" {
		return "", false
	}
	b, err := json.Marshal(map[string]any{"_kics_filter_expr": tree})
	if err != nil {
		return "", false
	}
	return string(b), true
}

// filterParser reads a filter pattern word by word.
type filterParser struct {
	rest string
	next string
}

// peekWord returns the next word, "" at the end.
func (f *filterParser) peekWord() string {
	if f.next != "" {
		return f.next
	}
	f.rest = strings.TrimLeft(f.rest, " \t\r\n")
	n := wordLength(f.rest)
	f.next, f.rest = f.rest[:n], f.rest[n:]
	return f.next
}

// takeWord returns the next word and goes on.
func (f *filterParser) takeWord() string {
	w := f.peekWord()
	f.next = ""
	return w
}

// wordLength measures the word that a text begins with.
func wordLength(s string) int {
	for _, sign := range []string{"&&", "||", "!=", ">=", "<=", "(", ")", "=", "<", ">"} {
		if strings.HasPrefix(s, sign) {
			return len(sign)
		}
	}
	if strings.HasPrefix(s, `"`) {
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(s)
	}
	if i := strings.IndexAny(s, " \t\r\n()=<>!&|\""); i > 0 {
		return i
	} else if i == 0 {
		return 1
	}
	return len(s)
}

const maxParentheses = 100

// parseOr reads what is joined by "||", which binds less than "&&".
func (f *filterParser) parseOr(depth int) (map[string]any, error) {
	return f.parseJoined("||", func() (map[string]any, error) {
		return f.parseJoined("&&", func() (map[string]any, error) { return f.parseComparison(depth) })
	})
}

// parseJoined reads parts with a sign between them, the first ones first.
func (f *filterParser) parseJoined(sign string, part func() (map[string]any, error)) (map[string]any, error) {
	left, err := part()
	for err == nil && f.peekWord() == sign {
		f.takeWord()
		var right map[string]any
		if right, err = part(); err == nil {
			left = map[string]any{"_op": sign, "_left": left, "_right": right}
		}
	}
	return left, err
}

// parseComparison reads a comparison, or parentheses.
func (f *filterParser) parseComparison(depth int) (map[string]any, error) {
	if f.peekWord() == "(" {
		if depth >= maxParentheses {
			return nil, errFilter
		}
		f.takeWord()
		inner, err := f.parseOr(depth + 1)
		if err == nil && f.takeWord() != ")" {
			err = errFilter
		}
		return inner, err
	}
	selector, op, value := f.takeWord(), f.takeWord(), f.takeWord()
	if !strings.HasPrefix(selector, "$.") || value == "" || value == ")" {
		return nil, errFilter
	}
	switch op {
	case "=", "!=", "<", ">", "<=", ">=", "IS", "NOT":
		return map[string]any{"_selector": selector, "_op": op, "_value": value}, nil
	}
	return nil, errFilter
}
