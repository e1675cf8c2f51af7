package endpoint

import "testing"

func TestHasNUL(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":"b"}`: false, `"\u0000"`: true, `"\\u0000"`: false, `"\\\u0000"`: true, `"\\u0000 \u0000"`: true,
		`"\u0001"`: false, `\u0000`: true,
	} {
		if got := hasNUL([]byte(text)); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
