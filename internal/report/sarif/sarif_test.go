package sarif

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

var update = flag.Bool("update", false, "rewrite the expected reports")

// write returns the report of a recorded scan.
func write(t *testing.T, stream string) []byte {
	t.Helper()
	var b bytes.Buffer
	r := New(&b)
	if err := scan.Decode(strings.NewReader(stream), r); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func schema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	b, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A recorded scan gives the expected document, and the document is valid
// against the standard's schema.
func TestReport(t *testing.T) {
	s := schema(t)
	for _, name := range []string{"full", "empty"} {
		t.Run(name, func(t *testing.T) {
			stream, err := os.ReadFile("../testdata/" + name + ".ndjson")
			if err != nil {
				t.Fatal(err)
			}
			got := write(t, string(stream))
			golden := "testdata/" + name + ".sarif"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("run with -update after checking (-want +got):\n%s", diff)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(doc); err != nil {
				t.Errorf("not valid: %#v", err)
			}
		})
	}
}

// The schema is not one that takes anything.
func TestSchemaRefuses(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"x"},"level":"bad"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if schema(t).Validate(doc) == nil {
		t.Error("a wrong level is valid")
	}
}

func TestAddresses(t *testing.T) {
	for path, want := range map[string]string{"a/b.go": "a/b.go", "ä b%.py": "%C3%A4%20b%25.py", "a:b": "./a:b",
		"x?y#z": "x%3Fy%23z"} {
		if got := artifactURI(path).URI; got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
	for link, want := range map[string]string{"https://x.example/a b": "https://x.example/a%20b",
		"javascript:alert(1)": "", "x": "", "": ""} {
		if got := absoluteURL(link); got != want {
			t.Errorf("link %q is %q, want %q", link, got, want)
		}
	}
}

// Code hosts sort by this number; it must fall into the band of the severity.
func TestSecuritySeverity(t *testing.T) {
	for severity, want := range map[finding.Severity]string{finding.Critical: "9.5", finding.High: "8.0",
		finding.Medium: "5.5", finding.Low: "3.0"} {
		if got := securitySeverity(&finding.Rule{Severity: severity}); got != want {
			t.Errorf("%s: got %s, want %s", severity, got, want)
		}
	}
	if got := securitySeverity(&finding.Rule{Severity: finding.Low,
		Advisory: &finding.Advisory{CVSS: 9.8}}); got != "9.8" {
		t.Errorf("with a CVSS score: got %s, want 9.8", got)
	}
}

func TestRefusals(t *testing.T) {
	r := New(&bytes.Buffer{})
	if err := r.Close(); err == nil {
		t.Error("a report of no scan is written")
	}
	if err := r.Config(&scan.Config{Tool: "merlon"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Finding(&finding.Finding{RuleID: "x"}); err == nil {
		t.Error("a finding without its rule is written")
	}
}

// Whatever a stream holds, the report is valid.
func FuzzReport(f *testing.F) {
	for _, name := range []string{"full", "empty"} {
		b, err := os.ReadFile("../testdata/" + name + ".ndjson")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	s := schema(f)
	f.Fuzz(func(t *testing.T, stream string) {
		var b bytes.Buffer
		r := New(&b)
		if scan.Decode(strings.NewReader(stream), r) != nil || r.Close() != nil {
			return
		}
		doc, err := jsonschema.UnmarshalJSON(&b)
		if err != nil {
			t.Fatalf("not JSON: %v", err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("not valid: %#v", err)
		}
	})
}
