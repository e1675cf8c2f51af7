package passwordlist_test

import (
	"slices"
	"testing"

	"github.com/trustelem/zxcvbn/frequency"

	"merlon/internal/identity/passwordlist"
)

// TestCommon compares the list with its source.
func TestCommon(t *testing.T) {
	got, err := passwordlist.Common()
	if err != nil {
		t.Fatal(err)
	}
	if want := frequency.FrequencyLists["passwords"]; len(want) < 25_000 || !slices.Equal(got, want) {
		t.Errorf("%d passwords, not the %d of zxcvbn: run go generate ./internal/identity/passwordlist", len(got), len(want))
	}
}
