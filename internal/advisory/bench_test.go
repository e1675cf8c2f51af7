package advisory

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// BenchmarkMatch looks packages up as an inventory does: half of them are in no
// record, four in ten have records and are above what these affect, one in ten
// is old. MERLON_BENCH_ADVISORIES names a data file to use instead of the one that
// is made, in which every package has three records.
func BenchmarkMatch(b *testing.B) {
	path := os.Getenv("MERLON_BENCH_ADVISORIES")
	if path == "" {
		path = benchFile(b, 20_000)
	}
	f, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }() // read only
	var questions [][3]string
	for i := range 20_000 {
		blk, err := f.readBlock(i * len(f.places) / 20_000)
		if err != nil {
			b.Fatal(err)
		}
		name, version := blk.key.name, "999999.0.0"
		switch {
		case i%2 == 0:
			name += "-absent"
		case i%10 == 1:
			version = "1.0.1"
		}
		questions = append(questions, [3]string{blk.list[0].ecosystem, name, version})
	}
	for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) { benchMatch(b, f, questions, workers) })
	}
}

// benchMatch asks b.N questions, shared by the workers.
func benchMatch(b *testing.B, f *File, questions [][3]string, workers int) {
	var asked, hits atomic.Int64
	began := cpuTime(b)
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := asked.Add(1); i <= int64(b.N); i = asked.Add(1) {
				q := questions[i%int64(len(questions))]
				if found, err := f.Match(b.Context(), q[0], q[1], q[2]); err == nil && len(found) > 0 {
					hits.Add(1)
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lookups/s")
	b.ReportMetric(float64(b.N)/(cpuTime(b)-began).Seconds(), "lookups/cpu-s")
	b.ReportMetric(100*float64(hits.Load())/float64(b.N), "%affected")
}

// cpuTime is what the process has used, which unlike the clock does not depend on
// what else the machine does.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchFile builds a data file of n records.
func benchFile(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	for i := range n {
		id := fmt.Sprintf("X-%d", i)
		text := one(id, "npm", fmt.Sprintf("package-%d", i/3),
			fmt.Sprintf(`"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":"1.%d.0"},{"introduced":"2.0.0"},{"fixed":"2.1.%d"}]}]`, 1+i%3, i%7))
		if err := os.WriteFile(filepath.Join(dir, id+".json"), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	out := filepath.Join(b.TempDir(), "file")
	if _, err := Build(b.Context(), BuildOptions{Sources: []string{dir}, Output: out}); err != nil {
		b.Fatal(err)
	}
	return out
}
