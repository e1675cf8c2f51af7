package syncmap_test

import (
	"sync"
	"testing"

	"merlon/internal/engine/sast/taint/syncmap"
)

// All who ask for a key get one value, whoever came first.
func TestMapKeepsTheFirstValue(t *testing.T) {
	var m syncmap.Map[string, *int]
	if v, ok := m.Load("a"); ok || v != nil {
		t.Fatalf("an empty map has %v", v)
	}
	got := make([]*int, 8)
	var wait sync.WaitGroup
	for i := range got {
		wait.Go(func() { got[i], _ = m.LoadOrStore("a", new(int)) })
	}
	wait.Wait()
	kept, ok := m.Load("a")
	if !ok {
		t.Fatal("nothing was kept")
	}
	for i, p := range got {
		if p != kept {
			t.Errorf("goroutine %d has another value", i)
		}
	}
	n := 0
	m.Range(func(key string, v *int) bool {
		n++
		return key == "a" && v == kept
	})
	if n != 1 {
		t.Errorf("%d entries", n)
	}
}

// A nil slice is a value like any other.
func TestMapHoldsNil(t *testing.T) {
	var m syncmap.Map[int, []string]
	if _, had := m.LoadOrStore(1, nil); had {
		t.Error("the map had a value before")
	}
	if v, ok := m.Load(1); !ok || v != nil {
		t.Errorf("%v, %v", v, ok)
	}
}
