package advisory

import (
	"slices"
	"testing"

	"merlon/internal/finding"
)

func TestCompareNames(t *testing.T) {
	sorted := []string{"CVE-2019-10000", "CVE-2020-999", "CVE-2020-9999", "CVE-2020-10000", "GHSA-2222-aaaa",
		"GHSA-aaaa", "GO-2020-1", "PYSEC-2020-2", "PYSEC-2020-2-1"}
	for i, a := range sorted {
		for j, b := range sorted {
			got := compareNames(a, b)
			if got != -compareNames(b, a) {
				t.Errorf("%s and %s: the order depends on the side", a, b)
			}
			if (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%s and %s: got %d", a, b, got)
			}
		}
	}
	if !slices.IsSortedFunc(sorted, compareNames) {
		t.Error("the list is not sorted")
	}
}

func TestNameAdvisory(t *testing.T) {
	for _, test := range []struct {
		aliases       []string
		id, cve, ghsa string
		malicious     bool
	}{
		{[]string{"GHSA-b", "CVE-2021-2", "GHSA-a", "CVE-2021-1"}, "CVE-2021-1", "CVE-2021-1", "GHSA-a", false},
		{[]string{"PYSEC-1", "GHSA-a"}, "GHSA-a", "", "GHSA-a", false},
		{[]string{"RUSTSEC-2", "RUSTSEC-1"}, "RUSTSEC-1", "", "", false},
		{[]string{"MAL-2024-1"}, "MAL-2024-1", "", "", true},
	} {
		a := finding.Advisory{Aliases: test.aliases}
		nameAdvisory(&a, nil)
		if a.ID != test.id || a.CVE != test.cve || a.GHSA != test.ghsa || a.Malicious != test.malicious {
			t.Errorf("%v: got %q, %q, %q, %t", test.aliases, a.ID, a.CVE, a.GHSA, a.Malicious)
		}
	}
}

func TestCVSS(t *testing.T) {
	// Scores from the examples of the specifications at first.org.
	for _, test := range []struct {
		vector, version string
		score           float64
	}{
		{"AV:N/AC:L/Au:N/C:N/I:N/A:C", "2.0", 7.8},
		{"CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", "3.0", 9.8},
		{"CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:L/I:L/A:N", "3.1", 6.4},
		{"CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", "4.0", 9.3},
	} {
		version, score, ok := scoreCVSS(test.vector)
		if !ok || version != test.version || score != test.score {
			t.Errorf("%s: got %s %v %t, want %s %v", test.vector, version, score, ok, test.version, test.score)
		}
	}
	for _, vector := range []string{"", "7.5", "CVSS:3.1/AV:N", "CVSS:4.0/",
		"CVSS:9.9/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", "AV:X"} {
		if version, score, ok := scoreCVSS(vector); ok {
			t.Errorf("%q: scored %v by %s", vector, score, version)
		}
	}
}

func TestFirstLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"\n\n# Title\n\nText":       "Title",
		"  One line. ":              "One line.",
		"##\nSecond":                "Second",
		string(make([]byte, 0, 10)): "",
	} {
		if got := firstLine(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestNormalName(t *testing.T) {
	for _, test := range []struct{ base, name, want string }{
		{"PyPI", "Foo__Bar.-baz", "foo-bar-baz"},
		{"PyPI", "zope.interface", "zope-interface"},
		{"PyPI", "trailing_", "trailing-"},
		{"NuGet", "Newtonsoft.Json", "newtonsoft.json"},
		{"crates.io", "Tokio_Util", "tokio-util"},
		{"SwiftURL", "https://github.com/Apple/swift-nio.git", "github.com/apple/swift-nio"},
		{"SwiftURL", "github.com/apple/swift-nio/", "github.com/apple/swift-nio"},
		{"npm", "JSONStream", "JSONStream"},
		{"Go", "github.com/BurntSushi/toml", "github.com/BurntSushi/toml"},
		{"Maven", "Org.X:Y", "Org.X:Y"},
	} {
		got := normalName(test.base, test.name)
		if got != test.want {
			t.Errorf("%s %s: got %s, want %s", test.base, test.name, got, test.want)
		}
		if again := normalName(test.base, got); again != got {
			t.Errorf("%s %s: normalised twice it is %s", test.base, got, again)
		}
	}
}
