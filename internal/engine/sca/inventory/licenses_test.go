package inventory

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"merlon/internal/scan"
)

const iscText = "ISC License\n\nCopyright (c) 2020, Somebody\n\nPermission to use, copy, modify, and/or distribute " +
	"this software for any\npurpose with or without fee is hereby granted, provided that the above\ncopyright notice " +
	"and this permission notice appear in all copies.\n\nTHE SOFTWARE IS PROVIDED \"AS IS\" AND THE AUTHOR DISCLAIMS " +
	"ALL WARRANTIES\nWITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF\nMERCHANTABILITY AND FITNESS. " +
	"IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY\nSPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY " +
	"DAMAGES WHATSOEVER\nRESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT,\nNEGLIGENCE " +
	"OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE\nUSE OR PERFORMANCE OF THIS SOFTWARE.\n"

// jar makes an archive with one file.
func jar(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestLicenses(t *testing.T) {
	pom := `<project><licenses><license><name>Apache License, Version 2.0</name></license><license><name>EPL 2.0</name></license></licenses></project>`
	files := map[string]string{
		"package-lock.json": `{"packages":{"node_modules/a":{"version":"1.0.0","license":"(MIT OR CC0-1.0)"},"node_modules/@s/b":{"version":"2.0.0"},
"node_modules/c":{"version":"3.0.0"},"node_modules/d":{"version":"4.0.0"},"node_modules/e":{"version":"5.0.0"}}}`,
		"node_modules/@s/b/package.json": `{"version":"2.0.0","license":{"type":"BSD-3-Clause"}}`,
		"node_modules/c/package.json":    `{"version":"3.0.0","licenses":[{"type":"MIT"},{"type":"Apache 2.0"}]}`,
		"node_modules/d/package.json":    `{"version":"4.0.0","license":"SEE LICENSE IN LICENSE"}`,
		"node_modules/d/LICENSE":         iscText,
		"node_modules/e/package.json":    `{"version":"5.0.1","license":"MIT"}`,

		"composer.lock":                  `{"packages":[{"name":"x/y","version":"v1.0","license":["MIT","GPL-3.0-or-later"]},{"name":"x/z","version":"v2.0"}]}`,
		"vendor/composer/installed.json": `{"packages":[{"name":"x/z","version":"v2.0","license":["LGPL-3.0-only"]}]}`,

		"requirements.txt": "Py_One==1.0\ntwo==2.0\n",
		"venv/site-packages/py_one-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: py-one\nVersion: " +
			"1.0\nLicense: BSD\nClassifier: License :: OSI Approved :: Apache Software License\n\nLicense: no\n",
		"venv/site-packages/two-2.0.dist-info/METADATA": "Metadata-Version: 2.4\nName: two\nVersion: " +
			"2.0\nLicense-Expression: MIT AND ISC\n",

		"Gemfile.lock": "GEM\n  specs:\n    rack (2.0)\n\nDEPENDENCIES\n  rack\n",
		"vendor/bundle/ruby/3.0.0/specifications/rack-2.0.gemspec": "Gem::Specification.new do |s|\n  s.name = " +
			"\"rack\".freeze\n  s.version = \"2.0\"\n  s.licenses = [\"MIT\".freeze, \"Ruby\".freeze]\nend\n",

		"Cargo.lock":             "[[package]]\nname = \"time\"\nversion = \"0.1.0\"\nsource = \"registry+x\"\n",
		"vendor/time/Cargo.toml": "[package]\nname = \"time\"\nversion = \"0.1.0\"\nlicense = \"MIT/Apache-2.0\"\n",

		"go.mod":                          "module x\ngo 1.22\nrequire example.com/m v1.0.0\n",
		"vendor/modules.txt":              "# example.com/m v1.0.0\n",
		"vendor/example.com/m/LICENSE.md": iscText,

		"pom.xml":                           `<project><dependencies><dependency><groupId>g</groupId><artifactId>p</artifactId><version>1.0</version></dependency><dependency><groupId>g</groupId><artifactId>j</artifactId><version>1.0</version></dependency></dependencies></project>`,
		"repo/g/p/1.0/p-1.0.pom":            pom,
		"lib/j-1.0.jar":                     jar(t, "META-INF/maven/g/j/pom.xml", pom),
		"app.csproj":                        `<Project><ItemGroup><PackageReference Include="N.One" Version="1.0.0"/></ItemGroup></Project>`,
		"packages/n.one/1.0.0/n.one.nuspec": `<package><metadata><id>N.One</id><version>1.0.0</version><license type="expression">MIT</license></metadata></package>`,
	}
	tree := fstest.MapFS{}
	in := Tree{Context: t.Context(), FS: tree, Degrade: func(scan.Reason) {}}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
		in.Files = append(in.Files, scan.File{Path: name, Size: int64(len(text))})
	}
	slices.SortFunc(in.Files, func(a, b scan.File) int { return strings.Compare(a.Path, b.Path) })
	list, err := Take(in)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range list {
		if len(p.Licenses) > 0 {
			got[p.Name] = strings.Join(p.Licenses, ", ")
		}
	}
	want := map[string]string{
		"a": "(MIT OR CC0-1.0)", "@s/b": "BSD-3-Clause", "c": "MIT OR Apache-2.0", "d": "ISC",
		"x/y": "MIT OR GPL-3.0-or-later", "x/z": "LGPL-3.0-only",
		"Py_One": "Apache-2.0", "two": "MIT AND ISC", "py-one": "Apache-2.0", "rack": "MIT OR Ruby",
		"time": "MIT OR Apache-2.0", "example.com/m": "ISC",
		"stdlib": "BSD-3-Clause", "g:p": "Apache-2.0 OR EPL-2.0", "g:j": "Apache-2.0 OR EPL-2.0", "N.One": "MIT",
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: got %q, want %q", name, got[name], want[name])
		}
	}
	for name := range got {
		if want[name] == "" {
			t.Errorf("%s: got %q, want nothing", name, got[name])
		}
	}
}

// FuzzMetadata gives hostile files to the readers of installed packages.
func FuzzMetadata(f *testing.F) {
	f.Add(uint8(0), []byte(`{"version":"1","license":{"type":"MIT"},"licenses":[{"type":"x"}]}`))
	f.Add(uint8(1), []byte("Version: 1\nLicense: MIT\nClassifier: License :: x\n"))
	f.Add(uint8(2), []byte("s.version = \"1\"\ns.licenses = ['a', \"b\n"))
	f.Add(uint8(3), []byte("<project><licenses><license><name>MIT</name></license></licenses></project>"))
	f.Add(uint8(4), []byte("PK\x05\x06"))
	names := []string{"node_modules/a/package.json", "a-1.dist-info/METADATA", "v/specifications/a-1.gemspec",
		"a-1.pom", "a-1.jar", "a.nuspec", "vendor/a/Cargo.toml", "composer/installed.json"}
	lockFiles := map[string]string{
		"package-lock.json": `{"packages":{"node_modules/a":{"version":"1"}}}`, "requirements.txt": "a==1\n",
		"Gemfile.lock":    "GEM\n  specs:\n    a (1)\n",
		"gradle.lockfile": "a:a:1=x\n", "packages.lock.json": `{"dependencies":{"n":{"a":{"resolved":"1"}}}}`,
		"Cargo.lock":    "[[package]]\nname=\"a\"\nversion=\"1\"\nsource=\"r\"\n",
		"composer.lock": `{"packages":[{"name":"a","version":"1"}]}`,
	}
	f.Fuzz(func(t *testing.T, which uint8, content []byte) {
		tree := fstest.MapFS{names[int(which)%len(names)]: &fstest.MapFile{Data: content}}
		for name, text := range lockFiles {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
		in := Tree{Context: t.Context(), FS: tree, Degrade: func(scan.Reason) {}}
		for name := range tree {
			in.Files = append(in.Files, scan.File{Path: name})
		}
		if _, err := Take(in); err != nil {
			t.Error(err)
		}
	})
}
