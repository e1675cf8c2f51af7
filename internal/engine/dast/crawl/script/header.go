package script

import (
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// This file reads which headers code sends.

// recordOpen remembers the XMLHttpRequest that was opened last, as a key of seen: the calls of
// setRequestHeader that follow belong to it.
func (m *miner) recordOpen(method, address string) {
	m.opened = strings.ToUpper(method) + " " + strings.TrimSpace(address)
}

// recordHeader reads a call of setRequestHeader. A constant name belongs to the request that was
// opened last. For a computed name only the fact is kept. Libraries pass on the headers that they
// are given ("x.setRequestHeader(n, headers[n])"), which says nothing about the application.
func (m *miner) recordHeader(constant string, args []js.Arg) {
	if constant != "" {
		if i, ok := m.seen[m.opened]; ok && m.opened != "" && isCustomHeader(constant) {
			m.out.Calls[i].Headers = unionNames(m.out.Calls[i].Headers, []string{constant})
		}
		return
	}
	_, literal := args[0].Value.(*js.LiteralExpr)
	_, index := args[1].Value.(*js.IndexExpr)
	m.out.Headers = m.out.Headers || !literal && !index
}

// recordField reads a call that names a field of a form. A name that is no literal is known only
// when the code runs.
func (m *miner) recordField(e js.IExpr) {
	if _, literal := e.(*js.LiteralExpr); !literal {
		m.out.Fields = true
	}
}

// isCustomHeader reports whether a header belongs to the application. Those of HTTP, those of
// frameworks, and tokens are set by the client or the session; attacks on them are other checks.
func isCustomHeader(name string) bool {
	switch lower := strings.ToLower(name); lower {
	case "accept", "accept-language", "authorization", "cache-control", "content-type", "if-modified-since",
		"if-none-match", "pragma", "x-requested-with", "x-http-method-override":
		return false
	default:
		return !strings.Contains(lower, "csrf") && !strings.Contains(lower, "xsrf") && !strings.Contains(lower, "token")
	}
}

// unionNames returns the names of both, sorted.
func unionNames(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
