// Package apispec reads descriptions of APIs into one model: OpenAPI 2, 3.0 and 3.1, Postman
// collections 2.0 and 2.1, HAR, and GraphQL as a schema or as the response to an introspection.
// Descriptions in the wild are broken, so the reader takes what it can use: the rest is a [Defect]
// with its location.
//
// [Read] detects the format, parses the document (package document) and calls the reader of the
// format: openapi.go with schema.go, postman.go, har.go, graphql.go. name.go reads what names of
// operations and paths mean, for packages that decide what an operation does. Generating requests
// is left to requestgen, comparing responses to conformance.
//
// Budget: see Limits; MaxOperations operations, maxFaults defects. References are followed within
// the document only, so reading a description sends nothing.
package apispec

import (
	"fmt"
	"strings"

	"merlon/internal/document"
	"merlon/internal/errs"
)

// A Format is how an API is described.
type Format string

// The formats. OpenAPI 2 is also called Swagger.
const (
	OpenAPI2 Format = "openapi2"
	OpenAPI3 Format = "openapi3"
	Postman  Format = "postman"
	HAR      Format = "har"
	GraphQL  Format = "graphql"
)

// Limits of one description.
const (
	// MaxOperations bounds the operations that are kept; more are one defect.
	MaxOperations = 20_000
	// maxFaults bounds the defects that are kept; Omitted counts the rest.
	maxFaults = 1000
	// maxDepth bounds references that lead to references, and folders in folders.
	maxDepth = 64
)

// An API is the content of a description.
type API struct {
	Format Format
	// Version is that of the format, as written: "3.1.0".
	Version string
	Title   string
	// Servers are the addresses that the description names, the first is the usual
	// one: absolute or relative, variables replaced by their defaults.
	Servers []string
	// Operations are in the order of the document.
	Operations []*Operation
	// Schemas are those of OpenAPI, used or not, each once, in no order.
	Schemas []*Schema
	// SecuritySchemes are the ways of signing in, by name.
	SecuritySchemes map[string]SecurityScheme
	// Defects are the parts that could not be used, in the order of the document.
	Defects []Defect
	// Omitted counts defects beyond maxFaults.
	Omitted int
	// Root is the document, nil where it is not YAML or JSON.
	Root *document.Node
}

// A Defect is a part of a description that could not be used.
type Defect struct {
	// Line begins at 1; 0: unknown.
	Line    int
	Pointer string // JSON pointer (RFC 6901); empty where the format has none
	Message string
}

// An Operation is one request that an API offers.
type Operation struct {
	ID     string // operationId, a name, "Query.user" of GraphQL; may be empty
	Method string // in capitals
	Path   string // below the server, parameters in braces: "/users/{id}"
	Server string // address as in API.Servers; empty: nothing is said
	// Slash is set where the server has shown that it has the path with a slash at its
	// end although the description leaves that out, or the other way round.
	Slash   bool
	Summary string
	Tags    []string

	Parameters   []*Parameter
	Bodies       []*Media // alternatives, in the order of the document; empty: no body
	BodyRequired bool
	Responses    []*Response
	// Security lists the alternatives of signing in. An empty alternative means that
	// nobody need to; without any, the description says nothing or that none is needed.
	Security []SecurityRequirement
	Links    []Link
	// Call is set for an operation of GraphQL: its text and its variables are the body.
	Call *GraphQLCall

	Deprecated bool
	Line       int    // from 1; 0 is unknown
	Pointer    string // JSON pointer
}

// RequiresAuthentication reports whether the description requires a sign-in for the operation. An
// empty alternative means that the sign-in is optional (OpenAPI, section 4.8.8).
func (o *Operation) RequiresAuthentication() bool {
	for _, r := range o.Security {
		if len(r) == 0 {
			return false
		}
	}
	return len(o.Security) > 0
}

// A Parameter is a value outside of the body.
type Parameter struct {
	In       string // "path", "query", "header", "cookie"
	Name     string
	Required bool
	Schema   *Schema // never nil
	Example  any     // nil: none
	Style    string  // OpenAPI 3: "form", "simple", "deepObject", …; empty: the usual one of In
	Explode  bool
	Type     string // media type of the value where it is serialized as a document
	Line     int
	Pointer  string // of OpenAPI; empty: it stands nowhere
}

// A Media is a body of one type.
type Media struct {
	Type    string // "application/json", in small letters, without parameters
	Schema  *Schema
	Example any // nil: none
	Line    int
}

// A Response is an answer that a description foresees.
type Response struct {
	Status  string // "200", "2XX", "default"
	Bodies  []*Media
	Headers map[string]*Schema
	Line    int
}

// A SecurityRequirement is one alternative of signing in: all its schemes are required together.
type SecurityRequirement []SchemeScopes

// A SchemeScopes is a security scheme with the scopes that its token needs.
type SchemeScopes struct {
	Scheme string
	Scopes []string
}

// A SecurityScheme is a way of signing in.
type SecurityScheme struct {
	Type   string // "http", "apiKey", "oauth2", "openIdConnect", "mutualTLS"
	Scheme string // of HTTP: "basic", "bearer", …
	In     string // of a key: "header", "query", "cookie"
	Name   string // of the header, …
	Line   int
}

// A Link says that a response gives a value which another operation takes.
type Link struct {
	Status     string            // of the answer
	Operation  string            // ID or pointer of the other
	Parameters map[string]string // by name, or "path.name": a runtime expression, "$response.body#/id"
}

// A GraphQLCall is the text of a GraphQL operation.
type GraphQLCall struct {
	Kind  string // "query", "mutation", "subscription"
	Field string
	Text  string // with variables for all arguments
}

// A reader builds the API of one document.
type reader struct {
	api  *API
	root *document.Node
	// schemas contains each schema that was begun, by pointer: a recursive one finds itself.
	schemas map[string]*Schema
	// keyed contains the defects that were recorded, by line and message.
	keyed map[string]bool
	// pending are schemas that are known but not read yet.
	pending []pending
	// v2: the document is OpenAPI 2, whose bodies, servers and schemes of signing in are written
	// differently.
	v2 bool
}

// addDefect records a mistake of the description with its location, once, up to a limit. The rest
// of the description is read all the same. n may be nil: the line is unknown then.
func (r *reader) addDefect(n *document.Node, pointer, format string, args ...any) {
	line := 0
	if n != nil {
		line = n.Line
	}
	f := Defect{Line: line, Pointer: pointer, Message: fmt.Sprintf(format, args...)}
	key := fmt.Sprintf("%d %s", line, f.Message)
	if r.keyed[key] {
		return
	}
	if len(r.api.Defects) >= maxFaults {
		r.api.Omitted++
		return
	}
	r.keyed[key] = true
	r.api.Defects = append(r.api.Defects, f)
}

// addOperation adds an operation, up to a limit.
func (r *reader) addOperation(o *Operation) {
	if len(r.api.Operations) == MaxOperations {
		r.addDefect(nil, o.Pointer, "has more than %d operations", MaxOperations)
		return
	}
	r.api.Operations = append(r.api.Operations, o)
}

// Limits bound one description. Those of the largest public APIs have 12 MB and 400,000
// values.
var Limits = document.Limits{Size: 32 << 20, Depth: 200, Values: 2_000_000}

// Read reads a description of any format. It returns an error of the kind errs.Invalid when the
// text is no description at all, and errs.TooLarge above the limit; anything else that is wrong is
// a Defect.
func Read(text []byte) (*API, error) {
	if int64(len(text)) > Limits.Size {
		return nil, errs.E(errs.TooLarge, "a description of %d bytes; they are read up to %d MiB", len(text),
			Limits.Size>>20)
	}
	if IsSDL(text) {
		return readSDL(text)
	}
	root, err := document.ParseFirst(text, Limits)
	if err != nil {
		return nil, errs.E(errs.Invalid, "the description %v", err)
	}
	return FromTree(root)
}

// FromTree reads a description from a parsed document.
func FromTree(root *document.Node) (*API, error) {
	format := Detect(root)
	if format == "" {
		return nil, errs.E(errs.Invalid, "the text is no description of an API that is known: OpenAPI, Swagger, "+
			"Postman, HAR or GraphQL")
	}
	r := &reader{api: &API{Format: format, Root: root, SecuritySchemes: map[string]SecurityScheme{}}, root: root,
		schemas: map[string]*Schema{}, keyed: map[string]bool{}}
	switch format {
	case OpenAPI2, OpenAPI3:
		r.v2 = format == OpenAPI2
		r.readOpenAPI()
		r.readPending()
	case Postman:
		r.readPostman()
	case HAR:
		r.readHAR()
	case GraphQL:
		if err := r.readIntrospection(); err != nil {
			return nil, err
		}
	}
	return r.api, nil
}

// Detect returns the format of a document by its members; empty: it is none. Fragments without
// paths are accepted, because descriptions are often split into files.
func Detect(root *document.Node) Format {
	switch {
	case root.Get("swagger") != nil && (root.Get("paths") != nil || root.Get("info") != nil ||
		root.Get("definitions") != nil):
		return OpenAPI2
	case root.Get("openapi") != nil && (root.Get("paths") != nil || root.Get("info") != nil ||
		root.Get("components") != nil || root.Get("webhooks") != nil):
		return OpenAPI3
	case root.Get("item").IsList() && root.Get("info") != nil, root.At("collection", "item").IsList():
		return Postman
	case root.At("log", "entries").IsList():
		return HAR
	case schemaOf(root) != nil:
		return GraphQL
	}
	return ""
}

// or returns a, or b where a is empty.
func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// mediaType returns the type without parameters, in small letters.
func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(s))
}
