package cli

import (
	"os"
	"path/filepath"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// packageCollector keeps the licences of packages.
type packageCollector struct {
	scan.Summary
	licenses []string
}

func (c *packageCollector) Package(p *finding.Package) error {
	c.licenses = append(c.licenses, p.Licenses...)
	return nil
}

// Licences are taken from the caches of the user for a report, and not for a worker, for an
// image, or against the flag. What the tree says stands.
func TestLicenseCaches(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".cargo", "registry", "src", "index", "time-0.3.1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Cargo.toml"), []byte("[package]\nname = \"time\"\nversion = "+
		"\"0.3.1\"\nlicense = \"MIT\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	host := Host{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}
	pkg := finding.Package{Ecosystem: "crates.io", Name: "time", Version: "0.3.1"}
	said := pkg
	said.Licenses = []string{"Apache-2.0"}
	for _, test := range []struct {
		name    string
		command scanCommand
		pkg     finding.Package
		want    string
	}{
		{"a report", scanCommand{LicenseCaches: true, Format: "json"}, pkg, "MIT"},
		{"the tree says it", scanCommand{LicenseCaches: true, Format: "json"}, said, "Apache-2.0"},
		{"a worker", scanCommand{LicenseCaches: true, Format: "stream"}, pkg, ""},
		{"an image", scanCommand{LicenseCaches: true, Image: "x"}, pkg, ""},
		{"the flag", scanCommand{Format: "json"}, pkg, ""},
	} {
		var c packageCollector
		if err := test.command.withLicenseCaches(host, &c).Package(&test.pkg); err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(c.licenses) > 0 {
			got = c.licenses[0]
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
