// Package deserialization finds objects of programs that travel through the browser:
// parameters and cookies that hold what Java, PHP, .NET, Python or Ruby writes of an
// object. A changed byte that the reader of such objects complains of proves that it
// reads them, and so do two spellings of an object that only a reader tells apart, and
// an object that calls a listener of ours.
package deserialization

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var (
	read   = texts.Get("read")
	called = texts.Get("callback")
	shown  = texts.Get("indicator")
)

// Rule is the check, Calls that by a listener; the indicator alone sends nothing.
var (
	Calls = &activescan.Rule{ID: "deserialization", FindingRules: []*finding.Rule{called},
		OASTRules: []*finding.Rule{called},
		Profile:   scan.Standard, AcceptsPoint: wantsCalls, ProbePoint: callPoint}
	Rule = &activescan.Rule{ID: "deserialization", FindingRules: []*finding.Rule{read}, Profile: scan.Safe,
		AcceptsPoint: acceptsPoint,
		ProbePoint:   probePoint}
	Indicator = &activescan.Rule{ID: "deserialization", FindingRules: []*finding.Rule{shown},
		InspectResponse: inspectResponse}
)

func acceptsPoint(p message.Point) bool { return !p.Names() && serializationFormat(p.Value) != "" }

// script is a language whose objects are JSON: node-serialize finds functions in it.
const script = "JavaScript"

// wantsCalls wants values that hold objects, those in JSON as well.
func wantsCalls(p message.Point) bool {
	return !p.Names() && p.In != message.InFileName && (serializationFormat(p.Value) != "" || isJSONObject(p.Value))
}

// isJSONObject reports whether the value is an object in JSON.
func isJSONObject(value string) bool {
	if decoded := decodeBase64(value); decoded != "" {
		value = decoded
	}
	return strings.HasPrefix(strings.TrimSpace(value), "{") && json.Valid([]byte(value))
}

func callPoint(p *activescan.Probe) error {
	language := serializationFormat(p.Point.Value)
	if language == "" {
		language = script
	}
	_, err := probeOAST(p, language)
	return err
}

// formats are how objects begin: their own magic numbers, also in base 64.
var formats = []struct {
	name string
	text *lazyregexp.Regexp // of the value
	raw  string             // of the decoded value
}{
	{"Java", nil, "\xac\xed\x00\x05"},
	{".NET", nil, "\x00\x01\x00\x00\x00\xff\xff\xff\xff"},
	{"Python", nil, "\x80\x02"}, {"Python", nil, "\x80\x03"}, {"Python", nil, "\x80\x04\x95"},
	{"Python", nil, "\x80\x05\x95"},
	{"Ruby", nil, "\x04\x08"},
	{"PHP", lazyregexp.New(`^(?:O|C):\d+:"[\w\\]+":\d+:\{|^a:\d+:\{(?:i:\d+|s:\d+:".*?");`), ""},
}

// serializationFormat names the language whose object the value is; empty: none.
func serializationFormat(value string) string {
	decoded := decodeBase64(value)
	for _, f := range formats {
		switch {
		case f.text != nil && (f.text.MatchString(value) || f.text.MatchString(decoded)):
			return f.name
		case f.raw != "" && len(decoded) > len(f.raw)+4 && strings.HasPrefix(decoded, f.raw):
			return f.name
		}
	}
	return ""
}

// decodeBase64 reads base 64 in its usual alphabets; what is not is empty.
func decodeBase64(value string) string {
	value = strings.TrimRight(value, "=")
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if out, err := e.DecodeString(value); err == nil && len(value) >= 12 {
			return string(out)
		}
	}
	return ""
}

// complaint are texts of errors of readers of objects.
var complaint = lazyregexp.New(`java\.io\.(?:StreamCorrupted|InvalidClass|OptionalData|EOF|UTFDataFormat)Exception|java\.lang\.ClassNotFoundException|invalid (?:type code|stream header)|unserialize\(\)|Error at offset \d+ of \d+ bytes|System\.Runtime\.Serialization|SerializationException|UnpicklingError|invalid load key|pickle data was truncated|marshal data too short|incompatible marshal file format|dump format error`)

func probePoint(p *activescan.Probe) error {
	base, err := p.Baseline()
	if err != nil {
		return err
	}
	if done, err := confirmSpellings(p, base); done || err != nil {
		return err
	}
	v := p.Point.Value
	at := min(len(v)-1, max(len(v)/3, 8))
	changed := v[:at] + swapCharacter(v[at]) + v[at+1:]
	cut := v[:len(v)/2]
	for _, payload := range []string{changed, cut} {
		resp, err := p.SendValue(payload)
		if err != nil {
			return err
		}
		said := complaint.FindString(resp.Text())
		if said == "" || complaint.MatchString(base.First.Text()) {
			continue
		}
		p.RaiseAlert(activescan.Alert{Rule: read, Payload: payload, Request: p.Request.With(p.Point, payload),
			Responses: []*message.Response{base.First, resp}, ResponseNotes: []string{"the object as it is",
				"a changed object"},
			Proof: []string{"The value is an object as " + serializationFormat(v) + " writes it.",
				"A modified one returns an error of the deserializer: " + said}})
		return nil
	}
	return nil
}

// swapCharacter returns another character of the same kind.
func swapCharacter(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

// inspectResponse looks at the values that the application itself uses.
func inspectResponse(t *activescan.OperationScan, resp *message.Response) {
	for _, at := range t.Request.Points() {
		if f := serializationFormat(at.Value); f != "" && !at.Names() {
			reportObject(t, resp, at, f)
		}
	}
	for _, line := range resp.Header.Values("Set-Cookie") {
		pair, _, _ := strings.Cut(line, ";")
		name, value, _ := strings.Cut(pair, "=")
		if f := serializationFormat(strings.Trim(value, `"`)); f != "" {
			reportObject(t, resp, message.Point{In: message.InCookie, Name: name}, f)
		}
	}
}

func reportObject(t *activescan.OperationScan, resp *message.Response, at message.Point, language string) {
	t.RaiseAlert(activescan.Alert{Rule: shown, Point: &at, Request: resp.Request, Responses: []*message.Response{resp},
		ResponseNotes: []string{"an ordinary request"},
		Proof:         []string{"The value of " + at.Name + " is an object as " + language + " writes it."}})
}
