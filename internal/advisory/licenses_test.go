package advisory

import (
	"path/filepath"
	"testing"
)

func TestLicenses(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	report := rebuild(t, first, "", map[string]string{
		"1.json": one("GO-1", "Go", "example.org/x", `"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":"1.0.0"}]}]`),
		"licences.csv": "name,ecosystem,license,version\n" +
			"Left_Pad,PyPI,MIT,\n" +
			"left-pad,PyPI,BSD-3-Clause,<1.0\n" +
			"lodash,npm,MIT,4.17.20\nlodash,npm,MIT,4.17.21\nlodash,npm,ISC,>=5.0.0 <6.0.0\n" +
			"broken,npm,MIT,>=x\nbroken,npm,,1.0.0\nshort,npm\n\"a,b\",npm,MIT,1.0.0\n"})
	if report.Licenses != 3 || report.Records != 1 || report.Added != 1 || len(report.Malformed) != 3 ||
		len(report.Unreadable) != 0 || report.Ecosystems["npm"].Packages != 0 {
		t.Errorf("got %+v", report)
	}
	// A later import replaces what is known of a package and keeps the others.
	report = rebuild(t, second, first, map[string]string{
		"x.csv": "ecosystem,name,version,license\nnpm,lodash,4.17.21,Apache-2.0\n"})
	if report.Licenses != 3 || report.Records != 1 {
		t.Errorf("got %+v", report)
	}
	for _, test := range []struct{ ecosystem, name, version, before, after string }{
		{"PyPI", "left.pad", "2.0", "MIT", "MIT"}, {"PyPI", "left-pad", "0.9", "BSD-3-Clause", "BSD-3-Clause"},
		{"npm", "lodash", "4.17.21", "MIT", "Apache-2.0"}, {"npm", "lodash", "4.17.20", "MIT", ""},
		{"npm", "lodash", "5.1.0", "ISC", ""}, {"npm", "lodash", "6.0.0", "", ""}, {"npm", "other", "1.0.0", "", ""},
		{"npm", "broken", "1.0.0", "", ""}, {"npm", "a,b", "1.0.0", "MIT", "MIT"}, {"Go", "lodash", "4.17.21", "", ""},
	} {
		for path, want := range map[string]string{first: test.before, second: test.after} {
			f, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.License(test.ecosystem, test.name, test.version); got != want {
				t.Errorf("%s: %s %s %s: got %q, want %q", filepath.Base(path), test.ecosystem, test.name, test.version, got,
					want)
			}
			if f.Knows(licenseEcosystem) {
				t.Error("licences count as records")
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
