package ruletext

import (
	"reflect"
	"strings"
	"testing"

	"merlon/internal/finding"
)

const twoRules = `# SQL injection

- Rule: sql
- Severity: high
- Confidence: medium
- CWE: CWE-89, CWE-943
- OWASP: A03:2021
- Link: https://example.com/sql

Untrusted input
becomes part of a query.

## Why it matters

An attacker reads the database.

` + "```sh\n# not a title\n## How to fix\n```" + `

## How to fix

Bind parameters.

# Open redirect

- Rule: redirect
- Severity: low
- Confidence: high
- CWE: CWE-601
- Language: go

The response redirects to an untrusted URL.

## How to fix

Compare with a list.
`

func TestLoad(t *testing.T) {
	set, err := Load(twoRules, finding.Rule{ID: "sast/x", Analysis: finding.SAST, Language: "python"})
	if err != nil {
		t.Fatal(err)
	}
	want := finding.Rule{ID: "sast/x/sql", Analysis: finding.SAST, Name: "SQL injection",
		ShortDescription: "Untrusted input becomes part of a query.",
		Description: "Untrusted input\nbecomes part of a query.\n\n## Why it matters\n\nAn attacker reads the database." +
			"\n\n```sh\n# not a title\n## How to fix\n```",
		HowToPrevent: "Bind parameters.", CWE: []string{"CWE-89", "CWE-943"},
		OWASP: []string{"A03:2021", "A05:2025"}, ASVS: []string{"V1.2.4"}, Severity: finding.High,
		Confidence: finding.MediumConfidence, Language: "python", Link: "https://example.com/sql"}
	if got := *set.Get("sql"); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := set.Get("redirect"); got.Language != "go" || len(set.All()) != 2 {
		t.Errorf("language %q, %d rules", got.Language, len(set.All()))
	}
	defer func() {
		if recover() == nil {
			t.Error("a rule that no page describes does not panic")
		}
	}()
	set.Get("none")
}

func TestLoadRefuses(t *testing.T) {
	const head = "# A\n\n- Rule: a\n- Severity: high\n- Confidence: high\n- CWE: CWE-1\n\n"
	const body = "Short.\n\n## How to fix\n\nFix.\n"
	for name, tt := range map[string]struct{ page, want string }{
		"no title":         {"text\n", "line 1: want a title"},
		"empty title":      {"# \n" + body, "line 1: want a title"},
		"no fix":           {head + "Short.\n", `line 1: "A" has no section "## How to fix"`},
		"empty fix":        {head + "Short.\n\n## How to fix\n", `line 10: the section "## How to fix" of "A" is empty`},
		"no paragraph":     {head + "## Why\n\n## How to fix\n\nFix.\n", `line 1: "A" has no paragraph`},
		"no list":          {"# A\n\n" + body, `line 1: "A" needs Rule, Severity, Confidence and CWE`},
		"unknown field":    {"# A\n\n- Weakness: x\n" + body, `line 3: unknown field "Weakness"`},
		"unknown severity": {"# A\n\n- Severity: awful\n" + body, `line 3: severity "awful"`},
		"unknown degree":   {"# A\n\n- Confidence: sure\n" + body, `line 3: confidence "sure"`},
		"no CWE":           {"# A\n\n- CWE: 79\n" + body, `line 3: "79" is not a CWE`},
		"two of one ID":    {head + body + head + body, "line 13: a second rule has the ID a"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(tt.page, finding.Rule{})
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(twoRules)
	f.Add("# A\n\n```\n# B\n")
	f.Fuzz(func(t *testing.T, text string) {
		pages, err := Parse(text)
		for _, p := range pages {
			if err == nil && (p.Rule.Name == "" || p.Rule.ShortDescription == "" || p.Rule.HowToPrevent == "") {
				t.Errorf("incomplete page: %+v", p)
			}
			ForLanguage(p.Rule.Description, "go")
		}
	})
}
