package triage

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/finding"
)

// A cursor comes back from clients, which may send anything.
func TestParseCursor(t *testing.T) {
	want := Cursor{Sort: BySeverity, Descending: true, Keys: []any{"a", int64(-3)}, ID: "id"}
	if got, err := ParseCursor(want.String()); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for name, text := range map[string]string{
		"no base64": "%%%", "no JSON": encode("x"), "three keys": encode(`{"k":[1,2,3]}`),
		"a fraction":    encode(`{"k":[1.5]}`),
		"a huge number": encode(`{"k":[1e300]}`), "beyond exact integers": encode(`{"k":[18014398509481984]}`),
		"an object": encode(`{"k":[{}]}`), "a null": encode(`{"k":[null]}`),
		"a NUL in a key":  encode(`{"k":["\u0000"]}`),
		"a NUL in the id": encode(`{"i":"\u0000"}`), "too long": strings.Repeat("A", maxCursor+1),
	} {
		if c, err := ParseCursor(text); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: got %+v, %v", name, c, err)
		}
	}
}

func TestDigest(t *testing.T) {
	const text = "00112233445566778899aabbccddeeff"
	d, err := ParseDigest(text)
	if err != nil || d.String() != text {
		t.Errorf("got %s, %v", d, err)
	}
	if next := d.nextDigest(); next == d || next != d.nextDigest() || next.nextDigest() == d {
		t.Errorf("next: got %s", next)
	}
	for _, bad := range []string{"", text[1:], text + "0", "g" + text[1:]} {
		if _, err := ParseDigest(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// Identifiers are hashes of parts with their lengths: no two lists of parts have the same, and
// one organization never gets the rule of another.
func TestDerived(t *testing.T) {
	ids := map[string]string{}
	for name, id := range map[string]string{
		"rule": RuleID("org", "sast/x"), "of another organization": RuleID("other", "sast/x"),
		"shifted parts": RuleID("orgs", "ast/x"), "package": PackageID("org", "sast/x", &finding.Package{}),
		"another kind": Derived("x", "org", "sast/x"), "joined parts": Derived("rule", "orgsast/x"),
	} {
		if other, ok := ids[id]; ok {
			t.Errorf("%s and %s have one identifier", name, other)
		}
		ids[id] = name
		if len(id) != 36 || id[14] != '8' || !strings.ContainsRune("89ab", rune(id[19])) {
			t.Errorf("%s: %s is not a UUID of version 8", name, id)
		}
	}
	if again := RuleID("org", "sast/x"); ids[again] != "rule" {
		t.Error("the identifier of a rule changes")
	}
}

func TestCounts(t *testing.T) {
	open := Bucket{Analysis: finding.SAST, Severity: finding.High, Status: ToVerify}
	closed := open
	closed.Status = Resolved
	c := Counts{}
	c.addCount(open, 3, 100)
	c.Move(open, closed, 100)
	c.Remove(open, 100)
	if want := (Counts{open: {1, 100}, closed: {1, 100}}); cmp.Diff(want, c) != "" {
		t.Errorf("got %v, want %v", c, want)
	}
	c.Remove(open, 100)
	if _, ok := c[open]; ok {
		t.Errorf("a difference of nothing stays: %v", c)
	}
	changes := []Transition{
		{CurrentState: CurrentState{Branch: "main", Bucket: closed, Risk: 7}, Before: open},
		{CurrentState: CurrentState{Branch: "dev", Bucket: open, Risk: 7}, Before: closed},
	}
	if want := (map[string]Counts{"main": {open: {-1, -7}, closed: {1, 7}},
		"dev": {open: {1, 7}, closed: {-1, -7}}}); cmp.Diff(want,
		CountChanges(changes)) != "" {
		t.Errorf("changes: got %v, want %v", CountChanges(changes), want)
	}
	if want := (map[string]map[AnalysisSeverity]int{"main": {{finding.SAST, finding.High}: 1}}); cmp.Diff(want,
		CountResolved(changes)) != "" {
		t.Errorf("resolved: got %v, want %v", CountResolved(changes), want)
	}
	if got := Branches(CountChanges(changes)); len(got) != 2 || got[0] != "dev" {
		t.Errorf("branches: got %q", got)
	}
}

func TestClassOf(t *testing.T) {
	layer := &finding.Layer{}
	for _, c := range []struct {
		name string
		f    finding.Finding
		want Class
	}{
		{"of source", finding.Finding{Analysis: finding.SCA, Package: &finding.PackageMatch{}}, ""},
		{"a system package", finding.Finding{Analysis: finding.Container, Package: &finding.PackageMatch{
			Package: finding.Package{PURL: "pkg:deb/debian/bash@5", Layer: layer}}}, SystemPackages},
		{"a library", finding.Finding{Analysis: finding.Container, Package: &finding.PackageMatch{
			Package: finding.Package{PURL: "pkg:npm/x@1", Layer: layer}}}, LanguagePackages},
		{"a secret", finding.Finding{Analysis: finding.Container, Secret: &finding.SecretMatch{}}, Secrets},
		{"the configuration", finding.Finding{Analysis: finding.Container}, Configuration},
	} {
		if got := ClassOf(&c.f); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
