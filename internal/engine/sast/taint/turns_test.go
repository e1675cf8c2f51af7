package taint

import (
	"testing"

	"merlon/internal/engine/sast/ir"
)

func TestTurns(t *testing.T) {
	first, second := &ir.Function{}, &ir.Function{}
	turns := newTurns([][]*ir.Function{{first}, {second}})
	for _, fn := range []*ir.Function{first, second, {}} {
		if turns.wait(fn, 0) {
			t.Error("the first worker waits: nobody has taken what it asks for before it")
		}
	}
	waited := make(chan bool)
	go func() { waited <- turns.wait(first, 1) }()
	select {
	case <-waited:
		t.Fatal("a worker does not wait for functions that another has taken")
	default:
	}
	turns.end(0)
	if !<-waited {
		t.Error("what another worker has done is not there")
	}
	if !turns.wait(first, 1) {
		t.Error("what was done before is not there")
	}
}
