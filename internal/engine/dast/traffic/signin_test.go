package traffic

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/scan"
)

// Attempts to sign in end after three that are refused, and at the first sign of a lock.
func TestSignIns(t *testing.T) {
	page := func(status int, header, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			if header != "" {
				w.Header().Set(header, "60")
			}
			w.WriteHeader(status)
			fmt.Fprint(w, text)
		}
	}
	// then answers from the third attempt on
	then := func(h http.HandlerFunc) func() http.HandlerFunc {
		return func() http.HandlerFunc {
			n := 0
			return func(w http.ResponseWriter, r *http.Request) {
				if n++; n >= 3 {
					h(w, r)
					return
				}
				page(200, "", "<html>wrong")(w, r)
			}
		}
	}
	always := func(h http.HandlerFunc) func() http.HandlerFunc { return func() http.HandlerFunc { return h } }
	tests := map[string]struct {
		h      func() http.HandlerFunc
		full   bool
		sent   int
		locked bool
	}{
		"refused by a page":      {always(page(200, "", "<html>wrong")), false, 3, false},
		"refused by a status":    {always(page(401, "", "wrong")), false, 3, false},
		"refused, full":          {always(page(200, "", "<html>wrong")), true, 20, false},
		"fails":                  {always(page(500, "", "SQL error")), false, 20, false},
		"is not there":           {always(page(404, "", "")), false, 20, false},
		"always names a captcha": {always(page(200, "", "<html>wrong; captcha")), true, 20, false},
		"429":                    {then(page(429, "", "")), true, 3, true},
		"423":                    {then(page(423, "", "")), true, 3, true},
		"Retry-After":            {then(page(401, "Retry-After", "")), true, 3, true},
		"refuses otherwise":      {then(page(403, "", "")), true, 3, true},
	}
	for _, text := range []string{"Too many failed login attempts", "Your account is locked",
		"Please solve the CAPTCHA", "Try again in 5 minutes", "Zu viele Versuche", "Konto gesperrt",
		"Trop de tentatives", "Compte verrouillé", "Demasiados intentos", "Cuenta bloqueada", "Troppi tentativi",
		"Account bloccato", "Muitas tentativas", "Conta bloqueada", "Te veel pogingen", "アカウントがロックされました"} {
		tests[text] = tests["429"]
		tt := tests[text]
		tt.h = then(page(200, "", "<html>"+text))
		tests[text] = tt
	}
	for name, tt := range tests {
		server := httptest.NewServer(tt.h())
		scope, err := sitemap.NewScope(&scan.Target{URL: server.URL + "/"})
		if err != nil {
			t.Fatal(err)
		}
		var dialer net.Dialer
		c := New(Options{Scope: scope, Dial: dialer.DialContext, Rate: 1e6, SignIns: tt.full})
		c.ProtectAccount("jane", "s3cret")
		sent := 0
		send := func(user, password string) {
			r := &message.Request{Method: http.MethodPost, Scheme: "http",
				Host: strings.TrimPrefix(server.URL, "http://"), Path: "/login",
				Body: message.Body{Kind: message.Form, Params: []message.Param{{Name: "user", Value: user},
					{Name: "password", Value: password}}}}
			if _, err := c.Send(t.Context(), r, nil); err == nil {
				sent++
			}
		}
		if send("jane", "wrong"); sent != 0 {
			t.Errorf("%s: a wrong password was sent with the account of the scan", name)
		}
		for i := range 20 {
			send(fmt.Sprint("user", i), "wrong")
		}
		left, locked := c.SignIns()
		if sent != tt.sent || (locked != "") != tt.locked || len(left) != 1 {
			t.Errorf("%s: %d attempts, not %d, %v, locked: %q", name, sent, tt.sent, left, locked)
		}
		if !tt.locked {
			if send("jane", "s3cret"); sent != tt.sent+1 {
				t.Errorf("%s: the scan does not sign in", name)
			}
		}
		c.Close()
		server.Close()
	}
}
