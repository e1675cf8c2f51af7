package graphql

import "merlon/internal/finding"

var (
	introspection = texts.Get("introspection")
	suggestions   = texts.Get("field-suggestions")
	debugging     = texts.Get("stack-trace")
	console       = texts.Get("console")
	consoleBypass = texts.Get("console-protection-bypass")
	overGET       = texts.Get("mutation-over-get")
	asForm        = texts.Get("form-content-type")
	batching      = texts.Get("batching")
	aliases       = texts.Get("aliases")
	duplicates    = texts.Get("field-duplication")
	directives    = texts.Get("directive-overloading")
	depth         = texts.Get("depth")
	expensive     = texts.Get("resource-intensive-query")
	unsignedToken = texts.Get("unsigned-token")
	denyList      = texts.Get("deny-list-bypass")
	openMutation  = texts.Get("open-mutation")
	serverForgery = texts.Get("server-side-request")
)

// Rules returns every rule of this package.
func Rules() []*finding.Rule {
	return []*finding.Rule{introspection, suggestions, debugging, console, consoleBypass, overGET, asForm, batching,
		aliases, duplicates, directives, depth, expensive, unsignedToken, denyList, openMutation, serverForgery}
}
