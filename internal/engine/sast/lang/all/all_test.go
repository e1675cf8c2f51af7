package all

import (
	"slices"
	"strings"
	"testing"
)

func TestLanguagesAreValid(t *testing.T) {
	names := map[string]bool{}
	for _, l := range Languages() {
		if err := l.Validate(); err != nil {
			t.Error(err)
		}
		if names[l.Name] {
			t.Errorf("two languages are named %q", l.Name)
		}
		names[l.Name] = true
		if got := ByName(l.Name); got != l {
			t.Errorf("ByName(%q) is not the language of this name", l.Name)
		}
		for _, s := range l.Spellings {
			if !slices.Contains(Named(strings.ToUpper(s)), l) {
				t.Errorf("Named(%q) lacks %s", s, l.Name)
			}
			if got := ByName(s); got != l && len(Named(s)) == 1 {
				t.Errorf("ByName(%q) is not %s", s, l.Name)
			}
		}
		for _, ext := range l.Grammar.Extensions {
			if got := ForFile("a/B" + ext); got == nil {
				t.Errorf("no language takes the files of %s, %s", l.Name, ext)
			}
		}
	}
	if got := ByName("no such language"); got != nil {
		t.Errorf("an unknown name is %s", got.Name)
	}
	if got := ForFile("a/b.no-such-language"); got != nil {
		t.Errorf("an unknown file is %s", got.Name)
	}
}
