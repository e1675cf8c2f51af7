package advisory

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/osv-scalibr/semantic"
)

// TestPlainOrder compares random versions of numbers with the library's order.
func TestPlainOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	version := func() string {
		var parts []string
		for range 1 + random.IntN(4) {
			n := fmt.Sprint([...]int{0, 0, 0, 1, 1, 2, 9, 10, 11, 99, 100, 20240101}[random.IntN(12)])
			if random.IntN(12) == 0 {
				n = "0" + n
			}
			parts = append(parts, n)
		}
		return strings.Join(parts, ".")
	}
	for _, base := range slices.Sorted(maps.Keys(plainOrder)) {
		order := base
		if base == "GitHub Actions" {
			order = "npm"
		}
		for range 5000 {
			a, b := version(), version()
			if random.IntN(3) == 0 {
				b = a + ".0"
			}
			va, errA := semantic.Parse(a, order)
			vb, errB := semantic.Parse(b, order)
			x, y := plainNumbers(a), plainNumbers(b)
			if x.n == 0 || y.n == 0 || max(x.n, y.n) > plainOrder[base] {
				continue // left to the library
			}
			if errA != nil || errB != nil {
				t.Errorf("%s: the library refuses %s or %s: %v, %v", base, a, b, errA, errB)
				break
			}
			want, err := va.Compare(vb)
			if got := x.compareNumbers(y); err != nil || got != want {
				t.Errorf("%s: %s and %s: got %d, want %d, %v", base, a, b, got, want, err)
				break
			}
		}
	}
}

func TestPlainNumbers(t *testing.T) {
	for text, n := range map[string]int{
		"1": 1, "1.2": 2, "1.2.3.4": 4, "1.2.3.4.5": 0, "": 0, ".": 0, "1.": 0, ".1": 0, "1..2": 0, "v1": 0, "1.2-3": 0,
		"1a": 0, "٣": 0,
		"123456789012345": 1, "1234567890123456": 0,
	} {
		if got := plainNumbers(text); got.n != n {
			t.Errorf("%q: got %d numbers, want %d", text, got.n, n)
		}
	}
}
