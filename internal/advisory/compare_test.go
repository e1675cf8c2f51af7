package advisory

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseVersion(t *testing.T) {
	tests := []struct {
		ecosystem   string
		good, wrong []string
	}{
		{"npm", []string{"1.2.3", "v1.2.3", "1", "1.2.3-rc.1+build", "0.0.0-0"},
			[]string{"", "latest", "^1.2.3", "~1", ">=1", "1.x || 2", "file:../a", "workspace:*", "npm:a@1"}},
		{"Go", []string{"1.22", "0.0.0-20200101000000-abcdefabcdef", "1.0.0+incompatible"},
			[]string{"(devel)", "./local"}},
		{"PyPI", []string{"1.0", "1!2.0", "2.0rc1", "1.0.dev3", "1.0+cu117"}, []string{"one", "==1.0", "1.0,<2", "*"}},
		{"Maven", []string{"1.0", "Finchley.SR1", "1.0-SNAPSHOT", "31.1-jre"},
			[]string{"${v}", "[1.0,2.0)", "(,1.0]", ""}},
		{"Packagist", []string{"v3.4.0", "1.0.0-beta1"}, []string{"dev-master"}},
		{"RubyGems", []string{"4.2.0", "1.0.0.rc1"}, []string{"head"}},
		{"Debian:12", []string{"1:2.3-4~deb12u1+b1", "0~git2020"}, []string{"one two"}},
		{"crates.io", []string{"0.1.40", "0.8.2-0"},
			[]string{strings.Repeat("1", maxVersion+1), strings.Repeat("a1", 20)}},
		{"GitHub Actions", []string{"v4", "v4.1.0"}, []string{"main", strings.Repeat("0a", 20)}},
	}
	for _, test := range tests {
		c := newComparer(test.ecosystem)
		for _, s := range test.good {
			if _, err := c.parseCached(s); err != nil {
				t.Errorf("%s %q: got %v, want a version", test.ecosystem, s, err)
			}
		}
		for _, s := range test.wrong {
			if _, err := c.parseCached(s); err == nil {
				t.Errorf("%s %q: taken for a version", test.ecosystem, s)
			}
		}
	}
}

func TestSortEvents(t *testing.T) {
	events := []event{{fixed, "2.0.0"}, {limit, "9.0.0"}, {introduced, "1.10.0"}, {fixed, "1.2.0"},
		{introduced, "1.2.0"}, {introduced, "0"}, {limit, "*"}}
	want := []event{{introduced, "0"}, {fixed, "1.2.0"}, {introduced, "1.2.0"}, {introduced, "1.10.0"},
		{fixed, "2.0.0"}, {limit, "9.0.0"}, {limit, "*"}}
	if err := newComparer("npm").sortEvents(events); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, events, cmp.AllowUnexported(event{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLeadingNumber(t *testing.T) {
	for s, want := range map[string]string{"1.2": "1", "v10.0": "10", "007": "7", "0.1": "", "alpha": "",
		"release-12-x": "12"} {
		if got := leadingNumber(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

func TestClears(t *testing.T) {
	rangeOf := func(events ...event) affected { return affected{ecosystem: "npm", ranges: [][]event{events}} }
	a := rangeOf(event{introduced, "0"}, event{fixed, "1.5.0"}, event{introduced, "2.0.0"}, event{fixed, "2.1.0"})
	b := rangeOf(event{introduced, "0"}, event{fixed, "1.7.0"})
	again := rangeOf(event{introduced, "0"}, event{fixed, "v1.7.0"})
	for _, test := range []struct {
		records []*affected
		present string
		fixes   []string
		upgrade string
	}{
		{[]*affected{&a}, "1.0.0", []string{"1.5.0", "2.1.0"}, "1.5.0"},
		{[]*affected{&a}, "2.0.5", []string{"1.5.0", "2.1.0"}, "2.1.0"},
		{[]*affected{&a, &b}, "1.0.0", []string{"1.7.0", "2.1.0"}, "1.7.0"},
		{[]*affected{&b, &again}, "1.0.0", []string{"1.7.0"}, "1.7.0"},
		{[]*affected{&b}, "unreadable", []string{"1.7.0"}, ""},
	} {
		fixes, upgrade := newComparer("npm").listFixes(test.records, test.present)
		if !slices.Equal(fixes, test.fixes) || upgrade != test.upgrade {
			t.Errorf("%s: got %v and %q, want %v and %q", test.present, fixes, upgrade, test.fixes, test.upgrade)
		}
	}
}

func TestComponents(t *testing.T) {
	record := func(names ...string) affected { return affected{names: names} }
	list := []affected{
		record("A", "CVE-1"), record("B", "CVE-2"), record("C", "CVE-3"), record("D", "CVE-1", "CVE-3"), record("E"),
	}
	var got []string
	for _, group := range groupAliases(list) {
		var ids []string
		for _, a := range group {
			ids = append(ids, a.names[0])
		}
		got = append(got, strings.Join(ids, ""))
	}
	if want := []string{"ACD", "B", "E"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
