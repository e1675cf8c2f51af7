package license

import (
	"slices"
	"strings"
	"testing"
)

func TestTitles(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"Elastic License 2.0\n\n## Acceptance\n\nYou may not provide the software to third parties as a hosted or " +
			"managed service.", "Elastic-2.0"},
		{"Server Side Public License\nVERSION 1, OCTOBER 16, 2018\n\n13. Offering the Program as a " +
			"Service.", "SSPL-1.0"},
		{"Business Source License 1.1\n\nParameters\n\nLicensor: Acme\nChange Date: 2030-01-01\n", "BUSL-1.1"},
		{"Mozilla Public License, Version 1.1\n1.6. \"Initial Developer\" means", "MPL-1.1"},
		{"The Acme License consists of the Mozilla Public License Version 1.1, modified to be specific to Acme. " +
			"Initial Developer", ""},
		{strings.Repeat("notice of something else. ", 100) + "Elastic License 2.0 hosted or managed service", ""},
		{"CONTRAT DE LICENCE DE LOGICIEL LIBRE CeCILL\nVersion 2.1 du 2013-06-21\nle Concédant", "CECILL-2.1"},
		{"nothing of this is a licence", ""},
	} {
		got, err := OfText([]byte(test.text))
		if err != nil || got != test.want {
			t.Errorf("%.40s: got %q, %v; want %q", test.text, got, err, test.want)
		}
	}
}

func TestException(t *testing.T) {
	if got := grantedException([]byte("the copyright holders of this library give you\n * permission to link this " +
		"library " +
		"with independent modules to produce an\n * executable")); got != " WITH Classpath-exception-2.0" {
		t.Errorf("got %q", got)
	}
	if got := grantedException([]byte("as a special exception, nothing")); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestNarrowest(t *testing.T) {
	if got := narrowestIDs([]string{"GPL-3.0", "GPL-3.0-or-later", "MIT"}); !slices.Equal(got,
		[]string{"GPL-3.0-or-later", "MIT"}) {
		t.Errorf("got %v", got)
	}
}

func TestIdentifiers(t *testing.T) {
	for _, title := range titles {
		if !parsesAsExpression(title.id) {
			t.Errorf("%s is no identifier", title.id)
		}
	}
	for _, e := range exceptions {
		if !parsesAsExpression("GPL-2.0-only WITH " + e.id) {
			t.Errorf("%s is no exception", e.id)
		}
	}
}

// FuzzOfText: any text is read without an error and twice the same.
func FuzzOfText(f *testing.F) {
	f.Add([]byte("Elastic License 2.0\nhosted or managed service"))
	f.Add([]byte("Permission is hereby granted, free of charge"))
	f.Fuzz(func(t *testing.T, text []byte) {
		one, err := OfText(text)
		two, _ := OfText(text)
		if err != nil || one != two {
			t.Errorf("%q, %q, %v", one, two, err)
		}
	})
}
