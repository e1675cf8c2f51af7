package credentials

import (
	"context"
	"os"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// BenchmarkScan looks for credentials in the tree that MERLON_BENCH_TREE names,
// by default the standard library's crypto.
func BenchmarkScan(b *testing.B) {
	root := os.Getenv("MERLON_BENCH_TREE")
	if root == "" {
		b.Skip("MERLON_BENCH_TREE names no tree")
	}
	for b.Loop() {
		var bytes int64
		counter := &scan.Analyzer{ID: "secrets/size", Version: 1, Analysis: finding.Secret, Doc: "# Size",
			Match: isScannedName,
			File: func(p *scan.FilePass) error {
				bytes += p.Size
				return nil
			}}
		if err := scan.Run(context.Background(),
			scan.Options{Root: root, Analyzers: []*scan.Analyzer{Analyzer, counter}, Workers: 1},
			&scan.Summary{}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(bytes)
	}
}
