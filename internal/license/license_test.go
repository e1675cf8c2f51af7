package license_test

import (
	"strings"
	"testing"

	"github.com/github/go-spdx/v2/spdxexp"
	"github.com/google/go-cmp/cmp"

	"merlon/internal/license"
)

func TestBuiltIn(t *testing.T) {
	count := map[license.Category]int{}
	all := license.BuiltIn()
	for i, l := range all {
		count[l.Category]++
		if id, known := license.Canonical(l.ID); !known || id != l.ID {
			t.Errorf("SPDX does not list %s (%q)", l.ID, id)
		}
		if l.Name == "" || i > 0 && strings.EqualFold(l.ID, all[i-1].ID) {
			t.Errorf("a row is broken: %+v", l)
		}
	}
	for _, c := range license.Categories {
		if count[c] == 0 {
			t.Errorf("no licence is of the category %q", c)
		}
	}
	if sum := count[license.Permissive] + count[license.WeakCopyleft] + count[license.StrongCopyleft]; sum <= 100 ||
		len(count) != len(license.Categories) {
		t.Errorf("got %v, want more than 100 that are classified", count)
	}
}

func TestCategories(t *testing.T) {
	for _, tt := range []struct {
		text string
		want license.Category
	}{
		{"MIT", license.Permissive},
		{"mit", license.Permissive},
		{"MPL-2.0", license.WeakCopyleft},
		{"GPL-3.0-only", license.StrongCopyleft},
		{"GPL-3.0", license.StrongCopyleft},
		{"LGPL-2.1+", license.WeakCopyleft},
		{"MPL-2.0+", license.WeakCopyleft},
		{"BUSL-1.1", license.Unknown},
		{"LicenseRef-Acme", license.Unknown},
		{"MIT OR GPL-2.0-only", license.Permissive},
		{"MIT AND GPL-2.0-only", license.StrongCopyleft},
		{"MIT or LGPL-2.1-only and GPL-2.0-only", license.Permissive},
		{"(MIT OR LGPL-2.1-only) AND GPL-2.0-only", license.StrongCopyleft},
		{"(MIT OR GPL-2.0-only) AND (ISC OR MPL-2.0)", license.Permissive},
		{"(GPL-2.0-only OR GPL-3.0-only) AND MIT", license.StrongCopyleft},
		{"MPL-2.0 OR GPL-2.0-only", license.WeakCopyleft},
		{"GPL-2.0-only WITH Classpath-exception-2.0", license.WeakCopyleft},
		{"GPL-2.0-only with classpath-exception-2.0", license.WeakCopyleft},
		{"GPL-2.0-only WITH Universal-FOSS-exception-1.0", license.StrongCopyleft},
		{"Apache-2.0 WITH LLVM-exception", license.Permissive},
		// Where one may choose, what is known is the bound; where all hold, what is
		// not known may be the worst but for strong copyleft.
		{"LicenseRef-Acme OR GPL-2.0-only", license.StrongCopyleft},
		{"LicenseRef-Acme OR MIT", license.Permissive},
		{"LicenseRef-Acme AND MIT", license.Unknown},
		{"LicenseRef-Acme AND MPL-2.0", license.Unknown},
		{"LicenseRef-Acme AND GPL-2.0-only", license.StrongCopyleft},
	} {
		e, err := license.Parse(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := e.Category(license.Classes{}); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
	}
}

func TestRisks(t *testing.T) {
	want := map[license.Category]string{license.Permissive: "NONE", license.WeakCopyleft: "MEDIUM",
		license.StrongCopyleft: "HIGH", license.Unknown: "UNKNOWN"}
	said := map[string]bool{}
	for c, risk := range want {
		if got := c.Risk(); got != risk {
			t.Errorf("%s is the risk %s, want %s", c, got, risk)
		}
		said[c.RiskDescription()] = true
	}
	if len(said) != len(want) {
		t.Errorf("risks are described alike: %v", said)
	}
}

func TestNoExpressions(t *testing.T) {
	for _, text := range []string{
		"", " ", "OR", "MIT OR", "AND MIT", "MIT Apache-2.0", "(MIT", "MIT)", "()", "MIT WITH", "MIT WITH OR",
		"MIT,ISC", "Apache License 2.0", "MIT\x00",
		strings.Repeat("(", 51) + "MIT" + strings.Repeat(")", 51), strings.Repeat("MIT OR ", 1000) + "MIT",
	} {
		if e, err := license.Parse(text); err == nil {
			t.Errorf("%.20q was read as %s", text, e)
		}
	}
	deep := strings.Repeat("(", 50) + "MIT" + strings.Repeat(")", 50)
	if e, err := license.Parse(deep); err != nil || e.String() != "MIT" {
		t.Errorf("got %v, %v for 50 brackets", e, err)
	}
}

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		declared []string
		ids      []string
		text     string
		want     license.Category
	}{
		{nil, nil, "", license.Unknown},
		{[]string{"", "NOASSERTION", "none"}, nil, "", license.Unknown},
		{[]string{"mit"}, []string{"MIT"}, "MIT", license.Permissive},
		{[]string{"MIT", "GPL-2.0+"}, []string{"MIT", "GPL-2.0-or-later"}, "MIT AND GPL-2.0-or-later",
			license.StrongCopyleft},
		{[]string{"MIT OR ISC", "MIT"}, []string{"MIT", "ISC"}, "(MIT OR ISC) AND MIT", license.Permissive},
		{[]string{"Our own licence, 1999"}, []string{"Our own licence, 1999"}, "Our own licence, 1999",
			license.Unknown},
	} {
		e := license.Read(tt.declared)
		if diff := cmp.Diff(tt.ids, e.IDs()); diff != "" {
			t.Errorf("%q: licences (-want +got):\n%s", tt.declared, diff)
		}
		if got := e.Category(license.Classes{}); got != tt.want || e.String() != tt.text {
			t.Errorf("%q: got %q of %s, want %q of %s", tt.declared, e, got, tt.text, tt.want)
		}
	}
}

func TestClassesOfAnOrganization(t *testing.T) {
	c := license.NewClasses([]license.License{
		{ID: "MIT", Category: license.StrongCopyleft}, {ID: "LicenseRef-Acme", Category: license.Permissive},
		{ID: "GPL-2.0-only WITH Classpath-exception-2.0", Category: license.Permissive},
	})
	for id, want := range map[string]license.License{
		"MIT":             {ID: "MIT", Name: "MIT License", Category: license.StrongCopyleft},
		"licenseref-acme": {ID: "LicenseRef-Acme", Name: "LicenseRef-Acme", Category: license.Permissive},
		"ISC":             {ID: "ISC", Name: "ISC License", Category: license.Permissive},
		"GPL-2.0-only": {ID: "GPL-2.0-only", Name: "GNU General Public License " +
			"v2.0 only", Category: license.StrongCopyleft},
		"GPL-2.0-only WITH Classpath-exception-2.0": {ID: "GPL-2.0-only WITH Classpath-exception-2.0",
			Name: "GPL-2.0-only WITH Classpath-exception-2.0", Category: license.Permissive},
		"MIT WITH LLVM-exception": {ID: "MIT WITH LLVM-exception", Name: "MIT License with LLVM-exception",
			Category: license.StrongCopyleft},
		"MIT+": {ID: "MIT+", Name: "MIT License or later", Category: license.StrongCopyleft},
	} {
		if diff := cmp.Diff(want, c.Of(id)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	for id, want := range map[string]bool{
		"MIT": true, "LicenseRef-Acme": true, "LicenseRef-Other": false, "Nonsense": false, "Glide": true,
		"MIT WITH LLVM-exception": true, "MIT WITH nonsense": false, "LicenseRef-Acme WITH LLVM-exception": true,
	} {
		if got := c.Names(id); got != want {
			t.Errorf("somebody knows %s: got %v, want %v", id, got, want)
		}
	}
	if own := c.Own(); len(own) != 3 || own[1].ID != "LicenseRef-Acme" {
		t.Errorf("got %+v", own)
	}
}

func TestCanonical(t *testing.T) {
	for id, want := range map[string]string{
		"gpl-2.0": "GPL-2.0-only", "GPL-2.0+": "GPL-2.0-or-later", "agpl-3.0-OR-later": "AGPL-3.0-or-later",
		"apache-2.0": "Apache-2.0",
		"mpl-2.0+":   "MPL-2.0+", "GPL-2.0-or-later+": "GPL-2.0-or-later+", "acme": "acme", "GFDL-1.3": "GFDL-1.3-only",
	} {
		if got, _ := license.Canonical(id); got != want {
			t.Errorf("%s: got %s, want %s", id, got, want)
		}
	}
}

// What is of a category is what can be met with licences of that category and
// less: the library's own judgement of expressions says the same where it is
// right, which is where it need not multiply out.
func TestCategoryIsWhatSatisfies(t *testing.T) {
	allowed := map[license.Category][]string{}
	allowed[license.Permissive] = []string{"MIT", "ISC"}
	allowed[license.WeakCopyleft] = append([]string{"MPL-2.0", "EPL-2.0"}, allowed[license.Permissive]...)
	allowed[license.StrongCopyleft] = append([]string{"GPL-2.0-only", "OSL-3.0"}, allowed[license.WeakCopyleft]...)
	for _, text := range []string{
		"MIT AND MPL-2.0", "MIT OR MPL-2.0", "MIT AND (MPL-2.0 OR OSL-3.0)", "(MIT OR OSL-3.0) AND (ISC OR EPL-2.0)",
		"OSL-3.0 OR EPL-2.0 AND MIT", "OSL-3.0 AND EPL-2.0 OR MIT", "OSL-3.0 AND EPL-2.0 AND MIT",
	} {
		e, err := license.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range license.Categories[:3] {
			satisfied, err := spdxexp.Satisfies(text, allowed[c])
			if err != nil {
				t.Fatal(err)
			}
			within := indexOf(e.Category(license.Classes{})) <= indexOf(c)
			if within != satisfied {
				t.Errorf("%s is %s, but that %s is enough is %v", text, e.Category(license.Classes{}), c, satisfied)
			}
		}
	}
}

func indexOf(c license.Category) int {
	for i, other := range license.Categories {
		if other == c {
			return i
		}
	}
	return -1
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"MIT", "(MIT OR GPL-2.0+) AND ISC", "GPL-2.0-only WITH Classpath-exception-2.0",
		"DocumentRef-a:LicenseRef-b", "((", "a+ or b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		license.Read(strings.Split(text, "\n"))
		e, err := license.Parse(text)
		if err != nil {
			return
		}
		again, err := license.Parse(e.String())
		if err != nil {
			t.Fatalf("%q became %q, which is none: %v", text, e, err)
		}
		if again.String() != e.String() || again.Category(license.Classes{}) != e.Category(license.Classes{}) {
			t.Fatalf("%q became %q and then %q", text, e, again)
		}
		if len(e.IDs()) == 0 || len(e.Category(license.Classes{}).Risk()) == 0 {
			t.Fatalf("%q names no licence", text)
		}
	})
}
