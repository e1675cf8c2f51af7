package analyzer

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/callgraph"
	"merlon/internal/scan"
)

// pass returns a pass over the files, and where the reasons go.
func pass(files fstest.MapFS) (*scan.ProjectPass, *[]scan.Reason) {
	var reasons []scan.Reason
	p := &scan.ProjectPass{Context: context.Background(), FS: unreadable{files}, Reporter: scan.Reporter{
		Degrade: func(r scan.Reason) { reasons = append(reasons, r) }}}
	for _, name := range []string{"a.properties", "b.properties", "deep/c.properties", "go.mod",
		"node_modules/a.properties", "x/go.mod"} {
		if f := files[name]; f != nil {
			p.Files = append(p.Files, scan.File{Path: name, Size: int64(len(f.Data))})
		}
	}
	return p, &reasons
}

// unreadable fails on files that have no bits of a mode.
type unreadable struct{ fstest.MapFS }

func (u unreadable) ReadFile(name string) ([]byte, error) {
	if u.MapFS[name].Mode == 0 {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrPermission}
	}
	return u.MapFS[name].Data, nil
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text), Mode: 0o600} }

var (
	inJava = []sast.Source{{Path: "A.java"}}
	inGo   = []sast.Source{{Path: "a.go"}}
)

func TestSettings(t *testing.T) {
	p, reasons := pass(fstest.MapFS{"a.properties": file("x=1\ny=2\n"), "b.properties": file("x = 1\ny: 3\n"),
		"deep/c.properties": file("z=caf\xe9")})
	if diff := cmp.Diff(map[string]string{"x": "1", "z": "café"}, readProperties(p, inJava)); diff != "" {
		t.Error(diff)
	}
	if len(*reasons) > 0 {
		t.Errorf("reasons %v", *reasons)
	}
}

// What cannot be read is said, once for each file, and the others count.
func TestSettingsDegrade(t *testing.T) {
	files := fstest.MapFS{"a.properties": file("x=\\u12"), "b.properties": {},
		"deep/c.properties": file("x=1\n#" + strings.Repeat("-", maxSettings)),
		"go.mod":            file("modul a\n"), "x/go.mod": file("module example.org/x\n"),
		"node_modules/a.properties": file("x=\\u12")}
	p, reasons := pass(files)
	if got := readProperties(p, inJava); len(got) > 0 {
		t.Errorf("settings %v", got)
	}
	if diff := cmp.Diff([]callgraph.Module{{Path: "example.org/x", Folder: "x"}}, readGoModules(p, inGo)); diff != "" {
		t.Error(diff)
	}
	var got []string
	for _, r := range *reasons {
		got = append(got, r.Code+" "+r.Path+": "+r.Message)
	}
	want := []string{
		"malformed a.properties: not read as properties: Line 1: invalid unicode literal",
		"unreadable b.properties: read b.properties: permission denied",
		"too-large deep/c.properties: the file has 1048581 bytes; what the code means is read from files up to 1048576",
		"malformed go.mod: not a module file: it does not name its module",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	p, reasons = pass(files)
	if readProperties(p, inGo) != nil || readGoModules(p, inJava) != nil || len(*reasons) > 0 {
		t.Errorf("settings of a language that nobody uses are read: %v", *reasons)
	}
}

func FuzzSettings(f *testing.F) {
	for _, text := range []string{"a=b", "a:b\\\n c", "\\u0041=\\u12", "=", "a=${b}\nb=${a}", "\xff\x00=\xfe"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, reasons := pass(fstest.MapFS{"a.properties": file(text)})
		if readProperties(p, inJava) == nil && len(*reasons) == 0 {
			t.Error("the settings are lost, and nobody says so")
		}
	})
}
