package model

import (
	"fmt"
	"strings"
	"testing"
)

// printPlace writes a place in one line: its base, its index, then the steps.
func printPlace(p Place) string {
	bases := map[Base]string{This: "this", Argument: "arg", Return: "return", Parameter: "param", Assigned: "value"}
	var out strings.Builder
	out.WriteString(bases[p.Base])
	if p.Base == Argument || p.Base == Parameter {
		special := map[int]string{Any: " any", Self: " self", Only: " only"}
		if text := special[p.Index]; text != "" {
			out.WriteString(text)
		} else {
			fmt.Fprintf(&out, " %d", p.Index)
		}
	}
	if p.Rest {
		out.WriteString(" and more")
	}
	if p.Name != "" {
		out.WriteString(" named " + p.Name)
	}
	kinds := map[StepKind]string{Field: "field", Elements: "elements", Keys: "keys", KeyOf: "key of", Append: "append",
		Result: "result", Formal: "formal", Deep: "deep"}
	for _, s := range p.Steps {
		out.WriteString(", " + kinds[s.Kind])
		switch s.Kind {
		case Field:
			out.WriteString(" " + s.Name)
		case KeyOf, Formal:
			fmt.Fprintf(&out, " %d", s.Index)
		}
	}
	return out.String()
}

// TestPlaces reads what may stand between the parentheses of an entry.
func TestPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"this":              "this",
		"return":            "return",
		"value":             "value",
		"param":             "param self",
		"param0":            "param 0",
		"param*":            "param any",
		"param1:name":       "param 1 named name",
		"arg0":              "arg 0",
		"arg63":             "arg 63",
		"arg*":              "arg any",
		"arg2+":             "arg 2 and more",
		"arg0:sql":          "arg 0 named sql",
		"arg:shell":         "arg only named shell",
		"this.name":         "this, field name",
		"this.a.b":          "this, field a, field b",
		"this['a b']":       "this, field a b",
		"this[0]":           "this, field 0",
		"this[*]":           "this, elements",
		"this[keys]":        "this, keys",
		"this[+]":           "this, append",
		"this[arg1]":        "this, key of 1",
		"this.**":           "this, deep",
		"arg0()":            "arg 0, result",
		"arg0(1)":           "arg 0, formal 1",
		"arg0(*)":           "arg 0, formal -1",
		"arg0.done(0).body": "arg 0, field done, formal 0, field body",
		"arg0.()":           "arg 0, result",
		"return[*].a()":     "return, elements, field a, result",
		"arg0[*][*]":        "arg 0, elements, elements",
		"this.a.b.c.d.e.f":  "this, field a, field b, field c, field d, field e, field f",
	} {
		p, err := parsePlace(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := printPlace(p); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestPlaceFaults reads what is no place.
func TestPlaceFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "is not a place",
		"that":               "is not a place",
		"arg":                "not a number",
		"arg64":              "not a number from 0 to 63",
		"arg-1":              "not a number",
		"arg*+":              "not a number",
		"arg0:":              "is not a name",
		"arg0:a b":           "is not a name",
		"arg0+:a":            "several arguments have no name",
		"this.":              "a name is missing",
		"this..a":            "a name is missing",
		"this[":              "is not a step",
		"this[x]":            "not a number",
		"this[arg]":          "not a number",
		"this['a]":           "not a number",
		"arg0(":              "( without )",
		"arg0(x)":            "not a number",
		"arg0()x":            "is not a step",
		"this.a.b.c.d.e.f.g": "more than 6 steps",
	} {
		_, err := parsePlace(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", text, err, want)
		}
	}
}

// printCondition writes a condition in one line.
func printCondition(c Condition) string {
	tests := map[Test]string{Is: "is", Equals: "equals", Like: "like", Begins: "begins", Backtracks: "backtracks",
		Admits: "admits", Opens: "opens", From: "from", Count: "count", MoreThan: "more than", Page: "page"}
	parts := []string{printPlace(c.Place)}
	switch c.Test {
	case Count, MoreThan:
		return fmt.Sprintf("%s %d", tests[c.Test], c.Count)
	case Page:
		return "page"
	}
	if c.Not {
		parts = append(parts, "not")
	}
	parts = append(parts, tests[c.Test])
	switch {
	case c.Type:
		parts = append(parts, "type "+c.Word)
	case c.Like != nil:
		parts = append(parts, "/"+c.Like.String()+"/")
	case c.Test == From:
		parts = append(parts, printPlace(c.Other))
	case c.Word != "":
		parts = append(parts, c.Word)
	}
	return strings.Join(parts, " ")
}

// TestConditions reads what may stand behind "if".
func TestConditions(t *testing.T) {
	for text, want := range map[string]string{
		"arg0 is string":           "arg 0 is string",
		"arg0 is not string":       "arg 0 not is string",
		"arg0 is absent":           "arg 0 is absent",
		"this is java.io.File":     "this is type java.io.File",
		"this is not a.B":          "this not is type a.B",
		"this is File":             "this is type File",
		"arg1 = GET":               "arg 1 equals GET",
		"arg1 = 'a b'":             "arg 1 equals a b",
		"arg1 = ''":                "arg 1 equals",
		"arg1 != 1":                "arg 1 not equals 1",
		"arg1 like /^a/":           "arg 1 like /^a/",
		"arg1 like /^a/i":          "arg 1 like /(?i)^a/",
		"arg1 not like /b c/":      "arg 1 not like /b c/",
		"arg0 begins /https?:/":    "arg 0 begins /https?:/",
		"arg0 from this":           "arg 0 from this",
		"arg0 not from arg1.a":     "arg 0 not from arg 1, field a",
		"arg0 backtracks":          "arg 0 backtracks",
		"arg0 backtracks text":     "arg 0 backtracks text",
		"arg0 backtracks anchored": "arg 0 backtracks anchored",
		"arg0 admits":              "arg 0 admits",
		"arg0 admits whole":        "arg 0 admits whole",
		"arg0 opens start":         "arg 0 opens start",
		"arg0 opens host":          "arg 0 opens host",
		"count = 0":                "count 0",
		"count > 100":              "more than 100",
		"here is page":             "page",
		"arg:x is true and this[0] is list and count = 1": "arg only named x is true; this, field 0 is list; count 1",
	} {
		list, err := parseConditions(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, c := range list {
			got = append(got, printCondition(c))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s: got %q, want %q", text, s, want)
		}
	}
}

// TestConditionFaults reads what is no condition.
func TestConditionFaults(t *testing.T) {
	for text, want := range map[string]string{
		"arg0":                      "unknown test",
		"arg0 eats x":               "unknown test",
		"arg0 is":                   "neither a type",
		"arg0 like x":               "between slashes",
		"arg0 like /":               "between slashes",
		"arg0 like /a/g":            "unknown flags",
		"arg0 like /(/":             "missing closing",
		"arg0 from here":            "is not a place",
		"arg0 not backtracks":       "an expression \"backtracks\"",
		"arg0 backtracks whole":     "an expression \"backtracks\"",
		"arg0 admits some":          "an expression \"admits\"",
		"arg0 not admits":           "an expression \"admits\"",
		"arg0 opens":                "data opens",
		"count":                     "want \"count = 2\"",
		"count < 2":                 "want \"count = 2\"",
		"count = 101":               "want \"count = 2\"",
		"count = -1":                "want \"count = 2\"",
		"here":                      "want \"here is page\"",
		"here is open":              "want \"here is page\"",
		"arg0 is string and arg0":   "unknown test",
		"there is string":           "is not a place",
		"arg0 is string and  count": "want \"count = 2\"",
	} {
		if _, err := parseConditions(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", text, err, want)
		}
	}
}
