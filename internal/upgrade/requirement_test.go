package upgrade

import "testing"

func TestRaise(t *testing.T) {
	for _, tt := range []struct{ syntax, old, want string }{
		{caretSyntax, "^4.17.1", "^4.17.21"}, {caretSyntax, "~4.17.1", "~4.17.21"}, {caretSyntax, "4.17.1", "4.17.21"},
		{caretSyntax, "=4.17.1", "=4.17.21"},
		{caretSyntax, "v4.17.1", "v4.17.21"}, {caretSyntax, ">=4.17.1", ">=4.17.21"},
		{caretSyntax, "> 4.0", ">= 4.17.21"}, {caretSyntax, "4.x", "^4.17.21"},
		{caretSyntax, "4.17.*", "^4.17.21"}, {caretSyntax, "<4", "^4.17.21"}, {caretSyntax, "^3 || ^4", "^4.17.21"},
		{caretSyntax, "3.0 - 4.0", "^4.17.21"},
		{caretSyntax, ">=4.0.0 <5.0.0", ">=4.17.21 <5.0.0"}, {caretSyntax, ">= 4.0.0 < 4.17.0", "^4.17.21"},
		{caretSyntax, ">=4,<5", ">=4.17.21,<5"},
		{caretSyntax, "npm:lodash@^4.0.0", "npm:lodash@^4.17.21"},
		{caretSyntax, "npm:@acme/lodash@4.0.0", "npm:@acme/lodash@4.17.21"},
		{caretSyntax, "workspace:*", ""}, {caretSyntax, "git+https://example.com/a.git#v1", ""},
		{caretSyntax, "file:../a", ""}, {caretSyntax, "user/repository", ""},
		{caretSyntax, "latest", ""}, {caretSyntax, "*", ""}, {caretSyntax, "", ""}, {caretSyntax, "^3|^4", "^4.17.21"},
		{caretSyntax, ">=4 beta", ""},
		{pepSyntax, "==4.0", "==4.17.21"}, {pepSyntax, "== 4.0", "== 4.17.21"}, {pepSyntax, "~=4.0", "~=4.17.21"},
		{pepSyntax, ">=4.0,<5", ">=4.17.21,<5"},
		{pepSyntax, ">= 4.0, < 5", ">=4.17.21, <5"}, {pepSyntax, ">=4.0,<4.2", ">=4.17.21"},
		{pepSyntax, "<4.2", ">=4.17.21"}, {pepSyntax, "==4.*", "==4.17.21"},
		{pepSyntax, ">=4.0,!=4.2", ">=4.17.21,!=4.2"}, {pepSyntax, "<=4.17.21,>=4.0", "<=4.17.21,>=4.17.21"},
		{pepSyntax, " ==4.0 ", " ==4.17.21 "},
		{twiddle, "~> 4.0", "~> 4.17.21"}, {twiddle, ">= 4.0", ">= 4.17.21"}, {twiddle, "4.0", "4.17.21"},
		{twiddle, "~> 1.0 and >= 1.0.3", ">= 4.17.21"}, {twiddle, "< 4", ">= 4.17.21"},
		{exactSyntax, "4.0.RELEASE", "4.17.21"}, {exactSyntax, "v4.0.0", "v4.17.21"},
		{exactSyntax, "[4.0]", "[4.17.21]"}, {exactSyntax, "[4.0,5.0)", "[4.17.21,5.0)"},
		{exactSyntax, "(4.0, 4.17.21)", "[4.17.21,)"}, {exactSyntax, "[4.0,)", "[4.17.21,)"},
		{exactSyntax, "4.*", "4.17.21"}, {exactSyntax, "4.+", "4.17.21"},
		{exactSyntax, "${v}", ""}, {exactSyntax, "4.0 beta", ""},
	} {
		got, ok := raiseRequirement(tt.syntax, tt.old, "4.17.21")
		if !ok {
			got = ""
		}
		if got != tt.want {
			t.Errorf("%s %q: got %q, want %q", tt.syntax, tt.old, got, tt.want)
		}
	}
	for _, hostile := range []string{"1\"", "1 2", "$(rm)", "", "1;", "<a>", "1\n"} {
		if got, ok := raiseRequirement(exactSyntax, "1.0", hostile); ok {
			t.Errorf("the version %q was written: %q", hostile, got)
		}
	}
}

func FuzzRaise(f *testing.F) {
	f.Add(uint8(0), ">=1 <2", "1.5")
	f.Add(uint8(3), "[1,2)", "1.5")
	f.Fuzz(func(t *testing.T, which uint8, old, version string) {
		syntax := []string{caretSyntax, pepSyntax, twiddle, exactSyntax}[int(which)%4]
		raised, ok := raiseRequirement(syntax, old, version)
		if !ok {
			return
		}
		if again, ok := raiseRequirement(syntax, raised, version); !ok || again != raised {
			t.Errorf("%q became %q, and then %q", old, raised, again)
		}
	})
}
