package cli

import (
	"io/fs"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

// This file lets the garbage collector rest while there is little to collect. A scan
// is short and allocates much, most of which it keeps to its end: collecting whenever a
// small heap has doubled costs it a quarter of its time, and one of a million lines an
// eighth of it.

// easyTotal is how much memory a scan may take, in bytes, that has less than half of it
// in use; one that has more, up to this, is collected as usual.
const easyTotal = 512 << 20

// easyPart is the part of the machine's memory that garbage may be in a larger scan.
// A twelfth leaves room for several scans at once on one machine.
const easyPart = 12

// Bounds of the setting, in percent of what is in use: as is usual, with much in use
// where the machine has the memory, and with next to nothing.
const (
	usualPercent = 100
	easyPercent  = 600
	mostPercent  = 1000

	// firstPercent is the setting before the first collection, of the four megabytes that
	// the runtime counts as in use then: small scans end before there is one.
	// The runtime treats the heap as at least 4 MiB: 30 times that is the first collection.
	firstPercent = 3000
)

// relaxCollector lets the collector rest, unless the user has set it. A limit of the memory
// (GOMEMLIMIT) counts as before.
func relaxCollector(getenv func(string) string) {
	// GOGC is the runtime's own setting: whoever sets it has measured something else.
	if getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(collectorPercent(0, 0))
	rearmCollector(availableMemory(os.DirFS("/")))
}

// rearmCollector has the setting made anew after each collection, for what is then in use, on a
// machine with so much memory.
func rearmCollector(memory uint64) {
	// A finalizer runs after the collection that finds its object unreachable, so it is called
	// once for each collection. The setting cannot be computed before, since it depends on the
	// live heap.
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Kind() != metrics.KindUint64 {
			return // the metric is gone: the setting stays
		}
		debug.SetGCPercent(collectorPercent(live[0].Value.Uint64(), memory))
		// A finalizer runs once; the next collection needs a new object.
		rearmCollector(memory)
	})
}

// sentinel is garbage whose end tells that there was a collection. It is large enough
// not to share its memory with other small objects.
type sentinel struct{ _ [64]byte }

// collectorPercent returns the setting for what is in use, on a machine with so much memory.
func collectorPercent(live, memory uint64) int {
	// 0 live bytes is the time before the first collection.
	if live == 0 {
		return firstPercent
	}
	if live < easyTotal {
		// The percentage at which live bytes plus garbage reach easyTotal.
		return int(min(max((easyTotal-live)*100/live, usualPercent), mostPercent))
	}
	return int(max(min(memory/easyPart*100/live, easyPercent), usualPercent))
}

// availableMemory returns how much memory there is for the process, in bytes, as the files of
// the system say: that of the machine (proc(5)), or of the container (cgroups(7), both
// versions). It is 0 where nothing says so.
func availableMemory(system fs.FS) uint64 {
	// The least of all limits counts: a container sees the memory of the machine in
	// /proc/meminfo.
	least := uint64(math.MaxUint64)
	note := func(text, unit string) {
		// 50 bits, so that kB can be multiplied by 1024 without overflow; cgroup version 1 writes
		// a number near 2^63 for "no limit", which is refused here.
		n, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(text, unit)), 10, 50)
		if err != nil {
			return // "max", or what this file does not know
		}
		if unit != "" {
			n <<= 10
		}
		least = min(least, n)
	}
	// The first is cgroup version 2, the second version 1.
	for _, name := range []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if b, err := fs.ReadFile(system, name); err == nil {
			note(strings.TrimSpace(string(b)), "")
		}
	}
	if b, err := fs.ReadFile(system, "proc/meminfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if total, ok := strings.CutPrefix(line, "MemTotal:"); ok {
				note(strings.TrimSpace(total), "kB")
			}
		}
	}
	if least == math.MaxUint64 {
		return 0
	}
	return least
}

// tightenCollector lets the garbage be a fifth of what is in use: the layers of an image pass
// by and leave little behind, so that collecting it costs next to nothing.
func tightenCollector(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(20)
	}
}
