package pcre

import (
	"math"
	"strings"
	"testing"
	"time"
)

// growths are expressions with what is known of them. The texts that make the slow
// ones slow are in TestSlowTexts.
var growths = map[string]Growth{
	`^(\-|\+)?([1-9]+[0-9]*)$`:                       Polynomial,
	`^\s*-?(\d*\.?\d+|\d+\.?\d*)(e[-+]?\d+)?\s*$`:    Polynomial,
	`rgba?\((\d+),(\d+),(\d+)(,(\d+)?\.?(\d+))?\);?`: Polynomial,
	`(?:charset|encoding)\s*=\s*['"]? *([\w\-]+)`:    Polynomial,
	`^.*a.*b$`:                         Polynomial,
	`^a*b?a*c`:                         Polynomial,
	`^(?:\.?[a-zA-Z_][a-zA-Z_0-9]*)+$`: Exponential,
	`^(?:(?:\r\n)?\s)*x$`:              Exponential,
	`<\/?([a-zA-Z0-9]+)*(.*?)\/?>`:     Exponential,
	`^(\w|\d)+$`:                       Exponential,
	`^(a|a)*$`:                         Exponential,
	`^(?:a|ab|b)*c`:                    Exponential,
	`^(([a-z])+.)+[A-Z]([a-z])+$`:      Exponential,
	`(?:x|(a+)+y)+`:                    Exponential,
	`^(?:a|b(c+)+d)*`:                  Exponential,
	`\s+$`:                             Rescans,
	`<[^>]+>`:                          Rescans,
	`((?:\\{2})*)(\\?)\|`:              Rescans,
	`^\s+`:                             Linear,
	`^\s+$`:                            Linear,
	`^[a-z]+$`:                         Linear,
	`^a+b+c+$`:                         Linear,
	`^\d{4}-\d{2}-\d{2}$`:              Linear,
	`^(\d{1,3}\.){3}\d{1,3}$`:          Linear,
	`^(?:[^"\\]|\\.)*"$`:               Linear,
	`^(a+)+`:                           Linear,
	`^.*a.*`:                           Linear,
	`^[\s\S]*x[\s\S]*$`:                Linear,
	`^\w+@\w+\.com$`:                   Linear,
	`^(?:[a-z]+-)*[a-z]+$`:             Linear,
	`foo|bar`:                          Linear,
	`(`:                                Linear,
}

func TestGrowth(t *testing.T) {
	for expr, want := range growths {
		if got := GrowthOf(expr, 0); got != want {
			t.Errorf("%s: %d, want %d", expr, got, want)
		}
	}
}

func TestGrowthAnchored(t *testing.T) {
	if got := GrowthOf(`\s+$`, Anchored); got != Linear {
		t.Errorf("at the start only, it is linear, not %d", got)
	}
}

// TestSlowTexts runs the backtracking engine on what the analysis warns of: with a few
// characters more, an exponential expression needs many times as long.
func TestSlowTexts(t *testing.T) {
	for _, c := range []struct{ expr, head, pump, tail string }{
		{`^(?:\.?[a-zA-Z_][a-zA-Z_0-9]*)+$`, "", "a", "!"},
		{`^(?:ab|a|b)*c`, "", "ab", "!"},
		{`^(?:a|b(c+)+d)*$`, "b", "c", "!"},
	} {
		r, err := compileSlow(c.expr, 0)
		if err != nil {
			t.Fatal(err)
		}
		r.MatchTimeout = time.Minute
		took := func(n int) time.Duration { // the best of a few: it may have waited for others
			best := time.Duration(math.MaxInt64)
			for range 5 {
				begin := time.Now()
				if ok, err := r.MatchString(c.head + strings.Repeat(c.pump, n) + c.tail); ok || err != nil {
					t.Fatalf("%s: %v %v", c.expr, ok, err)
				}
				best = min(best, time.Since(begin))
			}
			return best
		}
		if short, long := took(9), took(19); long < 20*short {
			t.Errorf("%s: %v, then %v", c.expr, short, long)
		}
	}
}

func TestScriptGrowth(t *testing.T) {
	for expr, want := range map[string]Growth{
		`^([^]+)+$`:                        Linear, // nothing is left that could fail
		`^([^]+)+x$`:                       Exponential,
		`^(\u0061+)+$`:                     Exponential,
		`^(\u{61}|a)+$`:                    Exponential,
		`^[[\]]+[\]]*$`:                    Polynomial,
		`^[]*a$`:                           Linear,
		`\u`:                               Linear,
		strings.Repeat(`(a+)`, maxGrowing): Linear, // too long
	} {
		if got := ScriptGrowth(expr, "u"); got != want {
			t.Errorf("%.40s: %d, want %d", expr, got, want)
		}
	}
	if got := ScriptGrowth(`^(a|A)+$`, "i"); got != Exponential {
		t.Errorf("the flag i is lost: %d", got)
	}
	if got := ScriptGrowth(`^(a|A)+$`, ""); got != Linear {
		t.Errorf("without the flag: %d", got)
	}
}

func TestSplitLiteral(t *testing.T) {
	for text, want := range map[string]string{`/a\/b/gi`: `a\/b gi`, `/x/`: `x `, `//`: ``, `x`: ``, `/`: ``} {
		expr, letters, ok := SplitLiteral(text)
		if got := expr + " " + letters; ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q %v", text, got, ok)
		}
	}
}

// TestGrowthCost holds the analysis to its bounds on expressions made to be large.
func TestGrowthCost(t *testing.T) {
	for _, expr := range []string{
		strings.Repeat(`(?:a?`, 190) + strings.Repeat(`)*`, 190) + "b",
		strings.Repeat(`\w*`, 2000) + "!",
		strings.Repeat(`(\w|`, 150) + strings.Repeat(`)+`, 150) + "$",
		"(" + strings.Repeat(`[a-z]?[0-9a-f]*|`, 400) + "x)*$",
	} {
		begin := time.Now()
		GrowthOf(expr, 0)
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%.20s…: %v", expr, took)
		}
	}
}

func FuzzGrowth(f *testing.F) {
	for expr := range growths {
		f.Add(expr)
	}
	f.Add(`[^]\u{61}[[]`)
	f.Fuzz(func(t *testing.T, expr string) {
		if g := GrowthOf(expr, 0); g == Linear && GrowthOf(expr, Anchored) > Linear {
			t.Errorf("anchored it grows faster: %q", expr)
		}
		ScriptGrowth(expr, "gi")
	})
}
