package rule

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLiterals reads texts of code as the constants that they are.
func TestLiterals(t *testing.T) {
	for text, want := range map[string]Value{
		"0":         IntValue(0),
		"42":        IntValue(42),
		"1_000":     IntValue(1000),
		"0x1f":      IntValue(31),
		"0X1F":      IntValue(31),
		"0b101":     IntValue(5),
		"0o17":      IntValue(15),
		"1.5":       FloatValue(1.5),
		".5":        FloatValue(0.5),
		"1e3":       FloatValue(1000),
		"7L":        IntValue(7),
		"true":      BoolValue(true),
		"True":      BoolValue(true),
		"FALSE":     BoolValue(false),
		`"a"`:       StringValue("a"),
		"'a'":       StringValue("a"),
		"`a`":       StringValue("a"),
		`""`:        StringValue(""),
		`"a\"b"`:    StringValue(`a\"b`),
		`"a" + "b"`: CodeValue(`"a" + "b"`),
		`"a`:        CodeValue(`"a`),
		`"a'`:       CodeValue(`"a'`),
		`"`:         CodeValue(`"`),
		"a.b":       CodeValue("a.b"),
		"tRUE":      CodeValue("tRUE"),
		"":          CodeValue(""),
		"1 + 1":     CodeValue("1 + 1"),
		"-":         CodeValue("-"),
	} {
		if diff := cmp.Diff(want, LiteralValue(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// An evalCase is an expression without names, and its value; nil for none.
type evalCase struct {
	text string
	want any
}

// value makes a value of a constant of Go.
func (c evalCase) value() (Value, bool) {
	switch v := c.want.(type) {
	case bool:
		return BoolValue(v), true
	case int:
		return IntValue(int64(v)), true
	case float64:
		return FloatValue(v), true
	case string:
		return StringValue(v), true
	}
	return Value{}, false
}

// TestOperators evaluates one operator at a time.
func TestOperators(t *testing.T) {
	for group, cases := range map[string][]evalCase{
		"integers": {
			{"1 + 2", 3}, {"1 - 2", -1}, {"3 * 4", 12}, {"7 / 2", 3}, {"-7 / 2", -3}, {"7 // 2", 3}, {"7 % 3", 1},
			{"7 % -1", 0}, {"1 / 0", nil}, {"1 // 0", nil}, {"1 % 0", nil}, {"2 ** 10", 1024}, {"2 ** 0", 1},
			{"2 ** -1", 0.5}, {"2 ** 62", 1 << 62}, {"2 ** 64", math.Pow(2, 64)}, {"(-1) ** 1001", -1}, {"1 ** 9999", 1},
			{"+3", 3}, {"-3", -3}, {"--3", 3}, {"~5", -6},
		},
		"bits": {
			{"6 & 3", 2}, {"6 | 3", 7}, {"6 ^ 3", 5}, {"1 << 4", 16}, {"16 >> 2", 4}, {"1 << 63", nil}, {"1 << -1", nil},
			{"1 >> 63", nil}, {"1.5 & 1", nil}, {"~1.5", nil},
		},
		"floats": {
			{"1.5 + 1", 2.5}, {"1 - 0.5", 0.5}, {"2 * 1.5", 3.0}, {"1.0 / 4", 0.25}, {"7.5 // 2", 3.0}, {"-7.5 // 2", -4.0},
			{"7.5 % 2", 1.5}, {"2.0 ** 3", 8.0}, {"1.0 / 0", math.Inf(1)}, {"-1.5", -1.5}, {"+1.5", 1.5},
			{"1.5 << 1", nil},
		},
		"order": {
			{"1 < 2", true}, {"2 <= 2", true}, {"3 > 3", false}, {"3 >= 3", true}, {"1 < 1.5", true}, {"1.5 >= 2", false},
			{"'a' < 'b'", true}, {"'b' <= 'a'", false}, {"'b' > 'a'", true}, {"'a' >= 'a'", true}, {"'a' < 1", nil},
			{"True < 2", nil}, {"[1] < [2]", nil},
		},
		"equality": {
			{"1 == 1", true}, {"1 == 1.0", true}, {"1 != 2", true}, {"1 <> 2", true}, {"'a' == 'a'", true},
			{"'1' == 1", false}, {"True == True", true}, {"True == 1", false}, {"[1, 2] == [1, 2]", true},
			{"[1, 2] == [1]", false}, {"[1] == [2]", false}, {"[] == []", true}, {"1 is 1", true}, {"1 is not 1", false},
		},
		"membership": {
			{"1 in [1, 2]", true}, {"3 in [1, 2]", false}, {"1.0 in [1]", true}, {"3 not in [1]", true},
			{"'b' in 'abc'", true}, {"'' in 'a'", true}, {"'d' not in 'abc'", true}, {"1 in 'abc'", nil}, {"1 in 1", nil},
			{"[1] in [[1]]", true}, {"1 in (1, 2)", true}, {"1 in []", false},
		},
		"logic": {
			{"True and True", true}, {"True and False", false}, {"False or True", true}, {"not True", false},
			{"not False", true}, {"True && True", true}, {"False || True", true}, {"!False", true},
			{"False and 1 / 0 == 1", false}, {"1 / 0 == 1 and False", false}, {"True or 1 / 0 == 1", true},
			{"1 / 0 == 1 or True", true}, {"True and 1 / 0 == 1", nil}, {"1 and True", nil}, {"not 1", nil},
			{"1 / 0 == 1 or False", nil},
		},
		"precedence": {
			{"1 + 2 * 3", 7}, {"(1 + 2) * 3", 9}, {"2 * 3 ** 2", 18}, {"-3 ** 2", -9}, {"10 - 3 - 2", 5}, {"100 / 10 / 2", 5},
			{"1 << 2 + 1", 8}, {"1 | 2 & 3", 3}, {"1 + 1 == 2", true}, {"not 1 == 2", true}, {"True or True and False", true},
			{"1 < 2 and 2 < 3", true}, {"1 in [1] and True", true},
		},
		"functions": {
			{"int(1.9)", 1}, {"int(-1.9)", -1}, {"int('12')", 12}, {"int('a')", nil}, {"int([1])", nil}, {"int(True)", nil},
			{"float('1.5')", 1.5}, {"float(2)", 2.0}, {"float('a')", nil}, {"str(1)", "1"}, {"str(1.5)", "1.5"},
			{"str(True)", "true"}, {"str('a')", "a"}, {"str([1])", nil}, {"len('abc')", 3}, {"len('äöü')", 3},
			{"len([1, 2])", 2}, {"len([])", 0}, {"len(100)", 3}, {"re.match('a+', 'aab')", true},
			{"re.match('a+', 'baa')", false}, {"re.search('a+', 'baa')", true}, {"re.match('a', 1)", nil},
			{"strptime('2026-03-01') == today()", true}, {"strptime('2026-03-02') > today()", true},
			{"strptime('1 March')", nil}, {"today() - strptime('2026-02-28')", 86400.0},
		},
		"durations": {
			{"parse_promql_duration('5m')", 300_000}, {"parse_promql_duration('1h30m')", 5_400_000},
			{"parse_promql_duration('1d')", 86_400_000}, {"parse_promql_duration('2w')", 1_209_600_000},
			{"parse_promql_duration('10ms')", 10}, {"parse_promql_duration('1y') > 0", true},
			{"parse_promql_duration('')", nil}, {"parse_promql_duration('m')", nil}, {"parse_promql_duration('5')", nil},
			{"parse_promql_duration('5q')", nil},
		},
	} {
		t.Run(group, func(t *testing.T) {
			for _, c := range cases {
				e, err := ParseExpr(c.text, ExprOption{})
				if err != nil {
					t.Errorf("%s: %v", c.text, err)
					continue
				}
				got, err := e.Eval(binder(nil), day)
				want, ok := c.value()
				if ok != (err == nil) {
					t.Errorf("%s: %v, error %v, want %v", c.text, got, err, c.want)
				} else if diff := cmp.Diff(want, got); ok && diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.text, diff)
				}
			}
		})
	}
}

// TestMetavariableNames tells metavariables from other names.
func TestMetavariableNames(t *testing.T) {
	for text, want := range map[string]bool{
		"$X": true, "$X1": true, "$X_Y": true, "$_": true, "$_X": true, "$...X": true, "$..._": true, "$1": true,
		"$12": true, "$": false, "X": false, "$x": false, "$Xy": false, "$1X": false, "$X-Y": false, "$...": false,
		"$....X": false, "$ X": false, "": false, "$X ": false, "$É": false,
	} {
		if got := IsMetavariable(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestLanguageNames maps the spellings of the format.
func TestLanguageNames(t *testing.T) {
	for name, want := range map[string]string{
		"py": "python", "python3": "python", "JS": "javascript", "jsx": "javascript", "ts": "typescript",
		"tsx": "typescript", "golang": "go", "c++": "cpp", "C#": "csharp", "tf": "hcl", "yml": "yaml", "kt": "kotlin",
		"rb": "ruby", "rs": "rust", "sh": "bash", "docker": "dockerfile", "sol": "solidity", "ps1": "powershell",
		"klingon": "", "": "", " go": "",
	} {
		if got, ok := Language(name); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", name, got, ok)
		}
	}
}

// TestGlobs asks which paths a pattern of the key paths covers.
func TestGlobs(t *testing.T) {
	for pattern, c := range map[string]struct{ covered, not []string }{
		"*.py":       {[]string{"a.py", "b/c/a.py"}, []string{"a.pyc"}},
		"test":       {[]string{"test", "a/test", "test/a.py", "a/test/b/c.py"}, []string{"tests", "a/testing"}},
		"test/":      {[]string{"test/a.py", "b/test/a.py"}, []string{"tests/a.py"}},
		"./test":     {[]string{"test/a.py", "b/test"}, []string{"b/tests"}},
		"a/b":        {[]string{"a/b", "x/a/b", "x/a/b/c.py"}, []string{"a/x/b"}},
		"/a/b":       {[]string{"a/b", "a/b/c"}, []string{"x/a/b"}},
		"a/*/c":      {[]string{"a/b/c", "x/a/b/c"}, []string{"a/c", "a/b/b/c"}},
		"a/**/c":     {[]string{"a/c", "a/b/c", "a/b/b/c"}, []string{"ac"}},
		"**/*_test?": {[]string{"x_tests", "a/x_test1"}, []string{"x_test"}},
	} {
		g, err := Glob(pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		for _, path := range c.covered {
			if !g.Covers(path) {
				t.Errorf("%s does not cover %s", pattern, path)
			}
		}
		for _, path := range c.not {
			if g.Covers(path) {
				t.Errorf("%s covers %s", pattern, path)
			}
		}
	}
}
