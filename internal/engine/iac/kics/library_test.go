package kics

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"merlon/internal/engine/iac/kics/module"
	"merlon/internal/scan"
)

// TestMain fails all tests of the package with one clear text when the library is
// missing: none of them means anything without it.
func TestMain(m *testing.M) {
	if _, err := sharedLibrary(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// zipOf makes an archive with a comment and files.
func zipOf(t *testing.T, comment string, files map[string]string) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if err := z.SetComment(comment); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

// withoutRandomAccess is a file system whose files can only be read from the start.
type withoutRandomAccess struct{ fs.FS }

func (f withoutRandomAccess) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	return struct{ fs.File }{file}, err
}

// TestOpenLibrary says of each archive that cannot be used what is wrong with it; only
// a missing one and one of another version are parts that the build lacks.
func TestOpenLibrary(t *testing.T) {
	common := map[string]string{"common.json": "{}"}
	good := fstest.MapFS{archiveName: zipOf(t, module.Format+" queries v1", common)}
	if l, err := openLibrary(good); err != nil || l.files["common.json"] == nil {
		t.Errorf("a good archive: %v", err)
	}
	for name, c := range map[string]struct {
		files   fs.FS
		missing bool
		want    string
	}{
		"no archive":        {fstest.MapFS{"library/README.md": {}}, true, `run "make library"`},
		"another version":   {fstest.MapFS{archiveName: zipOf(t, "format 0, queries v1", common)}, true, "another version"},
		"no stamp":          {fstest.MapFS{archiveName: zipOf(t, "", common)}, true, "another version"},
		"not an archive":    {fstest.MapFS{archiveName: {Data: []byte("PK")}}, false, "not a valid zip file"},
		"no constants":      {fstest.MapFS{archiveName: zipOf(t, module.Format, nil)}, false, "has no common.json"},
		"broken constants":  {fstest.MapFS{archiveName: zipOf(t, module.Format, map[string]string{"common.json": "{"})}, false, "decode"},
		"no random access":  {withoutRandomAccess{good}, false, "no random access"},
		"a folder in place": {fstest.MapFS{archiveName + "/x": {}}, false, "no random access"},
	} {
		_, err := openLibrary(c.files)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if got := errors.Is(err, ErrNoLibrary) && errors.Is(err, scan.ErrMissingPart); got != c.missing {
			t.Errorf("%s: a part that is missing: %v, want %v", name, got, c.missing)
		}
	}
}

// TestLibraryIsPinnedVersion compares the archive of this build with the version that
// source/go.mod pins, and the notice with both.
func TestLibraryIsPinnedVersion(t *testing.T) {
	text, err := os.ReadFile("source/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, version, ok := strings.Cut(string(text), "require github.com/Checkmarx/kics/v2 ")
	if !ok {
		t.Fatal("source/go.mod requires no KICS")
	}
	file, err := zip.OpenReader(archiveName)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if want := "queries " + strings.TrimSpace(version) + ","; !strings.Contains(file.Comment, want) {
		t.Errorf("the library is %q, source/go.mod pins %q: run make library", file.Comment, want)
	}
}
