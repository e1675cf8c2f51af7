package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 1000, 1 << 20: 1000, 64 << 20: 400, 128 << 20: 200, 256 << 20: 100, 4 << 30: 100} {
		if got := percent(live); got != want {
			t.Errorf("with %d bytes in use: got %d, want %d", live, got, want)
		}
	}
}

func TestRelax(t *testing.T) {
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	relax(func(string) string { return "77" })
	if got := debug.SetGCPercent(77); got != 77 {
		t.Errorf("the user's setting became %d", got)
	}
	relax(func(string) string { return "" })
	held := make([]byte, easyHeap)
	for end := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		runtime.GC()
		if got := debug.SetGCPercent(mostPercent); got == usualPercent {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the setting was not made for what is in use")
		}
	}
	runtime.KeepAlive(held)
}
