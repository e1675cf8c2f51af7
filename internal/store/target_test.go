package store_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"merlon/internal/errs"
	"merlon/internal/livetarget"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// store makes a target of a project with a sealed text of a size.
func (db runs) store(sc tenant.Scope, name string, size int) (livetarget.Target, error) {
	t := db.NewTarget(sc)
	t.Name, t.Environment, t.Root = name, "staging", name+".example/"
	t.Shown = scan.Target{URL: "https://" + t.Root}
	t.Sealed = bytes.Repeat([]byte{1}, size)
	return db.CreateTarget(db.t.Context(), sc, t)
}

// TestTargetListReadsNoSealedText lists targets whose sealed texts are large: neither the
// list nor a single target costs the memory of one of them.
func TestTargetListReadsNoSealedText(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		const count, size = 12, 4 << 20
		sc := db.organization(1)
		for n := range count {
			_, err := db.store(sc, fmt.Sprintf("t%02d", n), size)
			db.must(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		list, total, err := db.Targets(t.Context(), sc, 1, 10)
		db.must(err)
		one, err := db.Target(t.Context(), sc, list[9].ID)
		db.must(err)
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > size {
			t.Errorf("a list of %d targets of %d MiB allocated %d MiB", count, size>>20, allocated>>20)
		}
		if len(list) != 10 || total != count || list[0].Name != "t00" || one.Name != "t09" || one.Sealed != nil {
			t.Errorf("got %d of %d, %q and %q with %d sealed bytes", len(list), total, list[0].Name, one.Name,
				len(one.Sealed))
		}
		rest, _, err := db.Targets(t.Context(), sc, 2, 10)
		if err != nil || len(rest) != 2 || rest[1].Name != "t11" {
			t.Errorf("second page: %d, %v", len(rest), err)
		}
		if far, total, err := db.Targets(t.Context(), sc, 1<<62, 100); err != nil || len(far) != 0 || total != count {
			t.Errorf("a page beyond the end: %d of %d, %v", len(far), total, err)
		}
		whole, err := db.SealedTarget(t.Context(), sc, one.ID)
		if err != nil || len(whole.Sealed) != size {
			t.Errorf("the sealed text has %d bytes, %v", len(whole.Sealed), err)
		}
	})
}

// TestTargetsOfAProjectAreBounded refuses more bytes than a project may have, in a new
// target and in a change.
func TestTargetsOfAProjectAreBounded(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		sc := db.organization(1)
		for n := range 7 {
			_, err := db.store(sc, fmt.Sprintf("t%d", n), 32<<20)
			db.must(err)
		}
		last, err := db.store(sc, "last", 31<<20)
		db.must(err)
		if _, err := db.store(sc, "more", 2<<20); !errs.Is(err, errs.Conflict) {
			t.Errorf("a target beyond the limit: %v, want a conflict", err)
		}
		last.Sealed = bytes.Repeat([]byte{1}, 32<<20)
		if last, err = db.UpdateTarget(t.Context(), sc, last); err != nil {
			t.Errorf("a change up to the limit: %v", err)
		}
		last.Sealed = bytes.Repeat([]byte{1}, 32<<20+1)
		if _, err = db.UpdateTarget(t.Context(), sc, last); !errs.Is(err, errs.Conflict) {
			t.Errorf("a change beyond the limit: %v, want a conflict", err)
		}
		if stored, err := db.SealedTarget(t.Context(), sc, last.ID); err != nil || len(stored.Sealed) != 32<<20 {
			t.Errorf("stored are %d bytes, %v", len(stored.Sealed), err)
		}
	})
}
