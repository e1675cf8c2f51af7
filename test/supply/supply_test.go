package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRecallsCountTheMostOfEachResource(t *testing.T) {
	flaws := []flaw{
		{Scanner: "merlon", File: "a.tf", Block: 1, Rule: "x"},
		{Scanner: "merlon", File: "a.tf", Block: 1, Rule: "x"}, // told twice
		{Scanner: "trivy", File: "a.tf", Block: 1, Rule: "1"},
		{Scanner: "trivy", File: "a.tf", Block: 1, Rule: "2"},
		{Scanner: "merlon", File: "a.tf", Block: 9, Rule: "y"},
		{Scanner: "kics", File: "b.tf", Block: 0, Rule: "q"},
	}
	want := map[string]float64{"merlon": .5, "trivy": .5, "kics": .25}
	if diff := cmp.Diff(want, recalls(flaws)); diff != "" {
		t.Errorf("recalls (-want +got):\n%s", diff)
	}
}

func TestPlaceFindsTheResource(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("main.tf", "resource \"a\" \"b\" {\n  x = 1\n}\nresource \"a\" \"c\" {\n  x = 2\n}\n")
	write("stack.yaml", "A: 1\nResources:\n  Bucket:\n    Type: X\n    Properties:\n      P: 1\n  Queue:\n    Type: Y\n")
	write("pods.yaml", "kind: Pod\n---\nkind: Pod\nspec:\n  x: 1\n")
	write("Dockerfile", "FROM x\nRUN y\n")
	flaws := []flaw{{File: "main.tf", Line: 2}, {File: "main.tf", Line: 5}, {File: "stack.yaml", Line: 6}, {File: "stack.yaml", Line: 8},
		{File: "pods.yaml", Line: 1}, {File: "pods.yaml", Line: 5}, {File: "Dockerfile", Line: 2}, {File: "absent", Line: 3}}
	place(dir, flaws)
	var got []int
	for _, f := range flaws {
		got = append(got, f.Block)
	}
	if diff := cmp.Diff([]int{1, 4, 3, 7, 0, 2, 0, 0}, got); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	var out strings.Builder
	err := run(context.Background(), []string{"-corpora", t.TempDir(), "-out", t.TempDir(), "-only", "goats"}, &out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "| goats |  | not measured |") {
		t.Errorf("the table does not say that goats are not measured:\n%s", out.String())
	}
	if err := run(context.Background(), []string{"-corpora", t.TempDir(), "-only", "sheep"}, &out); err == nil || !strings.Contains(err.Error(), "sheep") {
		t.Errorf("an unknown measure: %v", err)
	}
}
