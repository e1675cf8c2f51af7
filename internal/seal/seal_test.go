package seal

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSealedTextOpensOnlyInItsPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	box, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("key file: %v, %v; want mode 0600", info.Mode(), err)
	}
	again, err := Load(path)
	if err != nil || again.Fingerprint() != box.Fingerprint() {
		t.Fatalf("second load: %v, fingerprint %q; want %q", err, again.Fingerprint(), box.Fingerprint())
	}
	sealed := box.Seal([]byte("secret"), "row 1")
	if got, err := again.Open(sealed, "row 1"); err != nil || string(got) != "secret" {
		t.Fatalf("Open = %q, %v", got, err)
	}
	if _, err := box.Open(sealed, "row 2"); err == nil {
		t.Error("a sealed text opened in another place")
	}
	sealed[len(sealed)-1] ^= 1
	if _, err := box.Open(sealed, "row 1"); err == nil {
		t.Error("a damaged text opened")
	}
	if _, err := box.Open(nil, "row 1"); err == nil {
		t.Error("nothing opened")
	}
}

func TestNewRefusesShortKey(t *testing.T) {
	if _, err := New(make([]byte, 16)); err == nil {
		t.Error("a key of 16 bytes was taken")
	}
}
