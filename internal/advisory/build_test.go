package advisory

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
)

func TestMalformedRecords(t *testing.T) {
	good := one("GOOD-1", "npm", "good", `"versions":["1.0.0"]`)
	f, report := build(t, map[string]string{
		"GOOD-1.json":   good,
		"HALF-1.json":   `{"id":"HALF-1","modified":17,"affected":[{"package":{"ecosystem":"npm","name":"half"},"versions":["1.0.0"]}]}`,
		"NOID.json":     `{"id":"","affected":[{"package":{"ecosystem":"npm","name":"noid"},"versions":["1.0.0"]}]}`,
		"CUT-1.json":    good[:40],
		"LOST-1.json":   `{"id":"LOST-1","affected":"everything"}`,
		"settings.json": `{"colour":"red"}`,
		"README.md":     "no record",
	})
	if got, want := malformedFiles(report), []string{"CUT-1.json", "HALF-1.json", "LOST-1.json",
		"NOID.json"}; !slices.Equal(got, want) {
		t.Errorf("malformed: got %v, want %v", got, want)
	}
	if want := []string{"CUT-1.json", "LOST-1.json"}; !slices.Equal(report.Unreadable, want) || report.Skipped != 1 {
		t.Errorf("unreadable: got %v and %d skipped, want %v and 1", report.Unreadable, report.Skipped, want)
	}
	if got := f.Data().Unreadable; got != 2 {
		t.Errorf("the file says that %d records are unreadable, want 2", got)
	}
	for name, undecided := range map[string]bool{"good": false, "half": true, "noid": true, "other": false} {
		_, err := f.Match(t.Context(), "npm", name, "2.0.0")
		if (err != nil) != undecided {
			t.Errorf("%s: got %v, want undecided: %t", name, err, undecided)
		}
	}
}

func malformedFiles(r *Report) []string {
	var out []string
	for _, m := range r.Malformed {
		out = append(out, m.File)
	}
	slices.Sort(out)
	return out
}

func TestRebuild(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	stamped := func(id, modified, version string) string {
		return strings.Replace(one(id, "npm", "x", `"versions":["`+version+`"]`), "2024-01-01", modified, 1)
	}
	rebuild(t, first, "", map[string]string{
		"A.json": stamped("A", "2024-01-01", "1.0.0"), "B.json": stamped("B", "2024-01-01", "1.0.0"),
		"C.json": stamped("C", "2024-05-01", "1.0.0"),
		"D.json": stamped("D", "2024-01-01", "1.0.0"), "E.json": stamped("E", "2024-01-01", "1.0.0"),
		"F.json": `{"id":`,
	})
	report := rebuild(t, second, first, map[string]string{
		"A.json": stamped("A", "2024-02-01", "2.0.0"), // newer
		"B.json": stamped("B", "2024-01-01", "1.0.0"), // the same
		"C.json": stamped("C", "2024-04-01", "2.0.0"), // older
		"D.json": strings.Replace(stamped("D", "2024-02-01", "1.0.0"), "{", `{"withdrawn":"2024-02-01T00:00:00Z",`, 1),
		// broken: what was known stays
		"E.json": `{"id":"E","modified":0,"affected":[{"package":{"ecosystem":"npm","name":"x"}}]}`,
		"F.json": stamped("F", "2024-01-01", "1.0.0"),
		"G.json": stamped("G", "2024-01-01", "2.0.0"),
	})
	got := []int{report.Read, report.Added, report.Updated, report.Unchanged, report.Older, report.Withdrawn,
		report.Records}
	if want := []int{7, 2, 2, 1, 1, 1, 6}; !slices.Equal(got, want) {
		t.Errorf("read, added, updated, unchanged, older, withdrawn, records: got %v, want %v", got, want)
	}
	if want := []string{"E.json"}; !slices.Equal(report.Unreadable, want) {
		t.Errorf("unreadable: got %v, want %v", report.Unreadable, want)
	}
	f := open(t, second)
	for version, want := range map[string][]string{"1.0.0": {"B", "C", "E", "F"}, "2.0.0": {"A", "G"}} {
		found, err := f.Match(t.Context(), "npm", "x", version)
		if diff := cmp.Diff(want, ids(found)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", version, err, diff)
		}
	}
	third := filepath.Join(dir, "third")
	again := rebuild(t, third, second, map[string]string{"E.json": stamped("E", "2024-01-01", "1.0.0")})
	if again.Records != 6 || len(again.Unreadable) != 0 {
		t.Errorf("after the broken record came whole: got %d records and %v unreadable, want 6 and none", again.Records,
			again.Unreadable)
	}
}

func TestOpenSources(t *testing.T) {
	inner := zipped(t, map[string][]byte{"X-1.json": []byte(one("X-1", "npm", "x", `"versions":["1.0.0"]`))})
	outer := zipped(t, map[string][]byte{"npm/all.zip": inner,
		"Go/Y-1.json": []byte(one("Y-1", "Go", "y", `"versions":["1.0.0"]`))})
	path := filepath.Join(t.TempDir(), "bundle.zip")
	if err := os.WriteFile(path, outer, 0o600); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	if !f.Knows("npm") || !f.Knows("Go") || f.Knows("PyPI") {
		t.Errorf("knows npm %t, Go %t, PyPI %t", f.Knows("npm"), f.Knows("Go"), f.Knows("PyPI"))
	}
	if _, err := f.Match(t.Context(), "PyPI", "x", "1"); err == nil {
		t.Error("a look-up in an ecosystem without data says that nothing is known")
	}
	deep := zipped(t, map[string][]byte{"a.zip": outer})
	if err := os.WriteFile(path, deep, 0o600); err != nil {
		t.Fatal(err)
	}
	f = open(t, path)
	if got := f.Data().Unreadable; got != 1 {
		t.Errorf("zips three deep: got %d unreadable, want 1", got)
	}
	for name, text := range map[string]string{"empty.zip": "", "not.zip": "PK nothing", "none.json": "{}"} {
		p := filepath.Join(folder(t, map[string]string{name: text}), name)
		if _, err := Open(p); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: got %v, want an Invalid error", name, err)
		}
	}
}

func zipped(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestZipBomb gives a record that unpacks to more than may be held.
func TestZipBomb(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("BOMB-1.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(f, zeros{}, maxRecord+1); err != nil {
		t.Fatal(err)
	}
	if f, err = w.Create("X-1.json"); err == nil {
		_, err = io.WriteString(f, one("X-1", "npm", "x", `"versions":["1.0.0"]`))
	}
	if err := cmpErr(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bomb.zip")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := Build(t.Context(), BuildOptions{Sources: []string{path}, Output: path + ".dat"})
	if err != nil {
		t.Fatal(err)
	}
	if report.Records != 1 || len(report.Unreadable) != 1 {
		t.Errorf("got %d records and %v unreadable, want 1 and 1", report.Records, report.Unreadable)
	}
}

func cmpErr(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

func TestBuildStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "out")
	_, err := Build(ctx, BuildOptions{Sources: []string{folder(t, map[string]string{"X.json": "{}"})}, Output: out})
	if err == nil {
		t.Error("a cancelled build succeeded")
	}
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil || len(entries) != 0 {
		t.Errorf("a cancelled build left %v, %v", entries, err)
	}
}

func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "good")
	rebuild(t, path, "", map[string]string{"X-1.json": one("X-1", "npm", "x", `"versions":["1.0.0"]`)})
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good[:len(good)-digestLen] {
		bad := slices.Clone(good)
		bad[i] ^= 0x55
		f, err := newFile(bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			continue
		}
		if found, err := f.Match(t.Context(), "npm", "x", "1.0.0"); err == nil && i >= len(magic) && len(found) != 1 {
			t.Errorf("byte %d damaged: the package looks safe", i)
		}
		f.zstd.Close()
	}
	for n := range good {
		if f, err := newFile(bytes.NewReader(good[:n]), int64(n)); err == nil {
			t.Errorf("cut to %d bytes: opened", n)
			f.zstd.Close()
		}
	}
}

func TestMetaIsJSON(t *testing.T) {
	_, report := build(t, map[string]string{"X-1.json": one("X-1", "npm", "x", `"versions":["1.0.0"]`)})
	b, err := json.Marshal(report.Meta)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"imported":"2026-11-20T09:00:00Z","newest":"2024-01-01T00:00:00Z","records":1,"ecosystems":{"npm":{"records":1,"packages":1,"newest":"2024-01-01T00:00:00Z"}}}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

// TestFolder takes records from folders below, follows a link inside of the
// source and refuses one that leads out of it.
func TestFolder(t *testing.T) {
	outside := folder(t, map[string]string{"OUT-1.json": one("OUT-1", "npm", "out", `"versions":["1.0.0"]`)})
	dir := folder(t, map[string]string{
		"npm/2024/X-1.json": one("X-1", "npm", "x", `"versions":["1.0.0"]`),
		".git/Y-1.json":     one("Y-1", "npm", "y", `"versions":["1.0.0"]`),
	})
	if err := os.Symlink("npm/2024/X-1.json", filepath.Join(dir, "again.json")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	report, err := Build(t.Context(), BuildOptions{Sources: []string{dir}, Output: out})
	if err != nil || report.Read != 2 || report.Records != 1 {
		t.Fatalf("got %+v, %v; want one record, read twice", report, err)
	}
	if err := os.Symlink(filepath.Join(outside, "OUT-1.json"), filepath.Join(dir, "out.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(t.Context(), BuildOptions{Sources: []string{dir}, Output: out}); err == nil {
		t.Error("a link out of the source was followed")
	}
}

// TestDuplicates gives one record in several places, as mirrors do.
func TestDuplicates(t *testing.T) {
	older := one("X-1", "npm", "x", `"versions":["1.0.0"]`)
	newer := strings.Replace(one("X-1", "npm", "x", `"versions":["2.0.0"]`), "2024-01-01", "2024-06-01", 1)
	f, report := build(t, map[string]string{"a/X-1.json": older, "b/X-1.json": newer, "c/X-1.json": older,
		"d/X-1.json": newer})
	if report.Records != 1 || report.Read != 4 {
		t.Errorf("got %d records of %d read, want 1 of 4", report.Records, report.Read)
	}
	for version, want := range map[string]int{"1.0.0": 0, "2.0.0": 1} {
		if found, err := f.Match(t.Context(), "npm", "x", version); err != nil || len(found) != want {
			t.Errorf("%s: got %v, %v; want %d", version, ids(found), err, want)
		}
	}
}

// TestManyRecords fills several chunks and looks up from many goroutines.
func TestManyRecords(t *testing.T) {
	records := map[string]string{}
	for i := range 500 {
		id := fmt.Sprintf("X-%d", i)
		text := one(id, "npm", fmt.Sprintf("p%d", i%100), fmt.Sprintf(`"versions":["1.0.%d"]`, i))
		records[id+".json"] = strings.Replace(text, "{", fmt.Sprintf(`{"details":%q,`, strings.Repeat(id, 200)), 1)
	}
	f, _ := build(t, records)
	if len(f.chunks) < 3 {
		t.Fatalf("%d chunks, want several", len(f.chunks))
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 500 {
				found, err := f.Match(t.Context(), "npm", fmt.Sprintf("p%d", i%100), fmt.Sprintf("1.0.%d", i))
				if err != nil || len(found) != 1 || found[0].Advisory.Details != strings.Repeat(fmt.Sprintf("X-%d", i),
					200) {
					t.Errorf("record %d: got %v, %v", i, ids(found), err)
					return
				}
			}
		})
	}
	all.Wait()
}

// TestLongTexts cuts what is longer than is kept, and drops what cannot be cut.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("é", maxDetails)
	var refs []string
	for i := range maxReferences + 5 {
		refs = append(refs, fmt.Sprintf(`{"type":"WEB","url":"https://example.com/%d"}`, i))
	}
	text := strings.Replace(one("X-1", "npm", "x", `"versions":["1.0.0"]`), "{",
		fmt.Sprintf(`{"details":%q,"aliases":["two words","","%s","CVE-2020-1"],"references":[%s],`, long,
			strings.Repeat("A", maxName+1), strings.Join(refs, ",")), 1)
	f, _ := build(t, map[string]string{"X-1.json": text})
	found, err := f.Match(t.Context(), "npm", "x", "1.0.0")
	if err != nil || len(found) != 1 {
		t.Fatalf("got %v, %v", ids(found), err)
	}
	a := found[0].Advisory
	if len(a.Details) > maxDetails || !strings.HasPrefix(long, a.Details) || len(a.References) != maxReferences ||
		!slices.Equal(a.Aliases, []string{"CVE-2020-1", "X-1"}) {
		t.Errorf("got %d bytes of details, %d references, aliases %v", len(a.Details), len(a.References), a.Aliases)
	}
}
