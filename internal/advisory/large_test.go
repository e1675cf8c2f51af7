package advisory

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkImport imports 800,000 records: those of MERLON_BENCH_RECORDS, a
// folder of <Ecosystem>/all.zip, multiplied by copies under other names.
// MERLON_BENCH_ADVISORIES names where the data file goes, for BenchmarkMatch.
//
//	MERLON_BENCH_RECORDS=DIR MERLON_BENCH_ADVISORIES=FILE go test -bench Import -benchtime 1x ./internal/advisory
func BenchmarkImport(b *testing.B) {
	records := os.Getenv("MERLON_BENCH_RECORDS")
	if records == "" {
		b.Skip("MERLON_BENCH_RECORDS names no records")
	}
	dir := filepath.Join(os.TempDir(), "merlon-bench-records")
	if _, err := os.Stat(dir); err != nil {
		if err := multiply(records, dir, 800_000); err != nil {
			b.Fatal(err)
		}
	}
	out := os.Getenv("MERLON_BENCH_ADVISORIES")
	if out == "" {
		out = filepath.Join(b.TempDir(), "file")
	}
	began := cpuTime(b)
	b.ResetTimer()
	for range b.N {
		report, err := Build(b.Context(), BuildOptions{Sources: []string{dir}, Output: out})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(report.Records), "records")
		b.ReportMetric(float64(report.Size>>20), "MiB-file")
	}
	b.ReportMetric((cpuTime(b)-began).Seconds()/float64(b.N), "cpu-s/op")
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(u.Maxrss>>10), "MiB-peak")
}

// multiply writes copies of the records until there are n, a zip for each
// ecosystem.
func multiply(from, to string, n int) error {
	zips, err := filepath.Glob(filepath.Join(from, "*", "all.zip"))
	if err != nil || len(zips) == 0 {
		return fmt.Errorf("%s holds no <Ecosystem>/all.zip: %w", from, err)
	}
	total := 0
	for _, path := range zips {
		z, err := zip.OpenReader(path)
		if err != nil {
			return err
		}
		total += len(z.File)
		_ = z.Close()
	}
	for _, path := range zips {
		if err := multiplyZip(path, filepath.Join(to, filepath.Base(filepath.Dir(path))),
			(n+total-1)/total); err != nil {
			return err
		}
	}
	return nil
}

func multiplyZip(from, to string, times int) error {
	z, err := zip.OpenReader(from)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }()
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(to, "all.zip"))
	if err != nil {
		return err
	}
	w := zip.NewWriter(f)
	for _, file := range z.File {
		r, err := file.Open()
		if err != nil {
			return err
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		var record map[string]any
		if json.Unmarshal(text, &record) != nil {
			continue
		}
		for i := range times {
			if err := writeCopy(w, record, i); err != nil {
				return err
			}
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}

// writeCopy writes the i-th copy of a record: its names and packages get a number.
func writeCopy(w *zip.Writer, record map[string]any, i int) error {
	out := map[string]any{}
	for k, v := range record {
		out[k] = v
	}
	rename := func(v any) any { return fmt.Sprintf("%v%d", v, i+1000) }
	if i > 0 {
		out["id"] = rename(record["id"])
		for _, key := range []string{"aliases", "upstream", "related"} {
			list, _ := record[key].([]any)
			var names []any
			for _, name := range list {
				names = append(names, rename(name))
			}
			out[key] = names
		}
		text, err := json.Marshal(record["affected"])
		if err != nil {
			return err
		}
		var affected []map[string]any
		if json.Unmarshal(text, &affected) == nil {
			for _, a := range affected {
				if p, ok := a["package"].(map[string]any); ok {
					p["name"] = fmt.Sprintf("%v-%d", p["name"], i)
				}
			}
			out["affected"] = affected
		}
	}
	entry, err := w.CreateHeader(&zip.FileHeader{Name: strings.ReplaceAll(fmt.Sprint(out["id"]), "/", "-") + ".json",
		Method: zip.Deflate, Modified: time.Unix(1e9, 0)})
	if err != nil {
		return err
	}
	return json.NewEncoder(entry).Encode(out)
}
