package ir_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A formCase is a source with the printed form of its functions. Both begin behind the
// first line end.
type formCase struct{ name, path, source, want string }

// checkForms lowers each source and compares its form. The archives of testdata have
// whole programs; these cases have one construct each, to be read beside the lowering.
func checkForms(t *testing.T, cases []formCase) {
	t.Helper()
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			got := lower(t, test.path, strings.TrimPrefix(test.source, "\n")).String()
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), got); diff != "" {
				t.Errorf("the form differs (-want +got):\n%s", diff)
			}
		})
	}
}
