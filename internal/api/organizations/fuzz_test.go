package organizations

import "testing"

// A cursor that is read was one that cursor wrote.
func FuzzParseCursor(f *testing.F) {
	for _, seed := range []string{"", encodeCursor(1), encodeCursor(1 << 62), "YQ", "YTA", "YS0x", "!"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seq, err := parseCursor(text)
		if err == nil && text != "" && seq < 1 {
			t.Errorf("%q was read as %d", text, seq)
		}
	})
}
