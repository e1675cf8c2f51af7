package lazyregexp

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSame compares every method with the one of package regexp.
func TestSame(t *testing.T) {
	const text, in = `(?P<key>[a-z]+)=(\d+)`, "a=1, bc=23; =4"
	want, got := regexp.MustCompile(text), New(text)
	upper := func(s string) string { return "<" + s + ">" }
	for name, c := range map[string][2]any{
		"String":                  {want.String(), got.String()},
		"Match":                   {want.Match([]byte(in)), got.Match([]byte(in))},
		"MatchString":             {want.MatchString("=4"), got.MatchString("=4")},
		"Find":                    {want.Find([]byte(in)), got.Find([]byte(in))},
		"FindString":              {want.FindString(in), got.FindString(in)},
		"FindStringIndex":         {want.FindStringIndex(in), got.FindStringIndex(in)},
		"FindStringSubmatch":      {want.FindStringSubmatch(in), got.FindStringSubmatch(in)},
		"FindStringSubmatchIndex": {want.FindStringSubmatchIndex(in), got.FindStringSubmatchIndex(in)},
		"FindAllString":           {want.FindAllString(in, -1), got.FindAllString(in, -1)},
		"FindAllStringIndex":      {want.FindAllStringIndex(in, 1), got.FindAllStringIndex(in, 1)},
		"FindAllSubmatchIndex": {want.FindAllSubmatchIndex([]byte(in), -1),
			got.FindAllSubmatchIndex([]byte(in), -1)},
		"FindAllStringSubmatch":      {want.FindAllStringSubmatch(in, -1), got.FindAllStringSubmatch(in, -1)},
		"FindAllStringSubmatchIndex": {want.FindAllStringSubmatchIndex(in, -1), got.FindAllStringSubmatchIndex(in, -1)},
		"ReplaceAllString":           {want.ReplaceAllString(in, "$2=$key"), got.ReplaceAllString(in, "$2=$key")},
		"ReplaceAllLiteralString":    {want.ReplaceAllLiteralString(in, "$2"), got.ReplaceAllLiteralString(in, "$2")},
		"ReplaceAllStringFunc":       {want.ReplaceAllStringFunc(in, upper), got.ReplaceAllStringFunc(in, upper)},
		"Split":                      {want.Split(in, -1), got.Split(in, -1)},
		"SubexpIndex":                {want.SubexpIndex("key"), got.SubexpIndex("key")},
		"NumSubexp":                  {want.NumSubexp(), got.NumSubexp()},
		"Compiled":                   {want.String(), got.Compiled().String()},
	} {
		if d := cmp.Diff(c[0], c[1]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestWrongOneFailsTests(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression was accepted")
		}
	}()
	New("(")
}
