package lang

import "testing"

func TestUnescape(t *testing.T) {
	e := &Escapes{Letters: map[byte]string{'n': "\n", '\\': "\\"}, Digits: map[byte][2]int{'u': {4, 4}, 'x': {1, 4},
		'U': {8, 8}}}
	tests := map[string]string{
		``: ``, `a`: `a`, `a\n\\n`: "a\n\\n", `\q\`: `\q\`, `\u0041\u00`: `A\u00`, `\x4g`: "\x04g", `\xg`: `\xg`,
		`\U0001F600`: "😀", `\ud83d\ude00`: "😀", `\ud83d`: "\ufffd", `\UFFFFFFFF`: `\UFFFFFFFF`,
	}
	for text, want := range tests {
		if got := e.Unescape(text); got != want {
			t.Errorf("Unescape(%q) = %q, want %q", text, got, want)
		}
	}
}
