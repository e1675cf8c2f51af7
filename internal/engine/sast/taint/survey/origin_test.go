package survey

import (
	"testing"

	"merlon/internal/engine/sast/ir"
)

func TestSettledPlaceCovers(t *testing.T) {
	for _, c := range []struct {
		p, q Place
		want bool
	}{
		{Place{1, ""}, Place{1, ""}, true},
		{Place{1, ""}, Place{1, ".writer"}, true},
		{Place{1, ".parser"}, Place{1, ".parser.reader"}, true},
		{Place{1, ".parser"}, Place{1, ".parsers"}, false},
		{Place{1, ".parser"}, Place{1, ""}, false},
		{Place{1, ""}, Place{2, ""}, false},
		{Place{ir.NoVar, ".a.factory"}, Place{ir.NoVar, ".a.factory"}, true},
	} {
		if got := c.p.Covers(c.q); got != c.want {
			t.Errorf("%v covers %v: %v, want %v", c.p, c.q, got, c.want)
		}
	}
}
