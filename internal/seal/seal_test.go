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

// TestSeveralKeys adds a key, has it seal, and drops the old one, while another box on the
// same file follows.
func TestSeveralKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	box, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	derived, first := string(box.Derive("x")), box.Fingerprint()
	var sealed [][]byte
	check := func(step string) {
		t.Helper()
		sealed = append(sealed, box.Seal([]byte(step), "l"), other.Seal([]byte(step), "l"))
		for _, b := range []*Box{box, other} {
			for i, text := range sealed {
				if _, err := b.Open(text, "l"); err != nil {
					t.Errorf("%s: text %d does not open: %v", step, i, err)
				}
				if _, err := b.Open(text, "m"); err == nil {
					t.Errorf("%s: text %d opens elsewhere", step, i)
				}
			}
			if string(b.Derive("x")) != derived {
				t.Errorf("%s: derived keys have changed", step)
			}
		}
	}
	check("one key")
	if err := box.Add(); err != nil {
		t.Fatal(err)
	}
	check("added")
	if box.Fingerprint() != first {
		t.Error("a key that was added seals")
	}
	if err := box.Promote(); err != nil {
		t.Fatal(err)
	}
	check("promoted")
	if box.Fingerprint() == first || other.Fingerprint() != box.Fingerprint() {
		t.Error("the new key does not seal")
	}
	if err := box.Drop(); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Open(sealed[0], "l"); err == nil {
		t.Error("a text of the key that was dropped opens")
	}
	if plain, err := other.Open(sealed[len(sealed)-1], "l"); err != nil || string(plain) != "promoted" {
		t.Errorf("a text of the new key: %q, %v", plain, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has %v, %v", info.Mode(), err)
	}
}

func TestNewRefusesShortKey(t *testing.T) {
	if _, err := New(make([]byte, 16)); err == nil {
		t.Error("a key of 16 bytes was taken")
	}
}
