package pcre

import "testing"

func TestAdmits(t *testing.T) {
	for _, c := range []struct {
		expr, flags string
		whole       bool
		has, hasNot string // characters
	}{
		{`^[a-z0-9_]+$`, "", true, "a9_", "A-. ;\n"},
		{`^[a-z]+$`, "i", true, "aZ", "0 "},
		{`^\w{1,20}(-\w+)*$`, "", true, "a-", "./"},
		{`^(?:red|green)$`, "", true, "rg", "b;"},
		{`^red$|^green$`, "", true, "rg", ";"},
		{`^red|green$`, "", false, "", ""},
		{`[a-z]+`, "", false, "", ""},
		{`^[a-z]+`, "", false, "", ""},
		{`[a-z]+$`, "", false, "", ""},
		{`^[a-z]+$`, "m", false, "", ""},
		{`^(?=.*\d)[a-z\d]+$`, "", true, "a1", ";"},
		{`^[^;]+$`, "", true, "|'", ";"},
		{`^.+$`, "", true, ";", "\n"},
		{`^(a|`, "", false, "", ""},
	} {
		a, ok := Admits(FromScript(c.expr, c.flags))
		if ok != c.whole {
			t.Errorf("%s/%s: whole is %v", c.expr, c.flags, ok)
			continue
		}
		for _, r := range c.has {
			if !a.HasAny(string(r)) {
				t.Errorf("%s/%s: %q is missing", c.expr, c.flags, r)
			}
		}
		if a.HasAny(c.hasNot) {
			t.Errorf("%s/%s: has one of %q", c.expr, c.flags, c.hasNot)
		}
	}
}

func TestClass(t *testing.T) {
	for _, c := range []struct {
		expr        string
		ok          bool
		has, hasNot string
	}{
		{`[^a-z]`, true, ";A", "a"},
		{`\W+`, true, "; ", "_a"},
		{`[;&|]`, true, ";&|", "$"},
		{`'`, true, "'", `"`},
		{`<|>`, true, "<>", `"`},
		{`\.\.`, false, "", ""},
		{`^[a-z]`, false, "", ""},
		{`[a-z]*`, false, "", ""},
		{`[a-z]{2}`, false, "", ""},
	} {
		a, ok := Class(c.expr, 0)
		if ok != c.ok {
			t.Errorf("%s: ok is %v", c.expr, ok)
			continue
		}
		if !ok {
			continue
		}
		for _, r := range c.has {
			if !a.HasAny(string(r)) {
				t.Errorf("%s: %q is missing", c.expr, r)
			}
		}
		if a.HasAny(c.hasNot) {
			t.Errorf("%s: has one of %q", c.expr, c.hasNot)
		}
		if out := a.Without(); out.HasAny(c.has) {
			t.Errorf("%s: the others have one of %q", c.expr, c.has)
		}
	}
}
