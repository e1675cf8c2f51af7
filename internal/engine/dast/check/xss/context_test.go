package xss

import (
	"strings"
	"testing"
)

// The attribute of an offset decides which payloads leave it: a wrong quote or a wrong name means
// that none of them works.
func TestAttributeAt(t *testing.T) {
	for name, c := range map[string]struct {
		raw   string // WORD is the offset
		attr  string
		quote byte
		ok    bool
	}{
		"double quotes":            {`<a href="x WORD">`, "href", '"', true},
		"single quotes":            {`<a title='WORD'>`, "title", '\'', true},
		"no quotes":                {`<a title=WORD>`, "title", 0, true},
		"no quotes, end of tag":    {`<a title=x>WORD`, "", 0, false},
		"spaces around the sign":   {"<a title \t=\n\"WORD\">", "title", '"', true},
		"name in capitals":         {`<a OnClick="WORD">`, "onclick", '"', true},
		"second attribute":         {`<input type=text value="WORD">`, "value", '"', true},
		"after an empty attribute": {`<input disabled value="WORD">`, "value", '"', true},
		"quote that does not end":  {`<a title="WORD`, "title", '"', true},
		"other quote inside":       {`<a title="it's WORD">`, "title", '"', true},
		"name of the attribute":    {`<a WORD="x">`, "", 0, false},
		"name of the element":      {`<WORD title="x">`, "", 0, false},
		"after a slash":            {`<br/title='WORD'>`, "title", '\'', true},
	} {
		attr, quote, start, ok := attributeAt(strings.Replace(c.raw, "WORD", "w0rd", 1), strings.Index(c.raw, "WORD"))
		if attr != c.attr || quote != c.quote || ok != c.ok {
			t.Errorf("%s: %q, quote %q, %t; want %q, quote %q, %t", name, attr, quote, ok, c.attr, c.quote, c.ok)
		}
		if ok && start > strings.Index(c.raw, "WORD") {
			t.Errorf("%s: the value begins at %d, behind the word", name, start)
		}
	}
}
