package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Document checks responses against an OpenAPI 3.1 document, whose schemas are
// JSON Schema of the dialect 2020-12. It is safe for concurrent use.
type Document struct {
	compiler   *jsonschema.Compiler
	operations []operation

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // by place in the document
}

// operation is a path and method of the document.
type operation struct {
	method    string
	template  []string // segments of the path; "{name}" stands for any text
	path      string
	responses map[string]response
}

// response is a response of an operation: a reference to a shared one, or its content types.
type response struct {
	Ref     string                     `json:"$ref"`
	Content map[string]json.RawMessage `json:"content"`
}

// location is the document's address inside the compiler.
const location = "openapi.json"

// NewDocument reads an OpenAPI document.
func NewDocument(text []byte) (*Document, error) {
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	d := &Document{compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	// By default 2020-12 treats format as an annotation: a malformed UUID would pass.
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource(location, whole); err != nil {
		return nil, err
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]response `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			d.operations = append(d.operations, operation{
				method: strings.ToUpper(method), path: path, template: strings.Split(path, "/"),
				responses: op.Responses,
			})
		}
	}
	return d, nil
}

// Check returns an error when a response is not what the document says of the
// operation at the path. An address that the document does not have gets a response
// with a Problem, or is the document itself.
func (d *Document) Check(method, path string, status int, header http.Header, body []byte) error {
	op, ok := d.findOperation(method, path)
	if !ok {
		if status < http.StatusBadRequest {
			if strings.HasPrefix(path, "/openapi") {
				return nil
			}
			return fmt.Errorf("%s %s answered %d, but the document has no such operation", method, path, status)
		}
		return d.validateBody("#/components/schemas/Problem", body)
	}
	key := strconv.Itoa(status)
	r, ok := op.responses[key]
	if !ok {
		if status < http.StatusBadRequest {
			return fmt.Errorf("%s %s answered %d, which the document does not have", method, op.path, status)
		}
		key, r = "default", op.responses["default"]
	}
	if r.Ref != "" {
		return d.checkProblem(method+" "+op.path, r.Ref, status, header, body)
	}
	if len(r.Content) == 0 {
		if len(body) > 0 {
			return fmt.Errorf("%s %s answered %d with a body, the document has none", method, op.path, status)
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("%s %s answered %d with the content type %q: %w", method, op.path, status,
			header.Get("Content-Type"), err)
	}
	if _, ok := r.Content[kind]; !ok {
		return fmt.Errorf("%s %s answered %d as %s, which the document does not have", method, op.path, status, kind)
	}
	// Only JSON has a schema that says more than "text".
	if kind != "application/json" {
		return nil
	}
	place := "#/paths/" + escapePointer(op.path) + "/" + strings.ToLower(method) + "/responses/" + key + "/content/" +
		escapePointer(kind) + "/schema"
	if err := d.validateBody(place, body); err != nil {
		return fmt.Errorf("%s %s answered %d: %w\n%s", method, op.path, status, err, body)
	}
	return nil
}

// checkProblem checks a response that the document describes elsewhere: every
// failure is one.
func (d *Document) checkProblem(operation, ref string, status int, header http.Header, body []byte) error {
	if kind, _, err := mime.ParseMediaType(header.Get("Content-Type")); err != nil || kind != "application/json" {
		return fmt.Errorf("%s answered %d as %q, want application/json", operation, status, header.Get("Content-Type"))
	}
	if err := d.validateBody(ref+"/content/application~1json/schema", body); err != nil {
		return fmt.Errorf("%s answered %d: %w\n%s", operation, status, err, body)
	}
	return nil
}

// validateBody validates a body against the schema at a place of the document. Compiled
// schemas are kept, since tests make thousands of requests.
func (d *Document) validateBody(place string, body []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	schema := d.schemas[place]
	if schema == nil {
		var err error
		if schema, err = d.compiler.Compile(location + place); err != nil {
			return err
		}
		d.schemas[place] = schema
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	return schema.Validate(value)
}

// findOperation finds the operation of a path; fixed words win over parameters, from
// left to right.
func (d *Document) findOperation(method, path string) (operation, bool) {
	segments := strings.Split(path, "/")
	best, rank := operation{}, ""
	for _, op := range d.operations {
		if r, ok := op.matchPath(method, segments); ok && r > rank {
			best, rank = op, r
		}
	}
	return best, rank != ""
}

// matchPath returns the rank of a match: one letter a segment, "b" for a fixed word,
// "a" for a parameter.
func (o operation) matchPath(method string, segments []string) (string, bool) {
	if o.method != method || len(o.template) != len(segments) {
		return "", false
	}
	var rank strings.Builder
	for i, word := range o.template {
		switch {
		case word == segments[i]:
			rank.WriteByte('b')
		case strings.HasPrefix(word, "{"):
			rank.WriteByte('a')
		default:
			return "", false
		}
	}
	return rank.String(), true
}

// escapePointer writes a word as a segment of a JSON pointer inside an address.
func escapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(s)
}
