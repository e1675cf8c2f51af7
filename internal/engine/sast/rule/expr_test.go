package rule

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// binder binds names to what a text is as a literal.
func binder(all map[string]string) Binder {
	return func(name string) (Value, bool) {
		text, ok := all[name]
		return LiteralValue(text), ok
	}
}

func TestExpr(t *testing.T) {
	bind := binder(map[string]string{
		"$N": "0o650", "$S": `"abc"`, "$C": "x.y", "$F": "1.5", "$B": "true", "$Q": `"42"`, "$H": "0x1F",
		"$...A": "a, b", "$1": "7",
		"$D": `"2026-02-28"`, "$L": "7L",
	})
	for _, c := range []struct {
		text string
		want Value
	}{
		{"$N > 0o600 and $N < 1000", BoolValue(true)},
		{"$N", IntValue(424)},
		{"$H == 31", BoolValue(true)},
		{"$L == 7", BoolValue(true)},
		{"$1 ** 2", IntValue(49)},
		{"int($Q) + 1", IntValue(43)},
		{"$S == 'abc'", BoolValue(true)},
		{"str($C) == 'x.y'", BoolValue(true)},
		{"str($...A)", StringValue("a, b")},
		{"not str($S) in ['abc', \"*\"]", BoolValue(false)},
		{"str($S) not in ['x']", BoolValue(true)},
		{"'b' in $S", BoolValue(true)},
		{"len($S) == 3", BoolValue(true)},
		{"re.match('a.c$', $S)", BoolValue(true)},
		{"re.match('b', $S)", BoolValue(false)},
		{"re.search(r'b', $S)", BoolValue(true)},
		{"$B == True", BoolValue(true)},
		{"not $B", BoolValue(false)},
		{"$F * 2 == 3", BoolValue(true)},
		{"7 & 3 | 8 ^ 1", IntValue(11)},
		{"1 | 2 == 3", BoolValue(true)},
		{"~0 == -1", BoolValue(true)},
		{"-2 ** 2", IntValue(-4)},
		{"2 ** 3 ** 2", IntValue(512)},
		{"(-1) ** 3", IntValue(-1)},
		{"0 ** 0", IntValue(1)},
		{"7 // 2 + 7 % 4 - 1 << 2", IntValue(20)},
		{"strptime($D) < today()", BoolValue(true)},
		{"strptime($D, '%Y-%m-%d') < today()", BoolValue(true)},
		{"parse_promql_duration('1h30m') == 5400000", BoolValue(true)},
		{"$C == 1 or $N == 424", BoolValue(true)},
		{"$N == 1 and $C == 1", BoolValue(false)},
		{"$S < 'b'", BoolValue(true)},
		{"$S + 'd'", StringValue("abcd")},
		{"float($Q) / 4", FloatValue(10.5)},
		{"1 is not 2", BoolValue(true)},
		{"True || False && False", BoolValue(true)},
		{"$N in [424, 1]", BoolValue(true)},
		{"[1, 'a'] == [1, 'a']", BoolValue(true)},
	} {
		e, err := ParseExpr(c.text, ExprOption{})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, err := e.Eval(bind, day)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
	}
}

// What cannot be decided does not hold, nor does its opposite.
func TestExprWithoutValue(t *testing.T) {
	bind := binder(map[string]string{"$C": "x.y", "$S": `"abc"`, "$N": "5"})
	for _, text := range []string{
		"$X == 1", "$C == 1", "$C != 1", "$C < 1", "not ($C < 1)", "$S < 1", "int($C) > 0", "$N", "1 / 0 == 1",
		"5 % 0 == 0",
		"strptime('x') < today()", "parse_promql_duration('1') > 0", "$C in $S", "1 << 64 > 0", "not $N",
		"'a' * 2 == 'aa'",
	} {
		e, err := ParseExpr(text, ExprOption{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if e.Holds(bind, day) {
			t.Errorf("%s holds", text)
		}
	}
}

func TestExprOptions(t *testing.T) {
	e, err := ParseExpr("$X == 493", ExprOption{Base: 8, Strip: true})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{`"755"`: true, `'0755'`: true, `755`: false} {
		if got := e.Holds(binder(map[string]string{"$X": text}), day); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if diff := cmp.Diff([]string{"$X"}, e.Metavariables()); diff != "" {
		t.Error(diff)
	}
}

func TestExprErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "too early",
		"$X >":                      "too early",
		"$x > 1":                    "no metavariable",
		"exec($X)":                  "exec is not known",
		"$X 1":                      "not expected",
		"int($X, 1, 2)":             "takes 1",
		"(1":                        ") is missing",
		"[1 2]":                     "] is missing",
		"'a":                        "not closed",
		"re.match($X, 'a')":         "string literal",
		"re.match('(', $X)":         "not closed",
		"1x":                        "no number",
		"1 not 2":                   "in was expected",
		"$X ; 1":                    "not known",
		"f'a'":                      "prefix",
		strings.Repeat("(", 500):    "nested",
		strings.Repeat("-", 500):    "nested",
		strings.Repeat(" ", 20<<10): "limit",
	} {
		if _, err := ParseExpr(text, ExprOption{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30s: error %v, want one with %q", text, err, want)
		}
	}
	if _, err := ParseExpr("1", ExprOption{Base: 40}); err == nil {
		t.Error("base 40 was taken")
	}
}

func TestInterpolate(t *testing.T) {
	bind := func(name string) (string, bool) {
		s, ok := map[string]string{"$X": "x$Y", "$...ARGS": "a, b", "value($N)": "5", "$N": "n", "$1": "one"}[name]
		return s, ok
	}
	for text, want := range map[string]string{
		"$X and $Z, $...ARGS.":       "x$Y and $Z, a, b.",
		"value($N) value($X) value(": "5 x$Y value(",
		"$Xa $X_ $X1 $x $ $1":        "$Xa $X_ $X1 $x $ one",
		"${X}":                       "${X}",
	} {
		if got := Interpolate(text, bind); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// No expression makes the parser or the evaluation panic.
func FuzzExpr(f *testing.F) {
	for _, text := range []string{"$X > 0o600 and re.match('a', str($Y)) or not [1] in (2,3)", "2 ** 3 ** 2",
		"-~$X // .5e3", "r'\\d' in $X"} {
		f.Add(text, "42", `"s"`)
	}
	f.Fuzz(func(t *testing.T, text, x, y string) {
		e, err := ParseExpr(text, ExprOption{})
		if err != nil {
			return
		}
		v, err := e.Eval(binder(map[string]string{"$X": x, "$Y": y}), day)
		if err == nil && v.Kind > KindList {
			t.Fatalf("kind %d", v.Kind)
		}
	})
}
