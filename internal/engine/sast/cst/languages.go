package cst

import (
	hcl "github.com/tree-sitter-grammars/tree-sitter-hcl/bindings/go"
	kotlin "github.com/tree-sitter-grammars/tree-sitter-kotlin/bindings/go"
	xml "github.com/tree-sitter-grammars/tree-sitter-xml/bindings/go"
	yaml "github.com/tree-sitter-grammars/tree-sitter-yaml/bindings/go"
	bash "github.com/tree-sitter/tree-sitter-bash/bindings/go"
	csharp "github.com/tree-sitter/tree-sitter-c-sharp/bindings/go"
	c "github.com/tree-sitter/tree-sitter-c/bindings/go"
	cpp "github.com/tree-sitter/tree-sitter-cpp/bindings/go"
	golang "github.com/tree-sitter/tree-sitter-go/bindings/go"
	html "github.com/tree-sitter/tree-sitter-html/bindings/go"
	java "github.com/tree-sitter/tree-sitter-java/bindings/go"
	javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	json "github.com/tree-sitter/tree-sitter-json/bindings/go"
	php "github.com/tree-sitter/tree-sitter-php/bindings/go"
	python "github.com/tree-sitter/tree-sitter-python/bindings/go"
	ruby "github.com/tree-sitter/tree-sitter-ruby/bindings/go"
	rust "github.com/tree-sitter/tree-sitter-rust/bindings/go"
	scala "github.com/tree-sitter/tree-sitter-scala/bindings/go"
	typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"
)

// The languages. A file that two languages would take belongs to the first one
// of Languages.
var (
	Java       = newLanguage("java", java.Language, ".java")
	JavaScript = newLanguage("javascript", javascript.Language, ".js", ".jsx", ".mjs", ".cjs", ".es6")
	TypeScript = newLanguage("typescript", typescript.LanguageTypescript, ".ts", ".mts", ".cts")
	TSX        = newLanguage("tsx", typescript.LanguageTSX, ".tsx")
	// Component is a file with a user interface: scripts between mark-up.
	Component = newLanguage("component", typescript.LanguageTypescript, ".vue", ".svelte", ".astro")
	Python    = newLanguage("python", python.Language, ".py", ".pyi", ".pyw", ".wsgi")
	Go        = newLanguage("go", golang.Language, ".go")
	PHP       = newLanguage("php", php.LanguagePHP, ".php", ".php3", ".php4", ".php5", ".phtml", ".inc",
		".ctp", ".module", ".install", ".theme")
	CSharp = newLanguage("csharp", csharp.Language, ".cs", ".csx")
	Ruby   = newLanguage("ruby", ruby.Language, ".rb", ".rake", ".ru", ".gemspec", ".jbuilder", "gemfile",
		"rakefile")
	Kotlin = newLanguage("kotlin", kotlin.Language, ".kt", ".kts")
	C      = newLanguage("c", c.Language, ".c", ".h")
	CPP    = newLanguage("cpp", cpp.Language, ".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".c++", ".h++")
	Rust   = newLanguage("rust", rust.Language, ".rs")
	Scala  = newLanguage("scala", scala.Language, ".scala", ".sc", ".sbt")
	Bash   = newLanguage("bash", bash.Language, ".sh", ".bash", ".zsh", ".ksh")
	HCL    = newLanguage("hcl", hcl.Language, ".tf", ".hcl", ".tfvars")
	YAML   = newLanguage("yaml", yaml.Language, ".yaml", ".yml")
	JSON   = newLanguage("json", json.Language, ".json")
	HTML   = newLanguage("html", html.Language, ".html", ".htm", ".xhtml")
	// Dockerfile has no grammar: its lowering reads the lines itself.
	Dockerfile = newText("dockerfile", "dockerfile", "containerfile", "dockerfile.*", "containerfile.*", ".dockerfile",
		".containerfile")
	XML = newLanguage("xml", xml.LanguageXML, ".xml", ".xsd", ".xsl", ".xslt", ".plist", ".config", ".csproj",
		".pom")
)

// Languages lists every language.
var Languages = []*Language{
	Java, JavaScript, TypeScript, TSX, Component, Python, Go, PHP, CSharp, Ruby, Kotlin, C, CPP, Rust, Scala, Bash, HCL,
	YAML,
	JSON, HTML, XML, Dockerfile,
}
