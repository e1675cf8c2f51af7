package proto

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// valueAt decodes a text and returns what is at a path of names.
func valueAt(t *testing.T, text string, steps ...string) any {
	t.Helper()
	d, err := Decode("a.proto", []byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var at any = d.Root
	for _, step := range steps {
		m, _ := at.(map[string]any)
		at = m[step]
	}
	return at
}

// TestForms reads each statement in the forms that the languages of the versions have.
func TestForms(t *testing.T) {
	field := func(kind string, n int64, label ...string) map[string]any {
		m := map[string]any{"type": kind, "sequence": n}
		for _, l := range label {
			m[l] = true
		}
		return m
	}
	for _, c := range []struct {
		text, path string
		want       any
	}{
		{"syntax = 'proto2';", "syntax", "proto2"},
		{"edition = \"2023\";", "syntax", ""},
		{"package a;", "package", "a"},
		{"import 'a.proto'; import weak 'b.proto'; import public \"c.proto\";", "imports",
			map[string]any{"a.proto": map[string]any{"kind": ""}, "b.proto": map[string]any{"kind": "weak"},
				"c.proto": map[string]any{"kind": "public"}}},
		{"option java_package = \"x\"; option optimize_for = SPEED;", "options",
			[]any{map[string]any{"name": "java_package", "value": "x"},
				map[string]any{"name": "optimize_for", "value": "SPEED"}}},
		{"message A { required string a = 1; }", "messages A field a", field("string", 1, "required")},
		{"message A { optional .x.B b = 0xF; }", "messages A field b", field(".x.B", 15, "optional")},
		{"message A { repeated int64 c = 010; }", "messages A field c", field("int64", 8, "repeated")},
		{"message A { string d = 1 [json_name = \"e\"]; }", "messages A field d", field("string", 1)},
		{"message A { string d=1; }", "messages A field d", field("string", 1)},
		{"message A { map < string , B > m = 3; }", "messages A map m", field("map<string,B>", 3)},
		{"message A { message B { message C { bool x = 1; } } }", "messages A inner_message B inner_message C field x",
			field("bool", 1)},
		{"message A { oneof b { string c = 1; } }", "messages A oneof b field c", field("string", 1)},
		{"message A { enum B { C = 0; } }", "messages A enum B field C", map[string]any{"value": int64(0)}},
		{"message A { reserved 1, 2; reserved \"a\"; extensions 4; }", "messages A", map[string]any{}},
		{"message A { option (x) = {a: {b: 1}}; string c = 1; }", "messages A field c", field("string", 1)},
		{"message A {;}", "messages A", map[string]any{}},
		{"extend A { string b = 1; }", "messages", map[string]any{}},
		{"enum A { B = -2; C = 0x10; option allow_alias = true; reserved 3; }", "enum A field",
			map[string]any{"B": map[string]any{"value": int64(-2)}, "C": map[string]any{"value": int64(16)}}},
		{"service A { option x = 1; rpc B (stream x.C) returns (stream D) {} }", "services A rpc B",
			map[string]any{"requestType": "x.C", "streamsRequest": true, "returnsType": "D", "streamsReturns": true}},
		{"service A { rpc B(C)returns(D); }", "services A rpc B",
			map[string]any{"requestType": "C", "streamsRequest": false, "returnsType": "D", "streamsReturns": false}},
		{"// a { b\n/* message X { */ message A { /* c */ }", "messages", map[string]any{"A": map[string]any{}}},
		{"message A { string a = 1 [default = \"a;b}\\\"\"]; bool b = 2; }", "messages A field b", field("bool", 2)},
		{"", "messages", map[string]any{}},
	} {
		if diff := cmp.Diff(c.want, valueAt(t, c.text, strings.Fields(c.path)...)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", c.text, c.path, diff)
		}
	}
}

// TestMalformed names the line of what is not a definition.
func TestMalformed(t *testing.T) {
	for text, want := range map[string]string{
		"message A { option x = {": "a block does not end", "\"a": "a string does not end",
		"syntax = 'a\n';": "a string does not end on its line", "/*": "a comment does not end",
		"message A { [": "a statement does not end", "}": "a bracket too many",
		"enum A {":            "an enumeration does not end",
		"enum A { B = 1.5; }": "the value of B is no number", "service A { rpc B (C)": "a statement does not end",
		"message A { message B {": "a message does not end", "other {": "a block does not end",
	} {
		if _, err := Decode("a.proto", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
