package advisory

import (
	"strings"

	"merlon/internal/finding"
)

// This file reads which functions of a package are flawed, where a database says
// so: Go's (https://go.dev/doc/security/vuln/database#schema, imports with symbols)
// and RustSec's (affects.functions).

// Bounds of what is kept of one record.
const (
	maxImports = 200
	maxSymbols = 2000
)

// goSymbols reads [{"path": "golang.org/x/text/language", "symbols": ["Parse"]}].
// No symbols mean the whole package.
func goSymbols(v any) []finding.Symbols {
	list, _ := v.([]any)
	var out []finding.Symbols
	for _, entry := range list {
		m, _ := entry.(map[string]any)
		path, _ := m["path"].(string)
		if path == "" || len(path) > maxPackage || len(out) == maxImports {
			continue
		}
		names, _ := m["symbols"].([]any)
		out = append(out, finding.Symbols{Path: path, Names: textsOf(names)})
	}
	return out
}

// rustSymbols reads {"functions": ["crate::module::function"]}.
func rustSymbols(v any) []finding.Symbols {
	m, _ := v.(map[string]any)
	list, _ := m["functions"].([]any)
	byPath := map[string]int{}
	var out []finding.Symbols
	for _, name := range textsOf(list) {
		path, symbol := "", name
		if i := strings.LastIndex(name, "::"); i >= 0 {
			path, symbol = name[:i], name[i+2:]
		}
		i, ok := byPath[path]
		if !ok {
			i = len(out)
			byPath[path] = i
			out = append(out, finding.Symbols{Path: path})
		}
		out[i].Names = append(out[i].Names, symbol)
	}
	return out
}

// textsOf are the texts of a list.
func textsOf(list []any) []string {
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok && s != "" && len(s) <= maxPackage && len(out) < maxSymbols {
			out = append(out, s)
		}
	}
	return out
}
