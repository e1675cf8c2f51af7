package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// This file lets the garbage collector rest while there is little to collect. A scan
// is short and allocates much: collecting whenever a small heap has doubled costs it a
// quarter of its time.

// easyHeap is how much garbage there may be before it is collected, in bytes, however
// little else there is. Beyond it the heap may double, as is usual.
const easyHeap = 256 << 20

// Bounds of the setting, in percent of what is in use.
const (
	usualPercent = 100
	mostPercent  = 1000
)

// relax lets the collector rest, unless the user has set it. A limit of the memory
// (GOMEMLIMIT) counts as before.
func relax(getenv func(string) string) {
	if getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(percent(0))
	rearm()
}

// rearm has the setting made anew after each collection, for what is then in use.
func rearm() {
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Kind() != metrics.KindUint64 {
			return // the metric is gone: the setting stays
		}
		debug.SetGCPercent(percent(live[0].Value.Uint64()))
		rearm()
	})
}

// sentinel is garbage whose end tells that there was a collection. It is large enough
// not to share its memory with other small objects.
type sentinel struct{ _ [64]byte }

// percent returns the setting for what is in use.
func percent(live uint64) int {
	if live == 0 {
		return mostPercent
	}
	return int(min(max(easyHeap*100/live, usualPercent), mostPercent))
}
