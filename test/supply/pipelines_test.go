package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testModule = `use crate::common::{input_under_test, zizmor};

#[test]
fn test_regular() -> anyhow::Result<()> {
    insta::assert_snapshot!(
        zizmor().input(input_under_test("one-thing/a.yml")).run()?,
        @r#"
    error[one-thing]: something "bad"
      --> @@INPUT@@:3:1
       |
     3 | / on:
     4 | |   push:
       | |_______^ here
    ...
     9 |   x: y
       |   ---- this job
       |
       = note: audit confidence → High

    1 finding: 0 informational, 0 low, 0 medium, 1 high
    "#
    );
    insta::assert_snapshot!(
        zizmor().input(input_under_test("one-thing/b.yml")).args(["--persona=pedantic"]).run()?,
        @"No findings to report. Good job!"
    );
    insta::assert_snapshot!(
        zizmor().config(input_under_test("c.yml")).input(input_under_test("one-thing/b.yml")).run()?,
        @"No findings to report. Good job!"
    );
    Ok(())
}
`

func TestReadSnapshots(t *testing.T) {
	dir := t.TempDir()
	if err := writeFile(filepath.Join(dir, "audit", "one_thing.rs"), []byte(testModule)); err != nil {
		t.Fatal(err)
	}
	got, err := readSnapshots(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []snapshot{
		{file: "one-thing/a.yml", module: "one-thing", persona: "regular",
			finds: []expected{{audit: "one-thing", start: 3, end: 4}}},
		{file: "one-thing/b.yml", module: "one-thing", persona: "pedantic"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(snapshot{}, expected{})); diff != "" {
		t.Errorf("snapshots (-want +got):\n%s", diff)
	}
}

func TestNegatives(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.yml": "on: push\n", "b.yml": "on: push # zizmor: " +
		"ignore[artipacked]\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ours := []spot{{Rule: "persisted-credentials", Line: 1}, {Rule: "persisted-credentials", Line: 2, Low: true},
		{Rule: "other", Line: 3}}
	for _, c := range []struct {
		file, persona string
		want          map[string][]spot
	}{
		{"a.yml", "regular", map[string][]spot{"artipacked": ours[:1]}},
		{"a.yml", "pedantic", map[string][]spot{"artipacked": ours[:2]}},
		{"b.yml", "pedantic", map[string][]spot{}},
	} {
		k := &workflowCase{file: c.file, runs: map[string]bool{c.persona: true},
			modules: map[string]bool{"artipacked": true}}
		got, err := falsePositives(dir, k, ours)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.file, c.persona, diff)
		}
	}
}
