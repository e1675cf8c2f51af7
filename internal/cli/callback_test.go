package cli

import (
	"strings"
	"testing"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

func TestCallbackOptions(t *testing.T) {
	for _, tt := range []struct {
		target  string
		profile scan.Profile
		o       callbackOptions
		at      string // of the listener begins with
		reason  string // holds
		kind    errs.Kind
	}{
		{"http://127.0.0.1:81/", "", callbackOptions{Callback: "auto"}, "http://127.0.0.1:", "", 0},
		{"http://[::1]:81/", "", callbackOptions{Callback: "auto"}, "http://[::1]:", "", 0},
		{"http://192.0.2.1/", "", callbackOptions{Callback: "auto"}, "", "--callback", 0},
		{"http://name.invalid/", "", callbackOptions{Callback: "auto"}, "", "no address", 0},
		{"http://127.0.0.1:81/", "", callbackOptions{Callback: "none"}, "", "", 0},
		{"http://127.0.0.1:81/", scan.Passive, callbackOptions{Callback: "auto"}, "", "", 0},
		{"http://192.0.2.1/", "", callbackOptions{Callback: "127.0.0.1:0", CallbackURL: "https://calls.example.org/x/"},
			"https://calls.example.org/x/", "", 0},
		{"http://192.0.2.1/", "", callbackOptions{Callback: "auto", CallbackURL: "https://calls.example.org/"}, "", "",
			errs.Invalid},
		{"http://192.0.2.1/", "", callbackOptions{Callback: "0.0.0.0:0"}, "", "", errs.Invalid},
		{"http://192.0.2.1/", "", callbackOptions{Callback: "192.0.2.1:1"}, "", "", errs.Unavailable},
	} {
		l, reason, err := tt.o.open(t.Context(), &scan.Target{URL: tt.target, Profile: tt.profile})
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
