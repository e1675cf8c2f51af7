package main

import (
	"strings"
	"testing"
)

// TestCorrectQuery applies a correction to the text that it was made for, and refuses another text.
func TestCorrectQuery(t *testing.T) {
	for name, list := range corrections {
		var text, want string
		for _, c := range list {
			if c.old == c.new || c.old == "" {
				t.Errorf("%s: a correction changes nothing", name)
			}
			text, want = text+c.old+"# between\n", want+c.new+"# between\n"
		}
		if got, err := correctQuery(name, text); err != nil || got != want {
			t.Errorf("%s: got %v\n%s\nwant\n%s", name, err, got, want)
		}
		if list[0].reason == "" {
			t.Errorf("%s is corrected without a reason", name)
		}
		if _, err := correctQuery(name, "package Cx\n"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: a query of another version is accepted: %v", name, err)
		}
	}
	if got, err := correctQuery("k8s/other", "package Cx\n"); err != nil || got != "package Cx\n" {
		t.Errorf("a query without corrections becomes %q, %v", got, err)
	}
}
