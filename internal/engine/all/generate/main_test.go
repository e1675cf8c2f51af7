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

// The list is made from folders, so an analyzer whose id is not its folder
// would be found under another name than the one that its findings bear.
func TestIDsAreFolders(t *testing.T) {
	if err := scan.Validate(all.Analyzers); err != nil {
		t.Error(err)
	}
	for _, a := range all.Analyzers {
		if info, err := os.Stat("../../" + a.ID); err != nil || !info.IsDir() {
			t.Errorf("analyzer %q is not declared in internal/engine/%s", a.ID, a.ID)
		}
	}
	if len(all.Analyzers) == 0 {
		t.Error("the list is empty")
	}
}
