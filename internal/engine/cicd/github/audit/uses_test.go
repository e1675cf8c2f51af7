package audit

import "testing"

func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		sign int
	}{
		{"1.2.3", "1.2.3", 0}, {"v1.2.3", "1.2.3", 0}, {"1.2.3", "1.2.4", -1}, {"1.10.0", "1.9.0", 1},
		{"4", "4.2.1", 1}, {"3", "4.0.0", -1}, {"2.0.0", "10.0.0", -1},
	} {
		got := compareVersions(c.a, c.b)
		if got < 0 && c.sign >= 0 || got > 0 && c.sign <= 0 || got == 0 && c.sign != 0 {
			t.Errorf("compareVersions(%q, %q) = %d, want sign %d", c.a, c.b, got, c.sign)
		}
	}
}

func TestDiffersByOneEdit(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"actions/checkout", "actions/checkout", false},
		{"action/checkout", "actions/checkout", true},
		{"actionss/checkout", "actions/checkout", true},
		{"actoins/checkout", "actions/checkout", true},
		{"octions/checkout", "actions/checkout", true},
		{"acctionss/checkout", "actions/checkout", false},
		{"actions/cache", "actions/checkout", false},
		{"", "a", true},
	} {
		if got := differsByOneEdit(c.a, c.b); got != c.want {
			t.Errorf("differsByOneEdit(%q, %q) = %v", c.a, c.b, got)
		}
		if got := differsByOneEdit(c.b, c.a); got != c.want {
			t.Errorf("differsByOneEdit(%q, %q) = %v", c.b, c.a, got)
		}
	}
}

func TestIsBelowMajor(t *testing.T) {
	for uses, want := range map[string]bool{"a/b@v3": true, "a/b@v4": false, "a/b@v4.1.0": false, "a/b@main": true} {
		if got := isBelowMajor(uses, 4); got != want {
			t.Errorf("isBelowMajor(%q, 4) = %v", uses, got)
		}
	}
}

func TestHasWorkspacePath(t *testing.T) {
	for paths, want := range map[string]bool{"node_modules": true, "~/.cache": false, "/tmp/x": false, "": false,
		"~/.cache\ndist": true, "!dist": false} {
		if got := hasWorkspacePath(paths); got != want {
			t.Errorf("hasWorkspacePath(%q) = %v", paths, got)
		}
	}
}
