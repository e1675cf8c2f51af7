package notice_test

import (
	"strings"
	"testing"

	"merlon/internal/notice"
)

func TestComponents(t *testing.T) {
	found := map[string]notice.Component{}
	for _, c := range notice.Components() {
		if c.Version == "" || c.License == "" || len(c.Texts) == 0 {
			t.Errorf("incomplete: %+v", c)
		}
		found[c.Name] = c
	}
	for name, license := range map[string]string{
		"Go standard library and runtime":                         "BSD-3-Clause",
		"KICS infrastructure queries (github.com/Checkmarx/kics)": "Apache-2.0",
		"github.com/hashicorp/hcl/v2":                             "MPL-2.0",
		"github.com/tree-sitter/tree-sitter-python":               "MIT",
		"modernc.org/sqlite":                                      "BSD-3-Clause AND MIT AND blessing",
	} {
		if got := found[name].License; got != license {
			t.Errorf("%s: licence %q, want %q", name, got, license)
		}
	}
}

func TestWriteList(t *testing.T) {
	var b strings.Builder
	if err := notice.WriteList(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != len(notice.Components()) {
		t.Errorf("%d lines for %d components", len(lines), len(notice.Components()))
	}
	for _, line := range lines {
		if strings.HasSuffix(line, " ") || strings.Contains(line, "\t") {
			t.Errorf("line %q", line)
		}
	}
}

// TestWriteTexts demands what the MIT, BSD and Apache licences ask: the copyright notice
// of each component and the text, once.
func TestWriteTexts(t *testing.T) {
	var b strings.Builder
	if err := notice.WriteTexts(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, c := range notice.Components() {
		for _, file := range c.Texts {
			if want := c.Name + " " + c.Version + ": " + file.File + "\n"; strings.Count(text, want) != 1 {
				t.Errorf("%q stands there %d times", want, strings.Count(text, want))
			}
		}
	}
	for _, want := range []string{"Copyright (c) 2018 Max Brunsfeld", "Copyright 2009 The Go Authors", "Mozilla Public License"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
}
