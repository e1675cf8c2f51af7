package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
	"testing/fstest"
	"time"
)

func TestPercent(t *testing.T) {
	const none, small, large = 0, 6 << 30, 48 << 30
	for _, c := range []struct {
		live, memory uint64
		want         int
	}{
		{0, none, 3000}, {1 << 20, none, 1000}, {64 << 20, none, 700}, {128 << 20, none, 300}, {256 << 20, none, 100},
		{4 << 30, none, 100},
		{128 << 20, small, 300}, {256 << 20, small, 100}, {400 << 20, small, 100}, {1 << 30, small, 100},
		{64 << 20, large, 700}, {512 << 20, large, 600}, {1 << 30, large, 400}, {2 << 30, large, 200},
		{3 << 30, large, 133}, {8 << 30, large, 100},
	} {
		if got := collectorPercent(c.live, c.memory); got != c.want {
			t.Errorf("with %d bytes in use of %d: got %d, want %d", c.live, c.memory, got, c.want)
		}
	}
}

func TestMemory(t *testing.T) {
	const info, v2, v1 = "proc/meminfo", "sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  uint64
	}{
		{"unknown", nil, 0},
		{"machine", map[string]string{info: "MemFree:  10 kB\nMemTotal:       2048 kB\nMemAvailable:  5 kB\n"},
			2 << 20},
		{"no limit", map[string]string{info: "MemTotal: 2048 kB\n", v2: "max\n"}, 2 << 20},
		{"container", map[string]string{info: "MemTotal: 2048 kB\n", v2: "1048576\n"}, 1 << 20},
		{"older container", map[string]string{info: "MemTotal: 2048 kB\n", v1: "4096\n"}, 4096},
		{"older, no limit", map[string]string{info: "MemTotal: 2048 kB\n", v1: "9223372036854771712\n"}, 2 << 20},
		{"damaged", map[string]string{info: "MemTotal: -1 kB\nMemTotal\n", v2: ""}, 0},
	} {
		system := fstest.MapFS{}
		for name, text := range c.files {
			system[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := availableMemory(system); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestRelax(t *testing.T) {
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	relaxCollector(func(string) string { return "77" })
	if got := debug.SetGCPercent(77); got != 77 {
		t.Errorf("the user's setting became %d", got)
	}
	relaxCollector(func(string) string { return "" })
	held := make([]byte, easyTotal/2)
	for end := time.Now().Add(time.Minute); ; runtime.Gosched() {
		runtime.GC()
		if got := debug.SetGCPercent(mostPercent); got < mostPercent {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the setting was not made for what is in use")
		}
	}
	runtime.KeepAlive(held)
}
