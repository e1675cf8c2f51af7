package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/oidc"
)

func TestConfidentialClientsComeFromAFile(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "clients.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	got, err := confidentialClients(write("- id: gateway\n  name: Gateway\n  secret: s\n  redirect-uris: " +
		"[https://g.example/cb]\n"))
	want := []oidc.Confidential{{ID: "gateway", Name: "Gateway", Secret: "s",
		RedirectURIs: []string{"https://g.example/cb"}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	if got, err := confidentialClients(write("")); err != nil || got != nil {
		t.Errorf("an empty file: %v, %v", got, err)
	}
	for name, path := range map[string]string{
		"unknown key": write("- id: x\n  sceret: y\n"), "not a list": write("id: x\n"),
		"missing": "/nowhere/clients.yaml",
	} {
		if _, err := confidentialClients(path); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: %v, want an invalid error", name, err)
		}
	}
}
