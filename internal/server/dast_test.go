package server

import (
	"log/slog"
	"slices"
	"testing"

	"merlon/internal/config"
	"merlon/internal/errs"
)

func TestListenerForCalls(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for _, tt := range []struct {
		c    config.Dast
		kind errs.Kind
	}{
		{config.Dast{DastCallbackURL: "https://calls.example.org"}, errs.Invalid},
		{config.Dast{DastCallback: "0.0.0.0:0"}, errs.Invalid},
		{config.Dast{DastCallback: "127.0.0.1:0", DastCallbackDomain: "a b"}, errs.Invalid},
		{config.Dast{DastCallback: "192.0.2.1:1"}, errs.Unavailable},
	} {
		if l, err := newListener(tt.c, log); !errs.Is(err, tt.kind) || l != nil {
			t.Errorf("%+v: %v", tt.c, err)
		}
	}
	if l, err := newListener(config.Dast{}, log); l != nil || err != nil {
		t.Errorf("without settings: %v, %v", l, err)
	}
	l, err := newListener(config.Dast{DastCallback: "127.0.0.1:0"}, log)
	if err != nil {
		t.Fatal(err)
	}
	if closed := dastClosed(config.Store{}, l, "127.0.0.1:1"); !slices.Contains(closed, l.Addr().String()) || !slices.Contains(closed, "127.0.0.1:1") {
		t.Errorf("scans reach %s: closed are %v", l.Addr(), closed)
	}
	closeListener(l, log)
}
