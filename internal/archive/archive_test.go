package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
)

// small is a budget that tests can exceed.
var small = Budget{Files: 50, Bytes: 64 << 20, FileBytes: 48 << 20, Ratio: 100, Depth: 5, PathBytes: 300}

// an item is what a test puts into an archive.
type item struct {
	name, content string
	mode          fs.FileMode // of what it is; 0 is a file
	link          string
}

func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			t.Errorf("%s is no regular file", path)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func extract(t testing.TB, data []byte, b Budget) (Summary, map[string]string, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "in")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s, err := Extract(t.Context(), io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), root, b)
	outside, _ := os.ReadDir(filepath.Dir(dir))
	if len(outside) != 1 {
		t.Errorf("something was written outside: %v", outside)
	}
	return s, tree(t, dir), err
}

func zipOf(t testing.TB, items ...item) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, i := range items {
		h := &zip.FileHeader{Name: i.name, Method: zip.Deflate}
		if i.mode != 0 {
			h.SetMode(i.mode)
		}
		f, err := w.CreateHeader(h)
		if err == nil && !strings.HasSuffix(i.name, "/") {
			_, err = io.WriteString(f, i.content+i.link)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func tarOf(t testing.TB, items ...item) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, i := range items {
		h := &tar.Header{Name: i.name, Mode: 0o4755, Size: int64(len(i.content)), Typeflag: tar.TypeReg,
			Linkname: i.link}
		switch {
		case i.mode == fs.ModeSymlink:
			h.Typeflag = tar.TypeSymlink
		case i.mode == fs.ModeIrregular: // of the test: a hard link
			h.Typeflag = tar.TypeLink
		case i.mode == fs.ModeDevice:
			h.Typeflag = tar.TypeChar
		case strings.HasSuffix(i.name, "/"):
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, i.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func gzipOf(t testing.TB, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// rawZip writes an entry as it is told, with any lie.
func rawZip(t testing.TB, h zip.FileHeader, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	f, err := w.CreateRaw(&h)
	if err == nil {
		_, err = f.Write(data)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func deflated(t testing.TB, content []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := flate.NewWriter(&buf, 9)
	if err == nil {
		_, err = w.Write(content)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestExtract(t *testing.T) {
	items := []item{
		{name: "a.go", content: "package a"},
		{name: "sub/"},
		{name: "sub/deep/.hidden", content: "x"},
		{name: "./sub//b", content: strings.Repeat("b", 200_000)},
		{name: "README", content: "one"},
		{name: "readme", content: "other"}, // two files where the file system has two
		{name: "ünï", content: ""},
		{name: "link", mode: fs.ModeSymlink, link: "sub/deep/.hidden"},
	}
	want := map[string]string{"a.go": "package a", "sub/deep/.hidden": "x", "sub/b": strings.Repeat("b", 200_000),
		"README": "one", "readme": "other", "ünï": ""}
	z, tr := zipOf(t, items...), tarOf(t, items...)
	for name, data := range map[string][]byte{
		"zip": z, "tar": tr, "tar.gz": gzipOf(t, tr),
		"zip behind a program": append([]byte("PK?"), z...),
	} {
		t.Run(name, func(t *testing.T) {
			s, got, err := extract(t, data, small)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			wantSummary := Summary{Format: strings.Fields(name)[0], Files: 6, Bytes: 200_018, Links: 1}
			if diff := cmp.Diff(wantSummary, s); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSkips puts each bad entry between two good ones.
func TestSkips(t *testing.T) {
	device := fs.ModeDevice
	long := strings.Repeat("n", 301)
	for _, test := range []struct {
		name   string
		item   item
		path   string // in the summary, when it is not the item's name
		reason string
	}{
		{"traversal", item{name: "../evil"}, "", "its name leaves the folder"},
		{"traversal inside", item{name: "a/../../evil"}, "", "its name leaves the folder"},
		{"absolute", item{name: "/etc/passwd"}, "", "its name is absolute"},
		{"backslash", item{name: `..\evil`}, `"..\\evil"`, "its name has a backslash"},
		{"control character", item{name: "a\nb"}, `"a\nb"`, "its name has control characters"},
		{"not UTF-8", item{name: "a\xff"}, `"a\xff"`, "its name is not UTF-8"},
		{"long name", item{name: long}, "", "its name is longer than 300 bytes"},
		{"deep", item{name: "1/2/3/4/5/6"}, "", "it lies deeper than 5 folders"},
		{"device", item{name: "dev", mode: device}, "", "neither a file nor a folder"},
		{"link outside", item{name: "l", mode: fs.ModeSymlink, link: "../../etc/passwd"}, "", "a link to what is not " +
			"in the archive"},
		{"absolute link", item{name: "l", mode: fs.ModeSymlink, link: "/etc/passwd"}, "", "a link to what is not in " +
			"the archive"},
		{"link to nothing", item{name: "l", mode: fs.ModeSymlink, link: "nothing"}, "", "a link to what is not in " +
			"the archive"},
		{"twice", item{name: "first", content: "other"}, "", "the archive contains this name more than once"},
		{"file as folder", item{name: "first/below", content: "x"}, "", "a file of the archive stands where its " +
			"folder should be"},
		{"too large", item{name: "large", content: strings.Repeat("x", 2000)}, "", "larger than 1024 bytes"},
		{"too large with a long name", item{name: "äöü/" + strings.Repeat("l", 250),
			content: strings.Repeat("x", 2000)}, "", "larger than 1024 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := small
			b.FileBytes = 1024
			items := []item{{name: "first", content: "1"}, test.item, {name: "last", content: "2"}}
			path := test.path
			if path == "" {
				path = test.item.name
			}
			archives := map[string][]byte{"zip": zipOf(t, items...)}
			if test.name != "not UTF-8" { // Go's writer of tar refuses it
				archives["tar"] = tarOf(t, items...)
			}
			for format, data := range archives {
				s, got, err := extract(t, data, b)
				if err != nil {
					t.Fatalf("%s: %v", format, err)
				}
				if diff := cmp.Diff(map[string]string{"first": "1", "last": "2"}, got); diff != "" {
					t.Errorf("%s: files (-want +got):\n%s", format, diff)
				}
				if test.name == "file as folder" && len(s.Skipped) == 2 {
					s.Skipped = s.Skipped[1:] // the folder and the file
				}
				if diff := cmp.Diff([]Skip{{path, test.reason}}, s.Skipped); diff != "" {
					t.Errorf("%s: skipped (-want +got):\n%s", format, diff)
				}
			}
		})
	}
}

func TestSkipsOfZip(t *testing.T) {
	content := []byte("secret")
	sum := crc32.ChecksumIEEE(content)
	for name, test := range map[string]struct {
		header zip.FileHeader
		reason string
	}{
		"encrypted": {zip.FileHeader{Name: "e", Flags: 1, CRC32: sum, CompressedSize64: 6, UncompressedSize64: 6},
			"encrypted"},
		"method": {zip.FileHeader{Name: "e", Method: 14, CRC32: sum, CompressedSize64: 6, UncompressedSize64: 6},
			"compressed in a way that is not supported (method 14)"},
		"claims an exabyte": {zip.FileHeader{Name: "e", CRC32: sum, CompressedSize64: 6, UncompressedSize64: 1 << 59},
			"larger than 48 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			s, files, err := extract(t, rawZip(t, test.header, content), small)
			if err != nil || len(files) != 0 {
				t.Fatalf("Extract = %v, %v", files, err)
			}
			if diff := cmp.Diff([]Skip{{"e", test.reason}}, s.Skipped); diff != "" {
				t.Errorf("skipped (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSkipsAreBounded(t *testing.T) {
	var items []item
	for i := range 150 {
		items = append(items, item{name: fmt.Sprintf("../%d", i)})
	}
	b := small
	b.Files = 1000
	s, _, err := extract(t, tarOf(t, items...), b)
	if err != nil || len(s.Skipped) != MaxSkips || s.More != 50 {
		t.Errorf("Extract = %d skipped, %d more, %v", len(s.Skipped), s.More, err)
	}
}

// TestRefuses holds the archives that cannot be trusted.
func TestRefuses(t *testing.T) {
	good := zipOf(t, item{name: "a", content: strings.Repeat("hello ", 1000)}, item{name: "b", content: "b"})
	goodTar := tarOf(t, item{name: "a", content: strings.Repeat("hello ", 1000)})
	goodGzip := gzipOf(t, goodTar)
	zeros := strings.Repeat("\x00", 40<<20)
	content := []byte("hello")
	sum := crc32.ChecksumIEEE(content)
	var many, deep []item
	for i := range 51 {
		many = append(many, item{name: fmt.Sprint(i)})
	}
	for i := range 20 {
		deep = append(deep, item{name: fmt.Sprintf("%d/b/c/d", i)})
	}
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "is no archive"},
		{"text", []byte("hello"), "is no archive"},
		{"zip cut in half", good[:len(good)/2], "damaged or cut off"},
		{"zip without its last byte", good[:len(good)-1], "damaged or cut off"},
		{"zip cut in front", append([]byte("PK"), good[40:]...), "damaged or cut off"},
		{"tar cut off", goodTar[:1000], "cut off"},
		{"tar.gz cut off", goodGzip[:len(goodGzip)/2], "cut off"},
		{"tar.gz without its checksum", goodGzip[:len(goodGzip)-4], "cut off"},
		{"tar.gz with a wrong checksum", flip(goodGzip, len(goodGzip)-8), "checksum"},
		{"gzip of text", gzipOf(t, []byte(strings.Repeat("text", 1000))), "damaged"},
		{"zip with a wrong checksum",
			rawZip(t, zip.FileHeader{Name: "a", CRC32: sum + 1, CompressedSize64: 5, UncompressedSize64: 5}, content),
			"checksum"},
		{"larger than it says", rawZip(t, zip.FileHeader{Name: "a", Method: zip.Deflate, CRC32: sum,
			CompressedSize64: uint64(len(deflated(t, content))), UncompressedSize64: 2}, deflated(t, content)),
			"larger than its declared size"},
		{"smaller than it says",
			rawZip(t, zip.FileHeader{Name: "a", CRC32: sum, CompressedSize64: 5, UncompressedSize64: 9}, content),
			"cut off"},
		{"data not deflated", rawZip(t, zip.FileHeader{Name: "a", Method: zip.Deflate, CRC32: sum, CompressedSize64: 5,
			UncompressedSize64: 5},
			[]byte("\xff\xff\xff\xff\xff")), "damaged"},
		{"entries overlap", overlapping(t), "overlap"},
		{"names differ", bytes.Replace(good, []byte("a"), []byte("z"), 1), "damaged"},
		{"more entries than claimed", claim(good, 1), "damaged"},
		{"zip bomb", zipOf(t, item{name: "a", content: zeros}), "too much for its size"},
		{"tar bomb", gzipOf(t, tarOf(t, item{name: "a", content: zeros})), "too much for its size"},
		{"tar bomb that is skipped", gzipOf(t, tarOf(t, item{name: "../a", content: zeros})), "too much for its size"},
		{"too many bytes", tarOf(t, item{name: "a", content: zeros}, item{name: "b", content: zeros}),
			"more than 64 MiB"},
		{"too many files in zip", zipOf(t, many...), "more than 50 files"},
		{"too many files in tar", tarOf(t, many...), "more than 50 files"},
		{"too many folders", zipOf(t, deep...), "more than 50 files"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, _, err := extract(t, test.data, small)
			if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Extract = %+v, %v; want %q", s, err, test.want)
			}
		})
	}
}

func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 0xff
	return b
}

// claim changes the number of entries in the end record.
func claim(b []byte, n uint16) []byte {
	b = bytes.Clone(b)
	binary.LittleEndian.PutUint16(b[len(b)-endSize+8:], n)
	binary.LittleEndian.PutUint16(b[len(b)-endSize+10:], n)
	return b
}

// overlapping makes a zip whose second entry lies in the data of the first.
func overlapping(t testing.TB) []byte {
	t.Helper()
	inner := zipOf(t, item{name: "b", content: "inner"})
	localEnd := bytes.Index(inner, []byte("PK\x01\x02"))
	local := inner[:localEnd]
	outer := rawZip(t, zip.FileHeader{Name: "a", CRC32: crc32.ChecksumIEEE(local), CompressedSize64: uint64(len(local)),
		UncompressedSize64: uint64(len(local))}, local)
	at := bytes.Index(outer, []byte("PK\x01\x02"))
	end := len(outer) - endSize
	second := bytes.Clone(inner[localEnd : len(inner)-endSize])
	binary.LittleEndian.PutUint32(second[42:], uint32(localSize+1)) // behind the header of the first
	data := append(bytes.Clone(outer[:end]), second...)
	data = append(data, outer[end:]...)
	data = claim(data, 2)
	binary.LittleEndian.PutUint32(data[len(data)-endSize+12:], uint32(len(data)-endSize-at))
	return data
}

func TestContextEndsExtract(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	data := zipOf(t, item{name: "a", content: "a"})
	if _, err := Extract(ctx, io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), root,
		small); !errors.Is(err, context.Canceled) {
		t.Errorf("Extract = %v", err)
	}
}

// TestManyEntries unpacks 100,000 entries and looks at the memory.
func TestManyEntries(t *testing.T) {
	const n = 100_000
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for i := range n {
		// A name that is refused: the disk is not what is looked at.
		if _, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("../%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b := DefaultBudget
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s, _, err := extract(t, buf.Bytes(), b)
	runtime.ReadMemStats(&after)
	if err != nil || len(s.Skipped)+s.More != n {
		t.Errorf("Extract = %d skipped, %v", len(s.Skipped)+s.More, err)
	}
	runtime.KeepAlive(buf)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 32<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	b.Files = n - 1
	if _, _, err := extract(t, buf.Bytes(), b); !errs.Is(err, errs.Invalid) {
		t.Errorf("with a budget of %d files: %v", b.Files, err)
	}
}

// TestManyLinks unpacks links and folders with long names and looks at the memory. The
// names stand in extended headers with further text, as nothing but an attacker writes it.
func TestManyLinks(t *testing.T) {
	const n = 40_000
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	w := tar.NewWriter(zw)
	long := strings.Repeat("n", 200) + "/" + strings.Repeat("m", 200)
	for i := range n {
		h := &tar.Header{Name: fmt.Sprintf("%s%d", long, i), Typeflag: tar.TypeSymlink,
			Linkname: fmt.Sprintf("%s/%d", long, i),
			Format:   tar.FormatPAX, PAXRecords: map[string]string{"MERLON.test": strings.Repeat("x", 8<<10)}}
		if i%20 == 0 {
			h.Name, h.Typeflag, h.Linkname = fmt.Sprintf("%s-%d/", long, i), tar.TypeDir, ""
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	b := DefaultBudget
	b.Ratio = 1 << 20
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	x := newExtractor(t.Context(), int64(buf.Len()), dir, b)
	if err := x.tarGzip(bytes.NewReader(buf.Bytes())); err != nil {
		t.Fatal(err)
	}
	// What the extractor holds on to before it looks at the links.
	var held, let runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&held)
	if err := x.resolveLinks(); err != nil || len(x.summary.Skipped)+x.summary.More != n-n/20 {
		t.Errorf("%d links skipped, %v", len(x.summary.Skipped)+x.summary.More, err)
	}
	x = nil
	runtime.GC()
	runtime.ReadMemStats(&let)
	if kept := int64(held.HeapAlloc) - int64(let.HeapAlloc); kept > 16<<20 {
		t.Errorf("the extractor kept %d MiB", kept>>20)
	}
}

// TestLinkTargets counts links to what stands in front of them and behind them, and skips
// one whose target no file can have.
func TestLinkTargets(t *testing.T) {
	items := []item{
		{name: "early", mode: fs.ModeSymlink, link: "b/file"}, {name: "b/file", content: "x"},
		{name: "late", mode: fs.ModeSymlink, link: "b/file"},
		{name: "long", mode: fs.ModeSymlink, link: strings.Repeat("l", 301)},
	}
	for format, data := range map[string][]byte{"zip": zipOf(t, items...), "tar": tarOf(t, items...)} {
		s, _, err := extract(t, data, small)
		want := []Skip{{"long", "a link with a target longer than 300 bytes"}}
		if diff := cmp.Diff(want, s.Skipped); err != nil || s.Links != 2 || diff != "" {
			t.Errorf("%s: %d links, %v, skipped (-want +got):\n%s", format, s.Links, err, diff)
		}
	}
}

// TestFoldersAreCountedOnce has a budget of exactly the folders that are made, more than
// are remembered.
func TestFoldersAreCountedOnce(t *testing.T) {
	var items []item
	for range 2 { // the second time they are there
		for i := range maxFolders + 10 {
			items = append(items, item{name: fmt.Sprintf("d%d/", i)})
		}
	}
	b := small
	b.Files = len(items) + maxFolders + 10
	if s, _, err := extract(t, tarOf(t, items...), b); err != nil || len(s.Skipped) != 0 {
		t.Errorf("Extract = %+v, %v", s, err)
	}
}

// TestOtherTools unpacks what the usual tools write, as streams, which makes them
// put sizes behind the data.
func TestOtherTools(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"a.txt": "hello", "sub/b.txt": strings.Repeat("b", 100_000)} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := tree600(t, dir)
	for format, command := range map[string][]string{
		"zip": {"python3", "-c", "import zipfile,sys,os\nclass W:\n def write(s,b): return " +
			"sys.stdout.buffer.write(b)\n def flush(s): pass\nz=zipfile.ZipFile(W(),'w',zipfile.ZIP_DEFLATED)\n[z.write(f) for f in ('a.txt','sub/b.txt')]\nf=z.open('big','w',force_zip64=True);f.close()\nz.close()"},
		"tar":    {"tar", "-cf", "-", "."},
		"tar.gz": {"tar", "-czf", "-", "."},
	} {
		t.Run(format, func(t *testing.T) {
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Skipf("%s is not installed", command[0])
			}
			cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
			cmd.Dir = dir
			data, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			s, got, err := extract(t, data, small)
			delete(got, "big")
			if err != nil || s.Format != format || len(s.Skipped) > 0 {
				t.Fatalf("Extract = %+v, %v", s, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// tree600 is tree after a change of modes.
func tree600(t testing.TB, dir string) map[string]string {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree(t, dir)
}

// TestLargeDirectoryClaims gives an archive that claims far more than it holds.
func TestLargeDirectoryClaims(t *testing.T) {
	end := make([]byte, end64Size+locator64Size+endSize)
	binary.LittleEndian.PutUint32(end, end64Signature)
	binary.LittleEndian.PutUint64(end[32:], 1<<40) // entries
	binary.LittleEndian.PutUint64(end[40:], 1<<50) // size
	binary.LittleEndian.PutUint32(end[end64Size:], locator64Signature)
	e := end[end64Size+locator64Size:]
	binary.LittleEndian.PutUint32(e, endSignature)
	binary.LittleEndian.PutUint16(e[10:], 0xffff)
	if _, _, err := extract(t, append([]byte("PK"), end...), small); !errs.Is(err, errs.Invalid) {
		t.Errorf("Extract = %v", err)
	}
}

func FuzzExtract(f *testing.F) {
	items := []item{{name: "a/b", content: "hello"}, {name: "../c", content: "x"},
		{name: "l", mode: fs.ModeSymlink, link: "a/b"}}
	f.Add(zipOf(f, items...))
	f.Add(tarOf(f, items...))
	f.Add(gzipOf(f, tarOf(f, items...)))
	f.Add(overlapping(f))
	f.Add(rawZip(f, zip.FileHeader{Name: "e", Flags: 1, CompressedSize64: 2, UncompressedSize64: 1 << 59},
		[]byte("ab")))
	b := Budget{Files: 20, Bytes: 1 << 20, FileBytes: 1 << 19, Ratio: 100, Depth: 4, PathBytes: 64}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, files, err := extract(t, data, b)
		var total int64
		for _, content := range files {
			total += int64(len(content))
		}
		if total > b.Bytes || len(files) > b.Files {
			t.Errorf("%d files with %d bytes", len(files), total)
		}
		if err == nil && (s.Files != len(files) || s.Bytes != total) {
			t.Errorf("summary %+v, but %d files with %d bytes", s, len(files), total)
		}
		if err != nil && !errs.Is(err, errs.Invalid) {
			t.Errorf("an archive cannot cause %v", err)
		}
	})
}
