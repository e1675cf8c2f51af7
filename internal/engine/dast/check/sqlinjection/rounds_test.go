package sqlinjection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

func TestChance(t *testing.T) {
	for _, c := range []struct {
		n    []int
		want float64
	}{{[]int{5, 5}, 2. / 1024}, {[]int{2, 2, 2}, 6. / 729}, {[]int{7, 0, 0}, 1}, {[]int{1, 3}, 2 * 27. / 256},
		{[]int{1, 1}, .5}} {
		if got := chanceOfOrder(c.n...); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %g, not %g", c.n, got, c.want)
		}
	}
}

// Of two hundred pages that fail at every other request, whatever is asked, none looks
// as if it followed a statement. Nor does any of a few pages, on each of which one of three
// questions stands.
func TestByChance(t *testing.T) {
	for name, c := range map[string]struct {
		pages, runs, most int
		serve             http.HandlerFunc
	}{
		"busy": {200, 1, 0, func(w http.ResponseWriter, _ *http.Request) {
			if rand.IntN(2) == 0 {
				http.Error(w, "SQLITE_ERROR: busy", http.StatusInternalServerError)
				return
			}
			fmt.Fprint(w, "all is well")
		}},
		"questions": {2, 100, 0, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "Who are you? How much is seven ", []string{"plus", "minus", "times"}[rand.IntN(3)],
				" three?")
		}},
	} {
		var operations []string
		for i := range c.pages {
			operations = append(operations, fmt.Sprintf("GET /%c%c?q=alice", 'a'+i%26, 'a'+i/26))
		}
		n := 0
		for range c.runs {
			n += len(activescantest.Attack(t, c.serve, []*activescan.Rule{Rule}, operations).Findings)
		}
		if n > c.most {
			t.Errorf("%s: %d findings", name, n)
		}
	}
}

// A page that another request changes while it is attacked, once, is attacked all the same.
func TestChangedMeanwhile(t *testing.T) {
	db := database(t)
	for value, query := range map[string]string{"2": "SELECT name FROM people WHERE id=%s", "bob": "SELECT name FROM " +
		"people WHERE name='%s'", "nobody": "SELECT name FROM people WHERE name='%s'"} {
		for change := 1; change <= 14; change++ {
			asked := 0
			h := func(w http.ResponseWriter, r *http.Request) {
				if asked++; asked > change {
					fmt.Fprint(w, "<p>Something was saved.</p>")
				}
				names, _ := find(db, fmt.Sprintf(query, r.FormValue("q"))) // an error shows nothing
				fmt.Fprint(w, "<p>Found: ", strings.Join(names, " and "), ".</p>")
			}
			got := activescantest.Attack(t, http.HandlerFunc(h), []*activescan.Rule{Rule},
				[]string{"GET /?q=" + value})
			if len(got.Findings) != 1 {
				t.Errorf("%s, changed after %d: %d findings", query, change, len(got.Findings))
			}
		}
	}
}
