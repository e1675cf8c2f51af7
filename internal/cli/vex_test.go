package cli

import (
	"os"
	"strings"
	"testing"
)

// What statements clear stays in the report and does not fail the pipeline.
func TestStatements(t *testing.T) {
	plant(t)
	for name, text := range map[string]string{
		"shop/package-lock.json": `{"name":"shop","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"shop","version":"1.0.0",
			"dependencies":{"left-pad":"1.3.0"}},"node_modules/left-pad":{"version":"1.3.0"}}}`,
		"osv/GHSA-aaaa-bbbb-cccc.json": `{"schema_version":"1.6.0","id":"GHSA-aaaa-bbbb-cccc","aliases":["CVE-2026-1"],"modified":"2026-01-01T00:00:00Z",
			"summary":"pads badly","severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}],
			"affected":[{"package":{"ecosystem":"npm","name":"left-pad"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}]}]}`,
		"clear.json":   statementOf("not_affected", "pkg:npm/left-pad@1.3.0"),
		"version.json": statementOf("not_affected", "pkg:npm/left-pad@1.2.0"),
		"hurt.json":    statementOf("affected", "pkg:npm/left-pad"),
		"none.json":    `{}`,
	} {
		folder, _, inside := strings.Cut(name, "/")
		if inside {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	scan := []string{"scan", "shop", "--analyses", "sca", "--advisories", "osv"}
	for _, tt := range []struct {
		options string
		exit    int
		says    string // of the output
	}{
		{"", ExitFindings, "left-pad 1.3.0"},
		{"--vex clear.json", ExitOK, "left-pad 1.3.0 (package-lock.json:2, direct): VEX: not affected CVE-2026-1 " +
			"(clear.json)"},
		{"--vex version.json", ExitFindings, "left-pad 1.3.0"},
		{"--vex hurt.json", ExitFindings, "VEX: affected CVE-2026-1 (hurt.json)"},
		{"--vex clear.json --format openvex", ExitOK, `"status": "not_affected"`},
		{"--format openvex", ExitFindings, `"status": "under_investigation"`},
		{"--vex clear.json --format sarif", ExitOK, `"suppressions":[{"kind":"external"`},
		{"--vex clear.json --format json", ExitOK, `"vex":`},
	} {
		code, out, errOut := transcript(t, nil, append(scan, strings.Fields(tt.options)...)...)
		if code != tt.exit || !strings.Contains(out, tt.says) {
			t.Errorf("%s: exit %d, want %d, and %q in\n%s%s", tt.options, code, tt.exit, tt.says, out, errOut)
		}
	}
	for _, options := range []string{"--vex none.json", "--vex missing.json"} {
		if code, _, errOut := transcript(t, nil, append(scan, strings.Fields(options)...)...); code != ExitUsage ||
			!strings.Contains(errOut, ".json") {
			t.Errorf("%s: exit %d: %s", options, code, errOut)
		}
	}
}

// statementOf returns a document with one statement.
func statementOf(status, product string) string {
	return `{"@context":"https://openvex.dev/ns/v0.2.0","@id":"x","author":"J","timestamp":"2026-01-01T00:00:00Z","version":1,"statements":[
		{"vulnerability":{"name":"CVE-2026-1"},"products":[{"@id":"` + product + `"}],"status":"` + status + `"}]}`
}
