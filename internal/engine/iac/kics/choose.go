package kics

import "merlon/internal/engine/iac/document"

// This file chooses what documents can trigger.

// maxWord bounds the strings of a document that are looked up; the longest word
// that a query needs is shorter.
const maxWord = 200

// wordsOf marks the words of the platform that the documents hold.
func (p *platform) wordsOf(docs []*document.Document) []bool {
	// By the number of the word, since queries name words by number: a look-up is one index.
	held := make([]bool, len(p.words))
	mark := func(s string) {
		if len(s) <= maxWord {
			if i, ok := p.words[s]; ok {
				held[i] = true
			}
		}
	}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case string:
			mark(v)
		case map[string]any:
			for key, below := range v {
				mark(key)
				visit(below)
			}
		case []any:
			for _, below := range v {
				visit(below)
			}
		}
	}
	for _, d := range docs {
		visit(d.Root)
		// Some queries compare the name of the file.
		mark(d.Path)
	}
	return held
}

// queryChoice says which rules of a query some documents can trigger.
type queryChoice struct {
	// its position in the index of the platform
	query int
	rules []bool // by position in query.Rules
}

// chooseQueries returns the queries that documents with the words can trigger.
func (p *platform) chooseQueries(held []bool) []queryChoice {
	var out []queryChoice
	for i, q := range p.index.Queries {
		var rules []bool
		for j, r := range q.Rules {
			if isMet(r.Needs, held) {
				// A document can trigger few of the queries: memory is only used for those.
				if rules == nil {
					rules = make([]bool, len(q.Rules))
				}
				rules[j] = true
			}
		}
		if rules != nil {
			out = append(out, queryChoice{i, rules})
		}
	}
	return out
}

// isMet reports whether of each list one word is in the documents.
func isMet(needs [][]int, held []bool) bool {
	for _, one := range needs {
		any := false
		for _, word := range one {
			any = any || held[word]
		}
		if !any {
			return false
		}
	}
	return true
}
