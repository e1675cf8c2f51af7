package scheduler

import (
	"testing"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/summary"
)

func TestTurns(t *testing.T) {
	first, second := &ir.Function{}, &ir.Function{}
	turns := newSchedule([][]*ir.Function{{first}, {second}})
	for i, c := range []struct {
		fn   *ir.Function
		ctx  summary.Facts
		want int
	}{
		{first, nil, 0}, {second, nil, 1}, {&ir.Function{}, nil, 2},
		{first, summary.Facts{{Function: second}}, 1}, {second, summary.Facts{{Function: first}}, 1},
		{first, summary.Facts{{Function: &ir.Function{}}}, 2},
	} {
		if got := turns.turnOf(c.fn, c.ctx); got != c.want {
			t.Errorf("case %d: turn %d, want %d", i, got, c.want)
		}
	}
	waited := make(chan bool)
	go func() { turns.waitTurn(0); close(waited) }()
	select {
	case <-waited:
		t.Fatal("a worker does not wait for functions that another has taken")
	default:
	}
	turns.endTurn(0)
	<-waited
	turns.waitTurn(0) // it was done before
}
