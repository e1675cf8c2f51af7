package scan_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// What is written is read back as it was, through any handler.
func TestStreamRoundTrip(t *testing.T) {
	dir := write(t, map[string]string{"a.txt": "TODO <&> \u2028", "b.txt": "TODO"})
	var first bytes.Buffer
	if err := scan.Run(context.Background(), scan.Options{Root: dir, Analyzers: []*scan.Analyzer{todo}},
		scan.Encode(&first)); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := scan.Decode(bytes.NewReader(first.Bytes()), scan.Encode(&again)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.String(), again.String()); diff != "" {
		t.Errorf("(-first +again):\n%s", diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	config := `{"config":{"tool":"merlon","analyzers":["a/b"]}}` + "\n"
	status := `{"status":{"analyzer":"a/b","state":"succeeded"}}` + "\n"
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", scan.ErrIncomplete.Error()},
		{"no status", config, scan.ErrIncomplete.Error()},
		{"cut in half", config + status[:20], "message 2: unexpected end of JSON input"},
		{"no config", status, "message 1: the first message is not config"},
		{"two configs", config + config, "message 2: a second config"},
		{"two statuses", config + status + status, `message 3: status of "a/b", which is not open`},
		{"unknown kind", config + `{"x":{}}`, "message 2: a message has exactly one known member"},
		{"two kinds", config + `{"progress":{},"finding":{}}`, "message 2: a message has exactly one known member"},
		{"not an object", config + `[]`, "message 2: json:"},
		{"too long", config + `{"progress":{"step":"` + strings.Repeat("x", scan.MaxMessage) + `"}}`, "token too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := scan.Decode(strings.NewReader(c.in), &scan.Summary{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if err := scan.Decode(strings.NewReader(config+status), &scan.Summary{}); err != nil {
		t.Errorf("a whole stream: %v", err)
	}
}

func TestEncodeRefusesWhatNobodyReads(t *testing.T) {
	var b bytes.Buffer
	err := scan.Encode(&b).Rule(&finding.Rule{Description: strings.Repeat("x", scan.MaxMessage)})
	if err == nil || b.Len() != 0 {
		t.Errorf("got %v and %d bytes, want an error and none", err, b.Len())
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"config":{"tool":"merlon","analyzers":["a/b"],"started":"2026-01-02T03:04:05Z"}}` + "\n" +
		`{"rule":{"id":"a/b/c"}}` + "\n" + `{"finding":{"ruleId":"a/b/c","location":{"path":"x","startLine":1}}}` +
		"\n" +
		`{"status":{"analyzer":"a/b","state":"degraded","reasons":[{"code":"timeout"}]}}` + "\n"))
	f.Add([]byte(`{"config":null}`))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		err := scan.Decode(bytes.NewReader(in), scan.Encode(&out))
		if err != nil {
			return
		}
		// A stream that is whole stays so when it is written again.
		if err := scan.Decode(&out, &scan.Summary{}); err != nil && !errors.Is(err, scan.ErrIncomplete) {
			t.Errorf("what was written cannot be read: %v", err)
		}
	})
}
