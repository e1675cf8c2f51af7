package deserialization

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file proves that objects are read, whatever the answers say of it, by two
// spellings of the value's own object that only their reader tells apart: one that reads
// as the object that it is, and one that cannot be read. Where the format can, what makes
// the difference is a class that no application asks for, made and dropped: a reader
// that makes named classes only takes neither, or both.

// spellTwice writes an object in two ways: whole is read as the same object, with any class
// permitted, and broken is not. random is a name that nothing has. Both are empty where
// no such pair is known.
func spellTwice(language, object, random string) (whole, broken string) {
	switch language {
	case "Java":
		return spellJava(object)
	case "PHP":
		return spellPHP(object)
	case "Python":
		// Behind the protocol: a name is looked up and taken off the stack again (opcodes
		// GLOBAL and POP of Python's pickletools).
		return object[:2] + "ccollections\nOrderedDict\n0" + object[2:], object[:2] + "ccollections\n" + random +
			"\n0" + object[2:]
	case "Ruby":
		// The minor version may be lower than the reader's, and not higher (marshal.c). No
		// reader of this format is told which classes it may make.
		return object[:1] + "\x07" + object[2:], object[:1] + "\x09" + object[2:]
	}
	return "", ""
}

// phpBody begins an array, or an object with its properties, and its first name.
var phpBody = lazyregexp.New(`^(a|O:\d+:"[\w\\]+"):(\d+):\{(?:i:\d+;|s:(\d+):")`)

// spellPHP gives the first element, or property, another value before its own, which
// takes its place: an object. A closure cannot be made of a text: that is an error where
// classes are made, and none where unserialize is told to make none or named ones.
func spellPHP(object string) (whole, broken string) {
	m := phpBody.FindStringSubmatchIndex(object)
	if m == nil {
		return "", ""
	}
	begin, end := strings.IndexByte(object, '{')+1, m[1]
	if m[6] >= 0 { // a text
		length, err := strconv.Atoi(object[m[6]:m[7]])
		if end += length + len(`";`); err != nil || length < 0 || end > len(object) || end < begin {
			return "", ""
		}
	}
	count, err := strconv.Atoi(object[m[4]:m[5]])
	if err != nil {
		return "", ""
	}
	with := func(class string) string {
		return fmt.Sprintf(`%s:%d:{%sO:%d:"%s":0:{}%s`, object[m[2]:m[3]], count+1, object[begin:end], len(class),
			class, object[begin:])
	}
	return with("stdClass"), with("Closure")
}

// spellJava puts an object into what may stand behind the description of the first class
// (classAnnotation): it is read, and dropped. A reader compares the class's number.
func spellJava(object string) (whole, broken string) {
	at, handles := findAnnotation(object)
	if at < 0 {
		return "", ""
	}
	with := func(id uint64) string {
		var s stream
		s.writeClass("java.util.concurrent.atomic.AtomicBoolean", id, "Ivalue")
		return object[:at] + string(append(s, 0, 0, 0, 1, tcEnd)) + renumberReferences(object[at:], handles)
	}
	return with(0x4098b70a4f3ffc33), with(0x4098b70a4f3ffc34)
}

// findAnnotation is where what follows the description of the first class may stand, and how
// many things of the stream have numbers before it; -1: the stream begins otherwise.
func findAnnotation(object string) (at, handles int) {
	b := []byte(object)
	if len(b) < 8 || b[4] != tcObject || b[5] != tcClass {
		return -1, 0
	}
	at, handles = 6, 1
	skip := func(n int) bool { at += n; return at+2 <= len(b) }
	text := func() bool { return skip(2 + int(binary.BigEndian.Uint16(b[at:]))) }
	if !text() || !skip(9) { // the name, the number, the flags
		return -1, 0
	}
	fields := int(binary.BigEndian.Uint16(b[at:]))
	if !skip(2) {
		return -1, 0
	}
	for range fields {
		kind := b[at]
		if !skip(1) || !text() {
			return -1, 0
		}
		if kind != 'L' && kind != '[' {
			continue
		}
		switch b[at] {
		case tcString:
			handles++
			if !skip(1) || !text() {
				return -1, 0
			}
		case tcReference:
			if !skip(5) {
				return -1, 0
			}
		default:
			return -1, 0
		}
	}
	return at, handles
}

// renumberReferences adds the two numbers of an object and its class to those of things that come
// later, wherever they are referred to. A text that looks like a reference is changed as
// well: the object is another one then, and proves nothing.
func renumberReferences(rest string, before int) string {
	b := []byte(rest)
	for i := 0; i+5 <= len(b); i++ {
		if b[i] != tcReference || b[i+1] != 0 || b[i+2] != 0x7e {
			continue
		}
		if n := binary.BigEndian.Uint16(b[i+3:]); int(n) >= before && n < 0xfffe {
			binary.BigEndian.PutUint16(b[i+3:], n+2)
		}
		i += 4
	}
	return string(b)
}

// confirmSpellings reports whether both spellings are answered as a reader of such objects
// answers, twice.
func confirmSpellings(p *activescan.Probe, base *activescan.Baseline) (bool, error) {
	language, object := serializationFormat(p.Point.Value), p.Point.Value
	if decoded := decodeBase64(object); decoded != "" {
		object = decoded
	}
	if !base.Stable {
		return false, nil
	}
	f := activescan.Alert{Rule: read, Responses: []*message.Response{base.First},
		ResponseNotes: []string{"the object as it is", "spelled otherwise", "spelled wrong"},
		Proof: []string{"The value is an object as " + language + " writes it.",
			"Spelled otherwise, with something in it that is read and dropped, it gets the same response; with " +
				"something in its place that cannot be read it does not, twice: only a reader of such objects tells " +
				"them apart."}}
	for range 2 {
		whole, broken := spellTwice(language, object, p.RandomLetters(10))
		if whole == "" {
			return false, nil
		}
		for i, text := range []string{whole, broken} {
			payload := encodeAlike(p.Point.Value, text)
			resp, err := p.SendValue(payload)
			if err != nil || base.Matches(resp, payload) != (i == 0) {
				return false, err
			}
			f.Responses = append(f.Responses, resp)
			if i == 0 {
				f.Payload, f.Request = payload, p.Request.With(p.Point, payload)
			}
		}
	}
	p.RaiseAlert(f)
	return true, nil
}
