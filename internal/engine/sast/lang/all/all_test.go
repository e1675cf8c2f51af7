package all

import (
	"testing"
)

func TestLanguagesAreValid(t *testing.T) {
	names, spellings := map[string]bool{}, map[string]string{}
	for _, l := range Languages() {
		if err := l.Validate(); err != nil {
			t.Error(err)
		}
		if names[l.Name] {
			t.Errorf("two languages are named %q", l.Name)
		}
		names[l.Name] = true
		for _, s := range l.Spellings {
			if other, ok := spellings[s]; ok {
				t.Errorf("%q means %s and %s", s, other, l.Name)
			}
			spellings[s] = l.Name
			if got := ByName(s); got != l {
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
