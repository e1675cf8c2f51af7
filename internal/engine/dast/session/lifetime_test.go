package session

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/scan"
)

func jwtOf(claims string) string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"HS256"}`) + "." + part(claims) + ".c2lnbmF0dXJl"
}

func TestEnds(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for claims, want := range map[string]time.Duration{
		`{"exp":1000060}`:                 48 * time.Second,
		`{"iat":5000000,"exp":5003600}`:   59 * time.Minute, // another clock
		`{"exp":1000005}`:                 0,
		`{"exp":900000}`:                  0,
		`{"sub":"jane"}`:                  0,
		`{"exp":"soon"}`:                  0,
		`{"iat":1000000,"exp":999999999}`: time.Duration(998999999)*time.Second - time.Minute,
	} {
		got := tokenRenewalTime([]scan.Header{{Name: "X-A", Value: "b"},
			{Name: "Authorization", Value: "Bearer " + jwtOf(claims)}},
			now)
		if want == 0 && !got.IsZero() || want != 0 && got.Sub(now) != want {
			t.Errorf("%s: %s", claims, got.Sub(now))
		}
	}
}

func TestTokenIsRenewedBeforeItEnds(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" { // looked at as a page that tells of the session
			asked = append(asked, r.URL.Path)
		}
		if r.URL.Path == "/login" {
			fmt.Fprintf(w, `{"token":%q}`, jwtOf(fmt.Sprintf(`{"iat":%d,"exp":%d}`, now.Unix(), now.Unix()+60)))
		}
	}))
	defer server.Close()
	scope, err := sitemap.NewScope(&scan.Target{URL: server.URL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	client := traffic.New(traffic.Options{Scope: scope, Dial: dialer.DialContext})
	defer client.Close()
	s, err := New(scan.Identity{Name: "jane", JSON: &scan.JSONLogin{URL: "/login", Body: "{}"}},
		Options{Client: client, Scope: scope, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SignIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := message.Parse(server.URL + "/page")
	if err != nil {
		t.Fatal(err)
	}
	for _, later := range []time.Duration{30 * time.Second, 20 * time.Second, time.Second} {
		now = now.Add(later)
		if _, err := client.Send(t.Context(), page, s); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(asked); got != "[/login /page /login /page /page]" {
		t.Error(got)
	}
}

func FuzzEnds(f *testing.F) {
	f.Add("Bearer " + jwtOf(`{"exp":1e10}`))
	now := time.Unix(1_000_000, 0)
	f.Fuzz(func(t *testing.T, value string) {
		if at := tokenRenewalTime([]scan.Header{{Value: value}}, now); !at.IsZero() && at.Before(now) {
			t.Errorf("%q ends at %s", value, at)
		}
	})
}
