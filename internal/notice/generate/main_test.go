package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoticesAreCurrent fails when go.mod and the notices differ.
func TestNoticesAreCurrent(t *testing.T) {
	components, err := collectComponents(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	list, texts, err := encode(components)
	if err != nil {
		t.Fatal(err)
	}
	oldList, err := os.ReadFile(filepath.Join("..", componentsFile))
	if err != nil {
		t.Fatal(err)
	}
	oldTexts, err := readCompressed(filepath.Join("..", textsFile))
	if err != nil {
		t.Fatal(err)
	}
	const remedy = "run go generate ./internal/notice and read what it adds"
	if added, removed := differ(string(list), string(oldList)); len(added)+len(removed) > 0 {
		t.Errorf("%s: missing %q, too much %q: %s", componentsFile, added, removed, remedy)
	}
	if string(oldTexts) != string(texts) {
		t.Errorf("%s has other texts than the modules: %s", textsFile, remedy)
	}
}

// differ returns the lines that only one of two texts has.
func differ(now, before string) (added, removed []string) {
	only := func(a, b string) (out []string) {
		for line := range strings.Lines(a) {
			if !strings.Contains(b, line) {
				out = append(out, strings.TrimSpace(line))
			}
		}
		return out
	}
	return only(now, before), only(before, now)
}

const mit = `MIT License

Copyright (c) 2020 Somebody

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`

func TestReadModule(t *testing.T) {
	gpl := "GNU GENERAL PUBLIC LICENSE\n\nThis program is free software: you can redistribute it and/or modify it " +
		"under the terms of the GNU General Public License as published by the Free Software Foundation, either " +
		"version 3 of the License, or (at your option) any later version.\n"
	tests := map[string]struct {
		files   map[string]string
		hasC    bool
		license string
		shipped string // paths, in order
		err     string
	}{
		"a licence": {files: map[string]string{"LICENSE": mit, "README.md": "Hello"}, license: "MIT", shipped: "LICENSE"},
		"a notice beside it": {files: map[string]string{"LICENSE.txt": mit, "NOTICE": "Copyright Somebody"}, license: "MIT",
			shipped: "LICENSE.txt NOTICE"},
		"of copied code in a linked package": {files: map[string]string{"COPYING": mit, "linked/part/LICENSE": mit,
			"other/LICENSE": gpl}, license: "MIT", shipped: "COPYING linked/part/LICENSE"},
		"of C code in no package":        {files: map[string]string{"LICENSE": mit, "src/in/LICENSE": mit}, hasC: true, license: "MIT", shipped: "LICENSE src/in/LICENSE"},
		"of documentation is not needed": {files: map[string]string{"LICENSE": mit, "LICENSE.docs": gpl}, license: "MIT", shipped: "LICENSE"},
		"none":                           {files: map[string]string{"README.md": mit}, err: "example.org/m v1.0.0 has no file with a licence"},
		"code about licences is none":    {files: map[string]string{"license.go": "package m"}, err: "no file with a licence"},
		"a notice is no licence":         {files: map[string]string{"NOTICE": "Copyright Somebody"}, err: "no file with a licence"},
		"an unknown one":                 {files: map[string]string{"LICENSE": "Ask me first."}, err: "the licence in LICENSE is not recognized"},
		"strong copyleft":                {files: map[string]string{"LICENSE": gpl}, err: "neither permissive nor weak copyleft"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := &module{Path: "example.org/m", Version: "v1.0.0", Dir: t.TempDir(), folders: []string{".", "linked/part"},
				hasC: test.hasC}
			for path, text := range test.files {
				path = filepath.Join(m.Dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c, err := readModule(m)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var shipped []string
			for _, f := range c.files {
				shipped = append(shipped, f.path)
			}
			if got := strings.Join(shipped, " "); c.license != test.license || got != test.shipped {
				t.Errorf("licence %s with %s, want %s with %s", c.license, got, test.license, test.shipped)
			}
		})
	}
}

func TestEqualTextsAreKeptOnce(t *testing.T) {
	list, texts, err := encode([]component{
		{name: "b", version: "v2", license: "MIT", files: []file{{"LICENSE", normalize("\ufeffone\r\ntwo  \r\n")}}},
		{name: "a", version: "v1", license: "MIT", files: []file{{"COPYING", normalize("\none\ntwo")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	digest := digestOf("one\ntwo")
	if want := `{"` + digest + `":"one\ntwo"}`; string(texts) != want {
		t.Errorf("texts %s, want %s", texts, want)
	}
	_, lines, _ := strings.Cut(string(list), "\n")
	if want := "a\tv1\tMIT\tCOPYING=" + digest + "\nb\tv2\tMIT\tLICENSE=" + digest + "\n"; lines != want {
		t.Errorf("list %q, want %q", lines, want)
	}
}
