package message

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file finds values within values: JSON in a cookie, text in base 64 in a query. What
// the application unpacks before it uses it is attacked unpacked, and packed again.

const (
	maxInner  = 50       // points within the values of a request
	maxLayers = 4        // one within the other
	maxPacked = 16 << 10 // bytes of a value that is unpacked
	minBare   = 8        // characters of base 64 that no sign for the end tells of
)

// An Inner says how the value of a point stands within that of a parameter.
type Inner struct {
	outer  Point
	layers []layer // the outermost first
}

// A layer is one way of packing a value.
type layer struct {
	kind    packing
	base64  *base64.Encoding
	pointer string // of JSON
	number  int    // of a literal of GraphQL
}

// packing says how a value is packed into another one.
type packing string

const (
	inBase64  packing = "base 64"
	inJSON    packing = "JSON"
	inPercent packing = "percent signs"
	inGraphQL packing = "GraphQL"
)

// Packed names the ways that the value of the point is packed in, the outermost first:
// "base 64, JSON". Empty: it is the value of the parameter itself.
func (p Point) Packed() string {
	if p.Inner == nil {
		return ""
	}
	var kinds []string
	for _, l := range p.Inner.layers {
		kinds = append(kinds, string(l.kind))
	}
	return strings.Join(kinds, ", ")
}

// Outer is the point of the parameter that holds the value, which may be the point itself.
func (p Point) Outer() Point {
	if p.Inner == nil {
		return p
	}
	return p.Inner.outer
}

// Inner returns the values within the values of Points that are written in base 64, as JSON,
// as arguments of GraphQL, which may be those of a constant text, or, within these, with
// percent signs. Names of members and of arguments follow that of the parameter:
// "settings/user/name". A number becomes a text when it is replaced.
func (r *Request) Inner() []Point {
	var out []Point
	seen := map[string]int{}
	for _, outer := range r.pointsWith(true) {
		if outer.In == InFileName || outer.Type == "file" || outer.Type == "password" {
			continue
		}
		inside := unpackValue(outer.Value, 0)
		if outer.Type == Constant {
			inside = graphQLArguments(outer.Value)
		}
		for _, v := range inside {
			if len(out) == maxInner {
				return out
			}
			name := outer.Key() + v.name
			if seen[name]++; seen[name] > 1 { // an argument that comes again
				v.name += "/" + itoa(seen[name])
			}
			out = append(out, Point{In: outer.In, Name: outer.Name + v.name, Index: outer.Index, Value: v.text,
				Type: v.kind, Inner: &Inner{outer, v.layers}})
		}
	}
	return out
}

// An unpacked value is one within another.
type unpacked struct {
	layers     []layer
	name       string // what follows that of the parameter
	text, kind string // as of a Point
}

// unpackValue returns the values within a value; none: it is packed in no way that is known.
func unpackValue(value string, depth int) []unpacked {
	if depth == maxLayers || len(value) > maxPacked {
		return nil
	}
	if inside := graphQLArguments(value); len(inside) > 0 {
		return inside
	}
	if text := strings.TrimSpace(value); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return jsonMembers(value, depth)
	}
	if encoding, text := decodeBase64(value); encoding != nil {
		return wrapLayer(layer{kind: inBase64, base64: encoding}, text, depth, true)
	}
	if text, err := url.PathUnescape(value); err == nil && text != value && isReadable(text) {
		return wrapLayer(layer{kind: inPercent}, text, depth, depth > 0)
	}
	return nil
}

// graphQLArguments are the arguments of a text of GraphQL.
func graphQLArguments(value string) []unpacked {
	if len(value) > maxPacked || json.Valid([]byte(value)) {
		return nil
	}
	var out []unpacked
	for i, l := range graphQLLiterals(value) {
		out = append(out, unpacked{[]layer{{kind: inGraphQL, number: i}}, l.name, l.value, l.kind})
	}
	return out
}

// jsonMembers are the scalars of JSON, and what is within them.
func jsonMembers(value string, depth int) []unpacked {
	if !json.Valid([]byte(value)) {
		return nil
	}
	var out []unpacked
	seen := map[string]bool{}
	for _, leaf := range jsonLeaves([]byte(value)) {
		if len(out) >= maxInner {
			break
		}
		if seen[leaf.pointer] { // a member that comes again
			continue
		}
		seen[leaf.pointer] = true
		l := layer{kind: inJSON, pointer: leaf.pointer}
		inside := []unpacked{{layers: []layer{l}, text: leaf.value, kind: leaf.kind}}
		if leaf.kind == "string" {
			inside = wrapLayer(l, leaf.value, depth, true)
		}
		for _, v := range inside {
			v.name = leaf.pointer + v.name
			out = append(out, v)
		}
	}
	return out
}

// wrapLayer puts a layer around the values within a text, or around the text where there are
// none and it may stand by itself.
func wrapLayer(l layer, text string, depth int, itself bool) []unpacked {
	inside := unpackValue(text, depth+1)
	if len(inside) == 0 && itself {
		inside = []unpacked{{text: text}}
	}
	for i := range inside {
		inside[i].layers = append([]layer{l}, inside[i].layers...)
	}
	return inside
}

// decodeBase64 decodes a text in base 64; nil: it is none, or nothing that somebody reads. Words are
// texts in base 64 as well, but what they decode to is no text.
func decodeBase64(value string) (*base64.Encoding, string) {
	encoding := base64.StdEncoding
	if strings.ContainsAny(value, "-_") {
		encoding = base64.URLEncoding
	}
	if len(value)%4 != 0 {
		encoding = encoding.WithPadding(base64.NoPadding)
	}
	decoded, err := encoding.Strict().DecodeString(value)
	if err != nil || len(decoded) == 0 || encoding.EncodeToString(decoded) != value {
		return nil, ""
	}
	text := string(decoded)
	if !isReadable(text) || !strings.HasSuffix(value, "=") &&
		(len(value) < minBare || len(text) != utf8.RuneCountInString(text)) {
		return nil, ""
	}
	return encoding, text
}

// isReadable reports whether a text holds nothing but what people read.
func isReadable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(c rune) bool {
		return !unicode.IsPrint(c) && c != '\n' && c != '\r' && c != '\t'
	})
}

// unwrapLayer takes a layer away.
func (l *layer) unwrapLayer(value string) string {
	switch l.kind {
	case inBase64:
		if decoded, err := l.base64.DecodeString(value); err == nil {
			return string(decoded)
		}
	case inPercent:
		if text, err := url.PathUnescape(value); err == nil {
			return text
		}
	case inGraphQL:
		if all := graphQLLiterals(value); l.number < len(all) {
			return all[l.number].value
		}
	case inJSON:
		for _, leaf := range jsonLeaves([]byte(value)) {
			if leaf.pointer == l.pointer {
				return leaf.value
			}
		}
	}
	return ""
}

// packValue replaces the value within the layers of another one. A value of JSON stands in JSON as
// it is.
func packValue(whole string, layers []layer, value string, asJSON bool) string {
	if len(layers) == 0 {
		return value
	}
	l := layers[0]
	inside := packValue(l.unwrapLayer(whole), layers[1:], value, asJSON)
	switch l.kind {
	case inBase64:
		return l.base64.EncodeToString([]byte(inside))
	case inPercent:
		return Escape(inside)
	case inGraphQL:
		at := graphQLLiterals(whole)[l.number]
		return string(spliceText([]byte(whole), at.start, at.end, quoteJSON(inside)))
	}
	text := []byte(inside)
	if !asJSON || len(layers) > 1 {
		text = quoteJSON(inside)
	}
	return string(setJSON([]byte(whole), Point{Name: l.pointer}, text))
}

// HoldsJSON reports whether the value of the point is one of JSON, which may be of any type
// (WithJSON).
func (p Point) HoldsJSON() bool {
	if p.Inner == nil {
		return p.In == InJSON
	}
	return p.Inner != nil && p.Inner.layers[len(p.Inner.layers)-1].kind == inJSON
}
