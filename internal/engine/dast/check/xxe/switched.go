package xxe

import (
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file sends XML where JSON is asked for: frameworks that read both by their type
// often do so although nobody has thought of the other one.

// speaking matches errors of applications that have parsed a document, or tried to.
var speaking = lazyregexp.New(`(?i)\bxml\b|\bsax|unmarshal|jaxb|doctype|\broot element|expected element`)

// probeContentTypeSwitch sends the operation's JSON body as XML, without entities. Only where the
// response shows that it was read do the attacks follow.
func probeContentTypeSwitch(t *activescan.OperationScan) error {
	fields, is := message.DecodeJSON(t.Request.Body.Text).(map[string]any)
	if !is {
		return nil
	}
	r := t.Request.Clone()
	r.Body = message.Body{Kind: message.XML, Type: "application/xml",
		Text: []byte(`<?xml version="1.0"?>` + elementOf(resourceName(r.Path), fields, 0))}
	texts := documentTexts(r)
	if len(texts) == 0 {
		return nil
	}
	first, err := t.FirstResponse()
	if err != nil {
		return err
	}
	resp, err := t.Send(r)
	if err != nil {
		return err
	}
	switch {
	case resp.Status == http.StatusUnsupportedMediaType:
		return nil
	case resp.Status < 300 || first.Status == resp.Status && resp.Status < 500:
	case !speaking.MatchString(resp.Text()):
		return nil
	}
	at := texts[0]
	_, err = probePoint(t, place{at, func(entities, text string) *message.Request {
		return withEntities(t, r, at, entities, text)
	}})
	return err
}

// resourceName is what the path is about, as classes of objects are named: "order" of /api/orders/7.
func resourceName(path string) string {
	for _, s := range slices.Backward(strings.Split(path, "/")) {
		if isElementName(s) && strings.IndexFunc(s, func(c rune) bool { return c >= '0' && c <= '9' }) < 0 {
			return strings.TrimSuffix(s, "s")
		}
	}
	return "root"
}

// isElementName reports whether a name can be that of an element.
func isElementName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(c rune) bool {
		return c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}) < 0 && (name[0] > '9' || name[0] < '0')
}

// maxDeep bounds the nesting of objects that are written as XML.
const maxDeep = 6

// elementOf writes a value of JSON as XML, lists as elements of one name. Properties whose
// name no element can have are left out.
func elementOf(name string, v any, depth int) string {
	if depth > maxDeep || !isElementName(name) {
		return ""
	}
	var b strings.Builder
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			b.WriteString(elementOf(name, one, depth+1))
		}
		return b.String()
	case map[string]any:
		b.WriteString("<" + name + ">")
		for _, below := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(elementOf(below, v[below], depth+1))
		}
	case nil:
		return ""
	default:
		b.WriteString("<" + name + ">")
		_ = xml.EscapeText(&b, []byte(fmt.Sprint(v))) // a builder takes everything
	}
	return b.String() + "</" + name + ">"
}
