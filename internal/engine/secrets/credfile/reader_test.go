package credfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entries returns what a reader reads from a text, as "scope/key=value".
func entries(read func(*file) []entry, text string) []string {
	f := newFile("a/file", text)
	var out []string
	for _, e := range read(f) {
		var path []string
		for s := e.in; s != nil; s = s.outer {
			if s.name != "" {
				path = append([]string{s.name}, path...)
			}
		}
		out = append(out, strings.Join(append(path, e.key), "/")+"="+f.text[e.start:e.end])
	}
	return out
}

// TestReaders pins what each reader takes for the names and values of its format, also
// where a file is not quite valid: files of settings are written by hand.
func TestReaders(t *testing.T) {
	for _, c := range []struct {
		name string
		read func(*file) []entry
		text string
		want []string
	}{
		{"assignments", readAssignments, "A=b\nexport C='d e'\nset f = \"g\"\n# h=i\nj: k\n",
			[]string{"A=b", "C=d e", "f=g", "j=k"}},
		{"sections of assignments", readAssignments, "[a]\nb=c\n[d \"e\"]\nf=g\n", []string{"a/b=c", "d \"e/f=g"}},
		{"a comment behind a value", readAssignments, "a=b # c\nd=\"e # f\"\ng=h;\n",
			[]string{"a=b", "d=e # f", "g=h"}},
		{"setenv", readAssignments, "setenv A b\nset c d\n", []string{"A=b", "c=d"}},
		{"a comparison is none", readAssignments, "if a == b\nc := d\n", []string{"c=d"}},
		{"Windows line ends", readAssignments, "a=b\r\nc=d\r\n", []string{"a=b", "c=d"}},

		{"words", readWords, "user joe password monkey\n", []string{"password=monkey"}},

		{"keys of YAML", readYAML, "a: b\nc:\n  d: e\n  f:\n    g: 'h'\ni: j\n",
			[]string{"a=b", "c/d=e", "c/f/g=h", "i=j"}},
		{"items of YAML", readYAML, "a:\n- b: c\n  d: e\n- b: f\n", []string{"a/a/b=c", "a/a/d=e", "a/a/b=f"}},
		{"assignments in items of YAML", readYAML, "env:\n  - A=b\n  - C=d\n", []string{"env/env/A=b", "env/env/C=d"}},
		{"a text block of YAML is no entry", readYAML, "a: |\n  b: c\nd: e\n", []string{"d=e"}},
		{"a folded block of YAML is no entry", readYAML, "a: >-\n  b: c\nd: e\n", []string{"d=e"}},
		{"documents of YAML", readYAML, "a:\n  b: c\n---\nd: e\n", []string{"a/b=c", "d=e"}},
		{"tags and anchors of YAML", readYAML, "a: !str b\nc: &x d\ne: " +
			"!vault f\n", []string{"a=b", "c=d", "e=!vault f"}},
		{"placeholders of templates in YAML", readYAML, "a: {{ b }}\n{% if c %}\nd: e\n{% endif %}\n",
			[]string{"a={{ b }}", "d=e"}},
		{"keys in quotes", readYAML, "\"a\": b\n'c': d\n", []string{"a=b", "c=d"}},

		{"JSON", readJSON, `{"a": "b", "c": {"d": 1, "e": ["f", "g"]}}`, []string{"a=b", "c/d=1", "c/e/e=f"}},
		{"JSON with comments", readJSON, "{ // x: \"y\"\n\"a\": \"b\", /* \"c\": \"d\" */ 'e': 'f', }",
			[]string{"a=b", "e=f"}},
		{"JSON that ends too early", readJSON, `{"a": "b", "c": "d`, []string{"a=b", "c=d"}},
		{"JSON with escaped quotes", readJSON, `{"a": "b\"c"}`, []string{`a=b\"c`}},

		{"texts of XML", readXML, "<a><b>c</b><d>e</d></a>", []string{"a/b=c", "a/d=e"}},
		{"attributes of XML", readXML, `<a b="c" d='e'/>`, []string{"a/b=c", "a/d=e"}},
		{"an element with a name", readXML, `<property name="a">b</property>`, []string{"property/name=a", "a=b"}},
		{"comments of XML", readXML, "<a><!-- <b>c</b> --><d>e</d></a>", []string{"a/d=e"}},
		{"prefixes of XML", readXML, "<x:a><y:b>c</y:b></x:a>", []string{"a/b=c"}},
		{"a tag that is not closed", readXML, "<a b=\"c\" <d>e</d>", []string{"a/b=c", "d=e"}},

		{"columns", readColumns, "a:b:c\n", []string{"1=a", "2=b", "3=c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, entries(c.read, c.text)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

// TestReadersSurviveCuts cuts each format off at every byte: a reader must return bounds
// inside of the text.
func TestReadersSurviveCuts(t *testing.T) {
	texts := []string{
		"[a]\nexport B=\"c\" # d\ne: f\nset g = 'h';\n",
		"a:\n  - b: !x 'c'\n    d: |\n      e\n- F=\"g\n---\nh: &i j\n",
		`{"a": ["b", {'c': 1.5e3}], /* d */ "e\"": null // f`,
		"<a b=\"c\"><!-- d --><e:f g='h'>i</e:f><![CDATA[j]]></a>",
		"user joe\npassword \"two words\"\n",
	}
	for _, text := range texts {
		for i := range len(text) + 1 {
			for _, read := range []func(*file) []entry{readAssignments, readWords, readYAML, readINI, readJSON, readXML,
				readColumns, readCode, readLDIF, readSVN, readNPM} {
				for _, e := range read(newFile("a", text[:i])) {
					if e.start < 0 || e.start > e.end || e.end > i {
						t.Fatalf("%q: bounds %d to %d of %d", text[:i], e.start, e.end, i)
					}
				}
			}
		}
	}
}

// TestParseUserinfo pins how the user's part of an address is told from the rest (RFC 3986,
// section 3.2.1), and leniently where programs do not escape it.
func TestParseUserinfo(t *testing.T) {
	for _, c := range []struct {
		text    string
		lenient bool
		want    string
	}{
		{"joe:secret@host/path", false, "joe secret host"},
		{"joe@host", false, "joe  host"},
		{"joe:a:b@host", false, "joe a:b host"},
		{"joe:a@b@host", false, "joe a@b host"},
		{"host/joe:secret@x", false, "none"},
		{"joe:a/b@host", true, "joe a/b host"},
		{"host", false, "none"},
		{":secret@host", false, " secret host"},
	} {
		got := "none"
		if a, ok := parseUserinfo(c.text, 0, len(c.text), c.lenient); ok {
			got = strings.Join([]string{c.text[a.user.start:a.user.end], c.text[a.password.start:a.password.end],
				a.host}, " ")
		}
		if got != c.want {
			t.Errorf("%s, lenient %v: got %q, want %q", c.text, c.lenient, got, c.want)
		}
	}
}

func TestIsEncryptedKey(t *testing.T) {
	for head, want := range map[string]bool{
		"ENCRYPTED PRIVATE KEY-----\nMII":                              true,
		"RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES":  true,
		"RSA PRIVATE KEY-----\nMIIEow":                                 false,
		"OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU":    false,
		"OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ng": true,
		"CERTIFICATE-----\nMIID":                                       false,
	} {
		if got := isEncryptedKey(head); got != want {
			t.Errorf("%q: got %v, want %v", head, got, want)
		}
	}
}

func TestProtocolName(t *testing.T) {
	for scheme, want := range map[string]string{"https": "https", "POSTGRES": "postgres", "mongodb+srv": "mongodb",
		"internal": "", "": ""} {
		if got := protocolName(scheme); got != want {
			t.Errorf("%q: got %q, want %q", scheme, got, want)
		}
	}
}
