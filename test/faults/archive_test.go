package faults

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/run"
)

// credential is a line with a credential that belongs to nobody.
const credential = "token = \"ghp_" + "9aZ3kQ7mW1xT5vB8nR2cY6pL4dH0sJfGuE3i" + "\"\n"

// An entry is a file, or a link, of an archive.
type entry struct {
	name, content string
	mode          fs.FileMode
	stored        bool // without compression
}

func zipOf(t *testing.T, entries []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.stored {
			h.Method = zip.Store
		}
		h.SetMode(0o644 | e.mode)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(f, e.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// overlapping returns a bomb of the kind that D. Fifield described in 2019: many
// entries of the directory share the data of one file.
func overlapping(t *testing.T) []byte {
	t.Helper()
	plain := zipOf(t, []entry{{name: "a.txt", content: strings.Repeat("0", 8<<20)}})
	end := bytes.LastIndex(plain, []byte("PK\x05\x06"))
	dir := bytes.Index(plain, []byte("PK\x01\x02"))
	record := plain[dir:end]
	const copies = 5000
	out := append([]byte{}, plain[:dir]...)
	for i := range copies {
		r := bytes.Clone(record)
		copy(r[46:], fmt.Sprintf("%05d", i)) // the name has five characters
		out = append(out, r...)
	}
	tail := bytes.Clone(plain[end:])
	binary.LittleEndian.PutUint16(tail[8:], copies)
	binary.LittleEndian.PutUint16(tail[10:], copies)
	binary.LittleEndian.PutUint32(tail[12:], uint32(copies*len(record)))
	return append(out, tail...)
}

// spoiled changes one byte of the first file's content.
func spoiled(t *testing.T) []byte {
	t.Helper()
	b := zipOf(t, []entry{{name: "config.py", content: credential, stored: true}})
	i := bytes.Index(b, []byte("token"))
	b[i]++
	return b
}

func manyEntries(t *testing.T, n int) []byte {
	t.Helper()
	entries := []entry{{name: "config.py", content: credential}}
	for i := 1; i < n; i++ {
		entries = append(entries, entry{name: fmt.Sprintf("d%d/f%d.txt", i%100, i), stored: true})
	}
	return zipOf(t, entries)
}

func TestHostileArchives(t *testing.T) {
	good := entry{name: "config.py", content: credential}
	whole := zipOf(t, []entry{good, {name: "b.py", content: strings.Repeat("x", 1000)}})
	tests := []struct {
		name     string
		archive  []byte
		state    run.State
		findings int
		skipped  string // part of a path that the statuses must name
	}{
		{"cut in half", whole[:len(whole)/2], run.Failed, 0, ""},
		{"without its directory", whole[:bytes.Index(whole, []byte("PK\x01\x02"))], run.Failed, 0, ""},
		{"a byte is wrong", spoiled(t), run.Failed, 0, ""},
		{"a bomb", zipOf(t, []entry{good, {name: "bomb", content: strings.Repeat("0", 200<<20)}}), run.Failed, 0, ""},
		{"an overlapping bomb", overlapping(t), run.Failed, 0, ""},
		{"traversal", zipOf(t, []entry{good, {name: "../../escaped.py", content: credential}}), run.CompletedDegraded,
			1, "escaped.py"},
		{"an absolute name", zipOf(t, []entry{good, {name: "/tmp/escaped-merlon.py", content: credential}}),
			run.CompletedDegraded, 1, "escaped-merlon.py"},
		{"a link that leaves", zipOf(t, []entry{good, {name: "passwd", content: "/etc/passwd", mode: fs.ModeSymlink}}),
			run.CompletedDegraded, 1, "passwd"},
		{"a device", zipOf(t, []entry{good, {name: "disk", mode: fs.ModeDevice}}), run.CompletedDegraded, 1, "disk"},
		{"100,000 entries", manyEntries(t, 100_000), run.Completed, 1, ""},
		{"nothing in it", zipOf(t, nil), run.CompletedDegraded, 0, "there are no files"},
	}
	each(t, func(t *testing.T, s *site) {
		// What was known before must stay known when a scan cannot look.
		s.worker()
		for _, tt := range tests {
			sc := s.project()
			s.completed(sc, s.scan(sc, "main",
				zipOf(t, []entry{good, {name: "old.py", content: strings.Replace(credential, "9a", "8b", 1)}})))
			id := s.scan(sc, "main", tt.archive)
			r := s.await(sc, id, tt.name, ended)
			if r.State != tt.state || r.Attempt != 1 {
				t.Errorf("%s: ended as %s at attempt %d: %v, %+v", tt.name, r.State, r.Attempt, r.Failure,
					r.Outcome.Statuses)
				continue
			}
			if tt.state == run.Failed {
				if open := s.count("SELECT COUNT(*) FROM finding WHERE project_id = ? AND "+
					"closed = 0", sc.Project); open != 2 {
					t.Errorf("%s: %d findings are open, want the 2 of the scan before", tt.name, open)
				}
				if r.Failure.Code != run.CodeArchive || r.Failure.Message == "" {
					t.Errorf("%s: failed with %+v", tt.name, r.Failure)
				}
				continue
			}
			if r.Outcome.Changes.Found != tt.findings {
				t.Errorf("%s: found %d, want %d", tt.name, r.Outcome.Changes.Found, tt.findings)
			}
			if named := fmt.Sprintf("%+v", r.Outcome.Statuses); tt.skipped != "" &&
				!strings.Contains(named, tt.skipped) {
				t.Errorf("%s: the statuses do not name %s: %s", tt.name, tt.skipped, named)
			}
		}
		s.scratchIsEmpty()
		escaped, err := filepath.Glob(filepath.Join(s.dir, "**", "escaped*"))
		s.must(err)
		if _, err := os.Stat("/tmp/escaped-merlon.py"); err == nil || len(escaped) > 0 {
			t.Errorf("a file left its folder: %v", escaped)
		}
	})
}
