package scan_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

// TestKeep gives each analyzer of the next attempt what it has kept itself.
func TestKeep(t *testing.T) {
	var kept []byte
	refuse := false
	attempt := func(seen func(id string, resume []byte), part map[string]string) (failed []error) {
		t.Helper()
		analyzer := func(id string) *scan.Analyzer {
			return &scan.Analyzer{ID: id, Version: 1, Analysis: finding.DAST, Doc: "# Test\n",
				Live: func(p *scan.LivePass) error {
					seen(id, p.Resume)
					if text, ok := part[id]; ok {
						failed = append(failed, p.SaveCheckpoint([]byte(text)))
					}
					return nil
				}}
		}
		live := &scan.Live{Target: scan.Target{URL: "http://shop.example.org/"}, ID: "s", Dial: noDial, Resume: kept,
			SaveCheckpoint: func(b []byte) error {
				if refuse {
					return errors.New("the disk is full")
				}
				kept = slices.Clone(b)
				return nil
			}}
		got := scantest.Kept{}
		if err := scan.Run(t.Context(),
			scan.Options{Live: live, Workers: 1, Analyzers: []*scan.Analyzer{analyzer("dast/a"), analyzer("dast/b")}},
			&got); err != nil {
			t.Fatal(err)
		}
		return failed
	}
	nothing := func(id string, resume []byte) {
		if resume != nil {
			t.Errorf("%s begins with %q", id, resume)
		}
	}
	attempt(nothing, map[string]string{"dast/a": "of a", "dast/b": "of b"})
	attempt(func(id string, resume []byte) {
		if want := "of " + strings.TrimPrefix(id, "dast/"); string(resume) != want {
			t.Errorf("%s goes on with %q, not %q", id, resume, want)
		}
	}, map[string]string{"dast/b": "more of b"})
	want := map[string]string{"dast/a": "of a", "dast/b": "more of b"}
	same := func(id string, resume []byte) {
		if string(resume) != want[id] {
			t.Errorf("%s goes on with %q, not %q", id, resume, want[id])
		}
	}
	if failed := attempt(same,
		map[string]string{"dast/a": strings.Repeat("x", scan.MaxCheckpoint)}); len(failed) != 1 ||
		!errs.Is(failed[0], errs.TooLarge) {
		t.Errorf("too much: %v", failed)
	}
	refuse = true
	if failed := attempt(same, map[string]string{"dast/a": "lost"}); len(failed) != 1 || failed[0] == nil {
		t.Errorf("what could not be kept: %v", failed)
	}
	refuse = false
	attempt(same, nil)
	kept = []byte("of another version")
	attempt(nothing, nil)
}
