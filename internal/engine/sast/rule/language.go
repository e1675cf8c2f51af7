package rule

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Languages that are not programming languages.
const (
	LanguageGeneric = "generic" // any text, matched by words
	LanguageRegex   = "regex"   // any text, matched by regular expressions
)

// languages are the spellings of the format, with their canonical names.
var languages = map[string]string{
	"bash": "bash", "sh": "bash", "c": "c", "cpp": "cpp", "c++": "cpp", "csharp": "csharp", "c#": "csharp",
	"docker": "dockerfile", "dockerfile": "dockerfile", "go": "go", "golang": "go",
	"hcl": "hcl", "tf": "hcl", "terraform": "hcl", "html": "html", "java": "java",
	"js": "javascript", "javascript": "javascript", "jsx": "javascript", "json": "json", "kt": "kotlin",
	"kotlin": "kotlin",
	"php":    "php", "py": "python", "python": "python", "python2": "python", "python3": "python",
	"rb": "ruby", "ruby": "ruby", "rs": "rust", "rust": "rust", "scala": "scala",
	"ts": "typescript", "typescript": "typescript", "tsx": "typescript", "xml": "xml", "yaml": "yaml", "yml": "yaml",
	"generic": LanguageGeneric, "spacegrep": LanguageGeneric, "aliengrep": LanguageGeneric,
	"regex": LanguageRegex, "none": LanguageRegex,

	// Known to the format; the engine says of a rule that it has no grammar for it.
	"apex": "apex", "cairo": "cairo", "circom": "circom", "clojure": "clojure", "dart": "dart", "elixir": "elixir",
	"ex":  "elixir",
	"fga": "fga", "openfga": "fga", "gosu": "gosu", "hack": "hack", "jsonnet": "jsonnet", "julia": "julia",
	"lisp": "lisp",
	"lua":  "lua", "move_on_sui": "move_on_sui", "move_on_aptos": "move_on_aptos", "ocaml": "ocaml", "ml": "ocaml",
	"powershell": "powershell", "ps1": "powershell", "promql": "promql", "proto": "protobuf", "proto3": "protobuf",
	"protobuf": "protobuf",
	"ql":       "ql", "r": "r", "scheme": "scheme", "sol": "solidity", "solidity": "solidity", "swift": "swift",
	"vue": "vue",
	"vb":  "vb", "vbnet": "vb", "xtend": "xtend",
}

// Language returns the canonical name of a language in any spelling of the format, such as
// "javascript" for "js". It is false for an unknown one. The languages that the build has no
// grammar for are known too, so that the message about them is exact.
func Language(name string) (string, bool) {
	l, ok := languages[strings.ToLower(name)]
	return l, ok
}

// readLanguages reads the languages of a rule, each once. Languages without a grammar of their own
// cannot be mixed with others, because their patterns are of another kind.
func (b *builder) readLanguages(n *yaml.Node) []string {
	var out []string
	elements := b.readList(n, "languages")
	for _, e := range elements {
		if l := b.readLanguage(e); l != "" && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	if n != nil && len(elements) == 0 {
		b.reportFault(n.Line, "languages must name at least one")
	}
	if len(out) > 1 && (slices.Contains(out, LanguageGeneric) || slices.Contains(out, LanguageRegex)) {
		b.reportFault(n.Line, "generic and regex stand alone in languages")
	}
	return out
}

// readLanguage reads the name of a language, "" with a fault for an unknown one. Spellings of the
// format are mapped to the names of the build.
func (b *builder) readLanguage(n *yaml.Node) string {
	name := b.readScalar(n, "a language")
	l, ok := Language(name)
	if !ok {
		b.reportFault(n.Line, "the language %q is not known", name)
	}
	return l
}
