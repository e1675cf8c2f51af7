package sqlinjection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"testing"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/attack/attacktest"
)

func TestChance(t *testing.T) {
	for _, c := range []struct {
		n    []int
		want float64
	}{{[]int{5, 5}, 1. / 1024}, {[]int{2, 2, 2}, 1. / 729}, {[]int{7, 0, 0}, 1}, {[]int{1, 3}, 27. / 256}} {
		if got := chance(c.n...); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %g, not %g", c.n, got, c.want)
		}
	}
}

// Of two hundred pages that fail at every other request, whatever is asked, hardly any looks
// as if it followed a statement: those whose answers came by chance make the proof of the
// others longer.
func TestByChance(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if rand.IntN(2) == 0 {
			http.Error(w, "SQLITE_ERROR: busy", http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, "all is well")
	})
	var operations []string
	for i := range 200 {
		operations = append(operations, fmt.Sprintf("GET /%c%c?q=alice", 'a'+i%26, 'a'+i/26))
	}
	got := attacktest.Attack(t, h, []*attack.Check{Check}, operations)
	if n := len(got.Findings); n > 4 {
		t.Errorf("%d findings", n)
	}
}
