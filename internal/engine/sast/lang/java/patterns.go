package java

import "merlon/internal/engine/sast/lang"

// patterns says how fragments of rules become files. One that several contexts accept is
// what the first of them makes of it.
var patterns = lang.Patterns{
	Sigil:   true,
	Prepare: preparePattern,
	Contexts: []lang.Context{
		{Before: "class A { Object f = (", After: "\n); }"}, // an expression
		{Before: "try { } "},                     // "catch", "finally"
		{},                                       // statements, types, imports, methods
		{Before: "class A {\n", After: "\n}"},    // constructors and other members
		{After: "\nclass A {}"},                  // annotations
		{Before: "switch (a) {\n", After: "\n}"}, // "case $X: …"
		{Before: "class A { A() {\n", After: "\n; } }"}, // "super(…)"
		{After: " qza;"}, // a type
		{Before: "class A { void f(", After: ") {} }"}, // parameters
	},
}

// preparePattern makes a fragment fit for the grammar. A statement may lack its semicolon
// and a declaration its body.
func preparePattern(text string) []string {
	text = lang.Braces{Fragment: lang.NewFragment(text, "//")}.Prepare()
	return []string{text, text + ";", text + " { ... ...; }"}
}
