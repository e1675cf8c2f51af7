package kics

import (
	"strings"
	"testing"
)

func TestRequirement(t *testing.T) {
	for description, want := range map[string]string{
		"S3 Buckets must be encrypted. Otherwise data leaks.": "S3 Buckets must be encrypted.",
		"A port is open. Traffic should be limited ":          "Traffic should be limited.",
		"Ensure a metric filter exists.":                      "Ensure a metric filter exists.",
		"Traffic from 0.0.0.0/0 should be denied, e.g. SSH":   "Traffic from 0.0.0.0/0 should be denied, e.g. SSH.",
		"An ingress rule allows traffic from /0.":             "",
		"The mustard is shoulder high.":                       "",
		"":                                                    "",
	} {
		if got := requirement(description); got != want {
			t.Errorf("requirement(%q) = %q, want %q", description, got, want)
		}
	}
}

func TestRemediationText(t *testing.T) {
	a := queryInfo{Description: "Logging should be enabled.", Category: "Observability", URL: "https://example.org/a"}
	got := remediationText(a)
	for _, part := range []string{"Logging should be enabled.", "Enable logging", "expected and actual value",
		"[documentation](https://example.org/a)"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is missing in %q", part, got)
		}
	}
	if got := remediationText(queryInfo{Description: "A port is open."}); strings.Contains(got, "documentation") ||
		strings.Contains(got, "A port") {
		t.Errorf("remediation without demand and link: %q", got)
	}
}

// TestCategoriesHaveAdvice finds categories of the library that this file does not know;
// those without advice say nothing about the weakness.
func TestCategoriesHaveAdvice(t *testing.T) {
	without := map[string]bool{"Best Practices": true, "Structure and Semantics": true}
	for category := range byCategory {
		if (byCategoryAdvice[category] == "") != without[category] {
			t.Errorf("category %q: advice %q", category, byCategoryAdvice[category])
		}
	}
}
