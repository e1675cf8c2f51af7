package audit_test

import (
	"strings"
	"testing"

	"merlon/internal/audit"
)

func BenchmarkSeal(b *testing.B) {
	key, head := make([]byte, 32), audit.Head{Seq: 123456, Hash: strings.Repeat("a", 64)}
	for b.Loop() {
		head.Seal(key, "01a1f82f-1e80-8f01-b1d5-6f587671de35")
	}
}
