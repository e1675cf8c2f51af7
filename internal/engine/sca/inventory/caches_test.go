package inventory

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLicenseCaches(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		"mods/example.com/!big/m@v1.2.0/LICENSE": iscText,
		"mods/example.com/none@v1.0.0/README":    "x",
		".m2/repository/org/x/child/1.0/child-1.0.pom": "<project><parent><groupId>org.x</groupId><artifactId>parent</artifactId>" +
			"<version>3</version></parent></project>",
		".m2/repository/org/x/parent/3/parent-3.pom": "<project><licenses><license><name>Apache License 2.0</name></license>" +
			"</licenses></project>",
		".m2/repository/org/x/loop/1/loop-1.pom": "<project><parent><groupId>org.x</groupId><artifactId>loop</artifactId>" +
			"<version>1</version></parent></project>",
		".gradle/caches/modules-2/files-2.1/org.g/a/2.0/abc/a-2.0.pom": "<project><licenses><license><name>MIT</name></license>" +
			"</licenses></project>",
		".cargo/registry/src/index/time-0.3.1/Cargo.toml": "[package]\nname = \"time\"\nversion = \"0.3.1\"\nlicense = " +
			"\"MIT OR Apache-2.0\"\n",
		".nuget/packages/n.one/1.0.0/n.one.nuspec": "<package><metadata><version>1.0.0</version><license type=\"expression\">" +
			"MIT</license></metadata></package>",
		".gem/ruby/3.3.0/specifications/rack-2.2.8.gemspec": "  s.version = \"2.2.8\"\n  s.licenses = [\"MIT\"]\n",
		"venv/lib/python3.12/site-packages/a_b-1.0.dist-info/METADATA": "Metadata-Version: 2.4\nVersion: 1.0\n" +
			"License-Expression: BSD-3-Clause\n",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := NewLicenseCaches(func(name string) string {
		return map[string]string{"HOME": home, "GOMODCACHE": filepath.Join(home, "mods"),
			"VIRTUAL_ENV": filepath.Join(home, "venv")}[name]
	})
	for _, test := range []struct{ ecosystem, name, version, want string }{
		{"Go", "example.com/Big/m", "1.2.0", "ISC"}, {"Go", "example.com/Big/m", "1.3.0", ""},
		{"Go", "example.com/none", "1.0.0", ""}, {"Go", "../mods/example.com/!big/m", "1.2.0", ""},
		{"Maven", "org.x:child", "1.0", "Apache-2.0"}, {"Maven", "org.x:loop", "1", ""}, {"Maven", "org.g:a", "2.0", "MIT"},
		{"Maven", "org.x", "1.0", ""}, {"crates.io", "time", "0.3.1", "MIT OR Apache-2.0"}, {"crates.io", "time", "0.3.2", ""},
		{"NuGet", "N.One", "1.0.0", "MIT"}, {"RubyGems", "rack", "2.2.8", "MIT"}, {"PyPI", "a-b", "1.0", "BSD-3-Clause"},
		{"npm", "x", "1.0.0", ""},
	} {
		for range 2 { // the second time from memory
			if got := c.License(test.ecosystem, test.name, test.version); got != test.want {
				t.Errorf("%s %s %s: got %q, want %q", test.ecosystem, test.name, test.version, got, test.want)
			}
		}
	}
	empty := NewLicenseCaches(func(string) string { return "" })
	if got := empty.License("Go", "example.com/Big/m", "1.2.0"); got != "" {
		t.Errorf("without a home folder: got %q", got)
	}
}
