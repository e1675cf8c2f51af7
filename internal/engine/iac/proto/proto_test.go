package proto

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
	"merlon/internal/errs"
)

const text = `syntax = "proto3"; // version
/* a
   comment */
package a.b;
import public "x/y.proto";
option go_package = "z";
option (custom) = { a: 1 b { c: 2 } };
message Search {
  repeated string query = 1 [deprecated = true, (x).y = "];"];
  map<string, int32> counts = 2;
  reserved 4, 8 to 10;
  option deprecated = true;
  oneof choice { bool a = 5; A.B b = 6; }
  enum Corpus {
    NONE = 0;
    WEB = -1 [deprecated = true];
  }
  message Inner { optional int32 n = 0x7; }
  extensions 100 to 199;
}
enum top_level { ZERO = 0; option allow_alias = true; }
service Finder {
  rpc Find (Search) returns (stream Answer) { option (google.api.http) = { get: "/v1" }; }
  rpc Stop (stream Search) returns (a.b.Answer);
}
`

func TestDecode(t *testing.T) {
	d, err := Decode("a.proto", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	field := func(kind string, n int64) map[string]any { return map[string]any{"type": kind, "sequence": n} }
	want := map[string]any{
		"syntax": "proto3", "package": "a.b",
		"imports": map[string]any{"x/y.proto": map[string]any{"kind": "public"}},
		"options": []any{map[string]any{"name": "go_package", "value": "z"}, map[string]any{"name": "(", "value": "="}},
		"messages": map[string]any{"Search": map[string]any{
			"field": map[string]any{"query": map[string]any{"type": "string", "sequence": int64(1),
				"repeated": true}},
			"map": map[string]any{"counts": field("map<string,int32>", 2)},
			"oneof": map[string]any{"choice": map[string]any{"field": map[string]any{"a": field("bool", 5),
				"b": field("A.B", 6)}}},
			"enum":          map[string]any{"Corpus": map[string]any{"field": map[string]any{"NONE": map[string]any{"value": int64(0)}, "WEB": map[string]any{"value": int64(-1)}}}},
			"inner_message": map[string]any{"Inner": map[string]any{"field": map[string]any{"n": map[string]any{"type": "int32", "sequence": int64(7), "optional": true}}}},
		}},
		"enum": map[string]any{"top_level": map[string]any{"field": map[string]any{"ZERO": map[string]any{"value": int64(0)}}}},
		"services": map[string]any{"Finder": map[string]any{"rpc": map[string]any{
			"Find": map[string]any{"requestType": "Search", "returnsType": "Answer", "streamsRequest": false,
				"streamsReturns": true},
			"Stop": map[string]any{"requestType": "Search", "returnsType": "a.b.Answer", "streamsRequest": true,
				"streamsReturns": false},
		}}},
	}
	if diff := cmp.Diff(want, d.Root); diff != "" {
		t.Errorf("definitions (-want +got):\n%s", diff)
	}
	for path, line := range map[string]int{
		"messages Search": 8, "messages Search enum Corpus field WEB": 16, "enum top_level": 21,
		"services Finder rpc Stop": 24, "package": 4,
	} {
		steps := strings.Fields(path)
		if n, found := d.Lines.Find(steps...); n.Line != line || found != len(steps) {
			t.Errorf("%s at line %d after %d steps, want line %d", path, n.Line, found, line)
		}
	}
}

func TestErrors(t *testing.T) {
	for text, line := range map[string]int{
		"\nmessage A {\n": 3, "message A { string a = 1 }\n}": 2, "/* x": 1, "\n\"x": 2, "enum A { B = x; }": 1,
		"service A {": 1, "message": 1,
	} {
		_, err := Decode("a.proto", []byte(text))
		var m *document.Malformed
		if !errors.As(err, &m) || m.Line != line {
			t.Errorf("%q: error %v, want one at line %d", text, err, line)
		}
	}
	for _, text := range []string{strings.Repeat("message a {", 1000), strings.Repeat(" ", MaxSize+1)} {
		if _, err := Decode("a.proto", []byte(text)); errs.KindOf(err) != errs.TooLarge {
			t.Errorf("error %v, want too large", err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(text)
	f.Add("message a { group B = 1 { } }")
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := Decode("a.proto", []byte(text)); err == nil &&
			(d.Root["messages"] == nil || d.Lines.Fields["enum"] == nil) {
			t.Fatalf("document %v", d.Root)
		}
	})
}
