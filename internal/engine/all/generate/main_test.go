package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/all"
	"merlon/internal/scan"
)

func TestListIsUpToDate(t *testing.T) {
	want, err := list("../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../list.go")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run \"go generate ./internal/engine/all\" (-want +got):\n%s", diff)
	}
}

// movedAnalyzers has the folders of analyzers whose id is not their folder: findings
// bear the id, so it stays when the folder gets another name.
var movedAnalyzers = map[string]string{"sast/code": "sast/analyzer", "iac/configuration": "iac/analyzer"}

// The list is made from folders. An analyzer whose id is not its folder would be found
// under another name than the one that its findings bear.
func TestIDsAreFolders(t *testing.T) {
	if err := scan.Validate(all.Analyzers); err != nil {
		t.Error(err)
	}
	for _, a := range all.Analyzers {
		folder := a.ID
		if moved := movedAnalyzers[a.ID]; moved != "" {
			folder = moved
		}
		if info, err := os.Stat("../../" + folder); err != nil || !info.IsDir() {
			t.Errorf("analyzer %q is not declared in internal/engine/%s", a.ID, folder)
		}
	}
	if len(all.Analyzers) == 0 {
		t.Error("the list is empty")
	}
}
