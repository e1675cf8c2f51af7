package rule

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSpellings reads one operator at a time, in the older and the newer spelling, which must come
// out as the same formula.
func TestSpellings(t *testing.T) {
	for name, c := range map[string]struct{ older, newer, want string }{
		"pattern": {"pattern: f($X)", "match: f($X)", `(pattern "f($X)")`},
		"pattern as a mapping": {"pattern: f($X)", "match: {pattern: f($X)}",
			`(pattern "f($X)")`},
		"expression": {"pattern-regex: a+", "match: {regex: a+}", `(regex "a+")`},
		"all": {"patterns: [{pattern: a}, {pattern: b}]", "match: {all: [a, b]}",
			`(all (pattern "a") (pattern "b"))`},
		"any": {"pattern-either: [{pattern: a}, {pattern-regex: b}]", "match: {any: [a, {regex: b}]}",
			`(any (pattern "a") (regex "b"))`},
		"not": {"patterns: [{pattern: a}, {pattern-not: b}]", "match: {all: [a, {not: b}]}",
			`(all (pattern "a") (not (pattern "b")))`},
		"inside": {"patterns: [{pattern: a}, {pattern-inside: b}]", "match: {all: [a, {inside: b}]}",
			`(all (pattern "a") (inside (pattern "b")))`},
		"not inside": {"patterns: [{pattern: a}, {pattern-not-inside: b}]", "match: {all: [a, {not: {inside: b}}]}",
			`(all (pattern "a") (not (inside (pattern "b"))))`},
		"not an expression": {"patterns: [{pattern: a}, {pattern-not-regex: b}]", "match: {all: [a, {not: {regex: b}}]}",
			`(all (pattern "a") (not (regex "b")))`},
		"anywhere": {"patterns: [{pattern: a}, {semgrep-internal-pattern-anywhere: b}]", "match: {all: [a, {anywhere: b}]}",
			`(all (pattern "a") (anywhere (pattern "b")))`},
		"all in any": {"pattern-either: [{patterns: [{pattern: a}, {pattern: b}]}, {pattern: c}]",
			"match: {any: [{all: [a, b]}, c]}", `(any (all (pattern "a") (pattern "b")) (pattern "c"))`},
		"any in any": {"pattern-either: [{pattern-either: [{pattern: a}]}, {pattern: c}]",
			"match: {any: [{any: [a]}, c]}", `(any (any (pattern "a")) (pattern "c"))`},
		"any inside": {"patterns: [{pattern: a}, {pattern-inside: {pattern-either: [{pattern: b}, {pattern: c}]}}]",
			"match: {all: [a, {inside: {any: [b, c]}}]}",
			`(all (pattern "a") (inside (any (pattern "b") (pattern "c"))))`},
		"regular expression of a name": {
			"patterns: [{pattern: $X}, {metavariable-regex: {metavariable: $X, regex: a}}]",
			"match: {all: [$X], where: [{metavariable: $X, regex: a}]}",
			`(all (pattern "$X") where[regex $X "a"])`},
		"comparison": {"patterns: [{pattern: $X}, {metavariable-comparison: {metavariable: $X, comparison: $X > 1}}]",
			"match: {all: [$X], where: [{comparison: $X > 1}]}", ""},
		"type": {"patterns: [{pattern: $X}, {metavariable-type: {metavariable: $X, types: [A, B]}}]",
			"match: {all: [$X], where: [{metavariable: $X, types: [A, B]}]}",
			`(all (pattern "$X") where[type $X A|B])`},
		"formula of a name": {"patterns: [{pattern: f($X)}, {metavariable-pattern: {metavariable: $X, pattern: a}}]",
			"match: {all: [f($X)], where: [{metavariable: $X, pattern: a}]}",
			`(all (pattern "f($X)") where[formula $X (pattern "a")])`},
		"formula of a name in a language": {
			"patterns: [{pattern: f($X)}, {metavariable-pattern: {metavariable: $X, language: py, pattern: a}}]",
			"match: {all: [f($X)], where: [{metavariable: $X, language: py, pattern: a}]}",
			`(all (pattern "f($X)") where[formula $X (pattern "a") in python])`},
		"analysis": {"patterns: [{pattern: $X}, {metavariable-analysis: {metavariable: $X, analyzer: redos}}]",
			"match: {all: [$X], where: [{metavariable: $X, analyzer: redos}]}",
			`(all (pattern "$X") where[analysis $X redos default])`},
		"focus": {"patterns: [{pattern: f($X)}, {focus-metavariable: $X}]", "match: {all: [f($X)], where: [{focus: $X}]}",
			`(all (pattern "f($X)") focus[$X])`},
		"focus on any of two": {"patterns: [{pattern: 'f($X, $Y)'}, {focus-metavariable: [$X, $Y]}]",
			"match: {all: ['f($X, $Y)'], where: [{focus: [$X, $Y]}]}",
			`(all (pattern "f($X, $Y)") focus[$X|$Y])`},
		"focus on both": {"patterns: [{pattern: 'f($X, $Y)'}, {focus-metavariable: $X}, {focus-metavariable: $Y}]",
			"match: {all: ['f($X, $Y)'], where: [{focus: $X}, {focus: $Y}]}",
			`(all (pattern "f($X, $Y)") focus[$X] focus[$Y])`},
	} {
		t.Run(name, func(t *testing.T) {
			older, newer := formulaOf(t, "  "+c.older+"\n"), formulaOf(t, "  "+c.newer+"\n")
			if older != newer {
				t.Errorf("older %s\nnewer %s", older, newer)
			}
			if c.want != "" && older != c.want {
				t.Errorf("got %s\nwant %s", older, c.want)
			}
		})
	}
}

// TestBooleanOptions sets each option to both values: exactly its own field must follow.
func TestBooleanOptions(t *testing.T) {
	for name, field := range booleans {
		for _, v := range []bool{true, false} {
			rules, err := Parse("r.yaml", []byte(fmt.Sprintf("%s  pattern: x\n  options: {%s: %v}\n", head, name, v)))
			if err != nil {
				t.Fatal(err)
			}
			want := DefaultOptions()
			*field(&want) = v
			if diff := cmp.Diff(want, rules[0].Options); diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", name, v, diff)
			}
		}
	}
}

// TestOtherOptions reads the options that are no booleans.
func TestOtherOptions(t *testing.T) {
	for text, c := range map[string]struct {
		field string
		want  any
	}{
		"interfile: true":                                  {"Interfile", true},
		"taint_focus_on: source":                           {"TaintFocusOnSource", true},
		"taint_focus_on: sink":                             {"TaintFocusOnSource", false},
		"taint_match_on: source":                           {"TaintFocusOnSource", true},
		"cpp_parsing_pref: as_fundef":                      {"CPPParseAsFunctionFirst", true},
		"cpp_parsing_pref: as_vardef_with_ctor":            {"CPPParseAsFunctionFirst", false},
		"generic_engine: aliengrep":                        {"GenericEngine", Aliengrep},
		"generic_engine: spacegrep":                        {"GenericEngine", Spacegrep},
		"generic_comment_style: shell":                     {"GenericComments", "shell"},
		"generic_ellipsis_max_span: 3":                     {"GenericMaxSpan", 3},
		"generic_extra_word_characters: ['-', '.']":        {"GenericExtraWord", "-."},
		"generic_braces: [['<', '>']]":                     {"GenericBraces", [][2]string{{"<", ">"}}},
		"generic_extra_braces: [['<', '>'], ['«'], ['']]":  {"", "a pair of braces must be a list of two characters"},
		"max_match_per_file: 7":                            {"MaxMatchesPerFile", 7},
		"max_match_per_file: many":                         {"", "max_match_per_file must be an integer"},
		"timeout: 1.5":                                     {"TimeoutSeconds", 1.5},
		"timeout: 3601":                                    {"", "timeout must be seconds from 0 to 3600"},
		"timeout: .nan":                                    {"", "timeout must be seconds from 0 to 3600"},
		"dynamic_timeout: true":                            {"DynamicTimeout", true},
		"dynamic_timeout_unit_kb: 0":                       {"TimeoutUnit", 1},
		"dynamic_timeout_max_multiplier: 9":                {"TimeoutFactor", 9},
		"generic_engine: ''":                               {"", "generic_engine must be one of"},
		"taint_focus_on: both":                             {"", "taint_focus_on must be one of [sink source]"},
		"guarded_taint_signatures: false":                  {"TimeoutFactor", DefaultOptions().TimeoutFactor},
		"no_such_option: true":                             {"", "options has no key no_such_option"},
		"constant_propagation: yes, interfile: perhaps":    {"", "must be true or false"},
		"symbolic_propagation: true, ac_matching: 'false'": {"", "ac_matching must be true or false"},
	} {
		rules, err := Parse("r.yaml", []byte(head+"  pattern: x\n  options: {"+text+"}\n"))
		if c.field == "" {
			if err == nil || !strings.Contains(err.Error(), c.want.(string)) {
				t.Errorf("%s: error %v, want %q", text, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := reflect.Indirect(reflect.ValueOf(rules[0].Options).FieldByName(c.field)).Interface()
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestSeverities maps the older words to those of findings.
func TestSeverities(t *testing.T) {
	for word, want := range map[string]string{
		"CRITICAL": "critical", "HIGH": "high", "MEDIUM": "medium", "LOW": "low", "ERROR": "high", "WARNING": "medium",
		"INFO": "low",
	} {
		rules, err := Parse("r.yaml", []byte(strings.Replace(head, "ERROR", word, 1)+"  pattern: x\n"))
		if err != nil {
			t.Errorf("%s: %v", word, err)
			continue
		}
		if got := strings.ToLower(fmt.Sprint(rules[0].Severity)); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

// TestSideEffects reads by-side-effect of sources, whose default differs from that of propagators.
func TestSideEffects(t *testing.T) {
	for text, want := range map[string][2]SideEffect{
		"":                          {SideEffectNo, SideEffectYes},
		", by-side-effect: true":    {SideEffectYes, SideEffectYes},
		", by-side-effect: false":   {SideEffectNo, SideEffectNo},
		", by-side-effect: only":    {SideEffectOnly, SideEffectOnly},
		", by-side-effect: 'True'":  {SideEffectYes, SideEffectYes},
		", by-side-effect: 'False'": {SideEffectNo, SideEffectNo},
	} {
		rules, err := Parse("r.yaml", []byte(taintHead+"  pattern-sources: [{pattern: s"+text+"}]\n"+
			"  pattern-sinks: [{pattern: k}]\n"+
			"  pattern-propagators: [{pattern: 'p($X, $Y)', from: $X, to: $Y"+text+"}]\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		taint := rules[0].Taint
		if got := [2]SideEffect{taint.Sources[0].BySideEffect, taint.Propagators[0].BySideEffect}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestLabelTexts prints label expressions with all parentheses; what is printed must mean the same.
func TestLabelTexts(t *testing.T) {
	for text, want := range map[string]string{
		"A":                   "A",
		"not A":               "not A",
		"not not A":           "not not A",
		"A and B and C":       "(A and B and C)",
		"A or B and C":        "(A or (B and C))",
		"(A or B) and C":      "((A or B) and C)",
		"A and (B and C)":     "(A and (B and C))",
		"not A or B":          "(not A or B)",
		"not (A or B)":        "not (A or B)",
		"True and not False":  "(True and not False)",
		" ( ( A ) ) ":         "A",
		"A1 or _b":            "(A1 or _b)",
		"A\n  and\n  B":       "(A and B)",
		"android and nothing": "(android and nothing)",
	} {
		e, err := ParseLabels(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := e.String(); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
		again, err := ParseLabels(want)
		if err != nil || again.String() != want {
			t.Errorf("%s: read again as %v, %v", want, again, err)
		}
	}
}
