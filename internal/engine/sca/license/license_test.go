package license

import (
	"strings"
	"testing"
)

func TestExpression(t *testing.T) {
	for text, want := range map[string]string{
		"MIT":                 "MIT",
		"mit":                 "MIT",
		"(mit or apache-2.0)": "(MIT OR Apache-2.0)",
		"GPL-2.0-only WITH Classpath-exception-2.0": "GPL-2.0-only WITH Classpath-exception-2.0",
		"MIT/Apache-2.0":                                          "MIT OR Apache-2.0",
		"MIT or Apache 2.0":                                       "MIT OR Apache-2.0",
		"The MIT License":                                         "MIT",
		"MIT License (MIT)":                                       "MIT",
		"The Apache Software License, Version 2.0":                "Apache-2.0",
		"Apache License, Version 2.0":                             "Apache-2.0",
		"Apache 2":                                                "Apache-2.0",
		"New BSD License":                                         "BSD-3-Clause",
		"BSD 3-Clause \"New\" or \"Revised\" License":             "BSD-3-Clause",
		"The BSD 2-Clause License":                                "BSD-2-Clause",
		"GNU General Public License v3 (GPLv3)":                   "GPL-3.0-only",
		"GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.0-or-later",
		"LGPLv2.1":                                                "LGPL-2.1-only",
		"GPLv3+":                                                  "GPL-3.0-or-later",
		"GNU Affero General Public License v3":                    "AGPL-3.0-only",
		"Mozilla Public License 2.0 (MPL 2.0)":                    "MPL-2.0",
		"Eclipse Public License - v 2.0":                          "EPL-2.0",
		"Boost Software License 1.0 (BSL-1.0)":                    "BSL-1.0",
		"Python Software Foundation License":                      "PSF-2.0",
		"UNLICENSED":                                              "LicenseRef-UNLICENSED",
		"My Own, Terms!":                                          "LicenseRef-My-Own-Terms",
		"BSD":                                                     "LicenseRef-BSD",
		"SEE LICENSE IN LICENSE.md":                               "",
		"UNKNOWN":                                                 "",
		"":                                                        "",
		strings.Repeat("Permission is ", 100):                     "",
	} {
		if got := Expression(text); got != want {
			t.Errorf("%.60q: got %q, want %q", text, got, want)
		}
	}
}

func TestAny(t *testing.T) {
	for _, test := range []struct {
		list []string
		want string
	}{{nil, ""}, {[]string{"MIT"}, "MIT"}, {[]string{"MIT", "GPL-2.0-only", "mit"}, "MIT OR GPL-2.0-only"},
		{[]string{"MIT AND ISC", "Apache 2.0"}, "(MIT AND ISC) OR Apache-2.0"}} {
		if got := Any(test.list); got != test.want {
			t.Errorf("%v: got %q, want %q", test.list, got, test.want)
		}
	}
}

func TestKnown(t *testing.T) {
	if Known("") || Known("MIT OR LicenseRef-x") || !Known("MIT OR ISC") {
		t.Error("an expression is taken for another")
	}
}

func TestOfText(t *testing.T) {
	isc := "ISC License\n\nCopyright (c) 2020, Somebody\n\nPermission to use, copy, modify, and/or distribute this " +
		"software for any\npurpose with or without fee is hereby granted, provided that the above\ncopyright notice " +
		"and this permission notice appear in all copies.\n\nTHE SOFTWARE IS PROVIDED \"AS IS\" AND THE AUTHOR " +
		"DISCLAIMS ALL WARRANTIES\nWITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF\nMERCHANTABILITY " +
		"AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY\nSPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL " +
		"DAMAGES OR ANY DAMAGES WHATSOEVER\nRESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF " +
		"CONTRACT,\nNEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE\nUSE OR " +
		"PERFORMANCE OF THIS SOFTWARE.\n"
	if got, err := OfText([]byte(isc)); got != "ISC" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := OfText([]byte("All rights are somebody's.")); got != "" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// FuzzExpression: whatever a package declares, the result is an expression.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{"MIT", "(MIT OR ((GPL-2.0+ AND ISC)))", "Apache License, Version 2.0", "((((",
		"a WITH b", "GPLv2+ or newer", "LicenseRef-x:y"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Expression(text)
		if got == "" {
			return
		}
		if !parsesAsExpression(got) {
			t.Errorf("%q became %q, which is no expression", text, got)
		}
	})
}
