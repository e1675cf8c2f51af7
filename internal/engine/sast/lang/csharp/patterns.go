package csharp

import "merlon/internal/engine/sast/lang"

// patterns says how fragments of rules become files. One that several contexts accept is
// what the first of them makes of it.
var patterns = lang.Patterns{
	Sigil:   true,
	Prepare: preparePattern,
	Contexts: []lang.Context{
		{Before: "class A { object f = (", After: "\n); }"}, // an expression
		{Before: "class A { object f = ", After: "\n; }"},   // an expression that bears no parentheses
		{Before: "try { } "},                                // "catch", "finally"
		{},                                                  // statements, types, imports
		{Before: "class A {\n", After: "\n}"},               // members
		{After: "\nclass A {}"},                             // attributes
		{Before: "switch (a) {\n", After: "\n}"},            // "case $X: …"
		{After: " qza;"},                                    // a type
		{Before: "class A { void f(", After: ") {} }"},      // parameters
		{Before: "f(", After: ");"},                         // "name: $V"
	},
}

// preparePattern makes a fragment fit for the grammar. A statement may lack its semicolon
// and a declaration its body.
func preparePattern(text string) []string {
	text = lang.Braces{Fragment: lang.NewFragment(text, "//"), Sharp: true}.Prepare()
	return []string{text, text + ";", text + " { ... ...; }"}
}
