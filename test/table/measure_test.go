package table

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	measures := []Measure[int]{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	for only, want := range map[string]string{"": "a, b, c", "c, a": "c, a", "b": "b"} {
		got, err := Choose(measures, only)
		if err != nil || Names(got) != want {
			t.Errorf("Choose(%q) = %q, %v; want %q", only, Names(got), err, want)
		}
	}
	if _, err := Choose(measures, "a,d"); err == nil || !strings.Contains(err.Error(), `"d"`) {
		t.Errorf("Choose of a name that is not there: %v", err)
	}
}

func TestRun(t *testing.T) {
	row := func(row Row, err error) func(context.Context, string) ([]Row, error) {
		return func(_ context.Context, bench string) ([]Row, error) {
			row.Measured += bench
			return []Row{row}, err
		}
	}
	measures := []Measure[string]{
		{Name: "good", Run: row(Row{Measure: "speed", Met: Yes}, nil)},
		{Name: "absent", Run: row(Row{Measure: "half"}, fs.ErrNotExist)},
		{Name: "broken", Run: row(Row{}, errors.New("no such|thing"))},
		{Name: "crashing", Run: func(context.Context, string) ([]Row, error) { panic("ouch") }},
		{Name: "slow", Run: row(Row{Measure: "rate", Floor: "2", Met: No}, nil)},
	}
	dir, out := t.TempDir(), &bytes.Buffer{}
	if err := Run(t.Context(), measures, " fast", dir, out); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "table.md"))
	if err != nil || !bytes.Equal(kept, out.Bytes()) {
		t.Errorf("the kept table differs from the printed one: %v\n%s", err, kept)
	}
	for _, want := range []string{"| speed |  |  fast | yes |", "| absent |  | not measured |", "| broken |  | " +
		"failed | no | no such/thing |",
		"| crashing |  | failed | no | the measure crashed: ouch", "\n1 floors met, 3 not. Not met: broken; " +
			"crashing; rate. Not measured: absent. Took: good 0s; absent 0s; broken 0s; crashing 0s; slow 0s; in " +
			"all 0s.\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table has no %q:\n%s", want, out)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(cancelled, measures, "", dir, out); !errors.Is(err, context.Canceled) {
		t.Errorf("Run after its end = %v", err)
	}
}
