package entropy

import "testing"

func TestSecret(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                  false,
		"password":                          false,
		"this is a long sentence of words":  false,
		"theInternationalizationOfServices": false,
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx":  false,
		"key_abababababababababababababababababab": false,
		"0123456789":                       false,
		"short7Q":                          false,
		"9f86d081884c7d659a2feaa0c55ad015": true,
		"q8Zt2LmX9vRw4KpJ7nYb":             true,
		"wJalrXUtnFEMIzK7MDENGbPxRfiCYzzK": true,
	} {
		if got := Secret(text, "default"); got != want {
			t.Errorf("%q: %v, want %v (%.0f bits of %d)", text, got, want, Bits(text), 8*len(text))
		}
	}
}

// Each mode asks for more than the one before.
func TestModes(t *testing.T) {
	for text, want := range map[string][3]bool{
		"q8Zt2LmX":             {true, false, false},
		"q8Zt2LmX9vRw4":        {true, true, false},
		"q8Zt2LmX9vRw4KpJ7nYb": {true, true, true},
		"password":             {false, false, false},
	} {
		got := [3]bool{Secret(text, "lax"), Secret(text, ""), Secret(text, "strict")}
		if got != want {
			t.Errorf("%q: %v, want %v (%.0f bits)", text, got, want, Bits(text))
		}
	}
}

func TestBits(t *testing.T) {
	if the, zqx := Bits("THE"), Bits("zqx"); the >= zqx || Bits("the") != the {
		t.Errorf("the %v, zqx %v", the, zqx)
	}
	if got := Bits("é€\x00"); got < 5 {
		t.Errorf("bytes that are no letters have %v bits", got)
	}
	if len(trigrams) != groups+letters {
		t.Errorf("the table has %d entries", len(trigrams))
	}
}
