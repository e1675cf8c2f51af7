package taint

import (
	"testing"

	"merlon/internal/engine/sast/ir"
)

func TestSettledPlaceCovers(t *testing.T) {
	for _, c := range []struct {
		p, q settledPlace
		want bool
	}{
		{settledPlace{1, ""}, settledPlace{1, ""}, true},
		{settledPlace{1, ""}, settledPlace{1, ".writer"}, true},
		{settledPlace{1, ".parser"}, settledPlace{1, ".parser.reader"}, true},
		{settledPlace{1, ".parser"}, settledPlace{1, ".parsers"}, false},
		{settledPlace{1, ".parser"}, settledPlace{1, ""}, false},
		{settledPlace{1, ""}, settledPlace{2, ""}, false},
		{settledPlace{ir.NoVar, ".a.factory"}, settledPlace{ir.NoVar, ".a.factory"}, true},
	} {
		if got := c.p.covers(c.q); got != c.want {
			t.Errorf("%v covers %v: %v, want %v", c.p, c.q, got, c.want)
		}
	}
}
