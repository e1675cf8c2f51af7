package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/config"
	"merlon/internal/errs"
)

// A password that the operator has chosen is read from a file and printed nowhere.
func TestBootstrapPasswordFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "password")
	for format, chosen := range map[string]string{"table": "four rusty trombones", "json": "seven muddy harmonicas"} {
		if err := os.WriteFile(file, []byte(chosen+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c := bootstrapCommand{Store: config.Store{Data: filepath.Join(dir, format), Region: "test"},
			Email:        "ada@example.org",
			Organization: "Org", Team: "Team", Project: "Project", PasswordFile: file, Format: format}
		if err := c.Run(t.Context(), Host{Stdout: &out}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), chosen) || !strings.Contains(out.String(), "mrl_pat_") {
			t.Errorf("%s: printed %s", format, out.String())
		}
	}
	if err := os.WriteFile(file, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (bootstrapCommand{PasswordFile: file}).Run(t.Context(), Host{}); !errs.Is(err, errs.Invalid) {
		t.Errorf("an empty file: %v, want an invalid error", err)
	}
}
