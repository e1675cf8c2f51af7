package cli

import (
	"strings"
	"testing"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

func TestOASTOptions(t *testing.T) {
	for _, tt := range []struct {
		target  string
		profile scan.Profile
		o       oastOptions
		at      string // of the listener begins with
		reason  string // holds
		kind    errs.Kind
	}{
		{"http://127.0.0.1:81/", "", oastOptions{OAST: "auto"}, "http://127.0.0.1:", "", 0},
		{"http://[::1]:81/", "", oastOptions{OAST: "auto"}, "http://[::1]:", "", 0},
		{"http://192.0.2.1/", "", oastOptions{OAST: "auto"}, "", "--oast", 0},
		{"http://name.invalid/", "", oastOptions{OAST: "auto"}, "", "no address", 0},
		{"http://127.0.0.1:81/", "", oastOptions{OAST: "none"}, "", "", 0},
		{"http://127.0.0.1:81/", scan.Passive, oastOptions{OAST: "auto"}, "", "", 0},
		{"http://192.0.2.1/", "", oastOptions{OAST: "127.0.0.1:0", OASTURL: "https://calls.example.org/x/"},
			"https://calls.example.org/x/", "", 0},
		{"http://192.0.2.1/", "", oastOptions{OAST: "auto", OASTURL: "https://calls.example.org/"}, "", "",
			errs.Invalid},
		{"http://192.0.2.1/", "", oastOptions{OAST: "0.0.0.0:0"}, "", "", errs.Invalid},
		{"http://192.0.2.1/", "", oastOptions{OAST: "192.0.2.1:1"}, "", "", errs.Unavailable},
	} {
		l, reason, err := tt.o.openListener(t.Context(), &scan.Target{URL: tt.target, Profile: tt.profile})
		if tt.kind != 0 && !errs.Is(err, tt.kind) || tt.kind == 0 && err != nil ||
			!strings.Contains(reason, tt.reason) || tt.reason == "" && reason != "" || (l == nil) != (tt.at == "") {
			t.Errorf("%s %+v: reason %q, %v", tt.target, tt.o, reason, err)
		}
		if l == nil {
			continue
		}
		if address, _ := l.Scan().Address("t"); !strings.HasPrefix(address, tt.at) {
			t.Errorf("%s %+v: %s", tt.target, tt.o, address)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
