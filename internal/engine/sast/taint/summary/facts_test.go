package summary_test

import (
	"testing"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// Two contexts have one key exactly when a function does the same in both.
func TestContextKeys(t *testing.T) {
	var origins taintset.Origins
	param := func(i int32) *taintset.Origin {
		return origins.Intern(taintset.OriginKey{In: taintset.Input{Kind: taintset.Parameter, Index: i}})
	}
	text := value.FromString("x").Constant
	distinct := []summary.Facts{
		nil,
		{{Origin: param(0), Constant: text}},
		{{Origin: param(1), Constant: text}},
		{{Origin: param(0), Constant: value.FromString("y").Constant}},
		{{Origin: param(0), Constant: value.FromCharacter("x").Constant}},
		{{Origin: param(0), Type: "x"}},
		{{Origin: param(0), API: "x"}},
		{{Origin: param(0), Collector: true}},
		{{Origin: param(0), Collector: true, KeepsIn: "state"}},
	}
	seen := map[string]int{}
	for i, f := range distinct {
		if j, ok := seen[f.Key()]; ok {
			t.Errorf("contexts %d and %d have one key", j, i)
		}
		seen[f.Key()] = i
	}
	a := summary.Facts{{Origin: param(0), Constant: text}}
	b := summary.Facts{{Origin: param(1), Type: "T"}}
	if a.With(b).Key() != b.With(a).Key() {
		t.Error("the key hangs on the order in which facts were found")
	}
	if both := a.With(b); both.About(param(1)) == nil || both.About(param(2)) != nil || len(a) != 1 {
		t.Errorf("with more facts: %v", both)
	}
	if again := a.With(summary.Facts{{Origin: param(0), Type: "T"}}); len(again) != 1 || again[0].Type != "" {
		t.Errorf("a fact about the same input was replaced: %v", again)
	}
}

// What only takes another way says the same.
func TestSummariesThatSayTheSame(t *testing.T) {
	var origins taintset.Origins
	fn := &ir.Function{}
	at := origins.Intern(taintset.OriginKey{In: taintset.Input{Kind: taintset.Parameter}})
	result := func(clean uint64, node int32) *summary.Summary {
		trace := taintset.Extend(nil, fn, node, nil)
		return &summary.Summary{Function: fn, Result: &value.Value{Taint: taintset.Set{{Origin: at, Clean: clean,
			Trace: trace}}}}
	}
	if !result(1, 3).Same(result(1, 4)) {
		t.Error("another trace makes another summary")
	}
	if result(1, 3).Same(result(3, 3)) {
		t.Error("data that is sanitized for more is the same")
	}
	if result(1, 3).Weight() != 1 || (&summary.Summary{}).Weight() != 0 {
		t.Error("the weight does not count origins")
	}
}
