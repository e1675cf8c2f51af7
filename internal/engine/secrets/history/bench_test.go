package history

import (
	"context"
	"os"
	"testing"

	"merlon/internal/scan"
)

// BenchmarkHistory looks at the history of the repository in the folder that
// MERLON_BENCH_REPOSITORY names.
func BenchmarkHistory(b *testing.B) {
	root := os.Getenv("MERLON_BENCH_REPOSITORY")
	if root == "" {
		b.Skip("MERLON_BENCH_REPOSITORY names no folder")
	}
	for b.Loop() {
		if err := scan.Run(context.Background(), scan.Options{Root: root, Analyzers: []*scan.Analyzer{Analyzer},
			Workers: 1}, &scan.Summary{}); err != nil {
			b.Fatal(err)
		}
	}
}
