package site

import (
	"testing"

	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

func TestScope(t *testing.T) {
	s, err := NewScope(&scan.Target{URL: "https://shop.example.org:443/app/", Include: []string{"/shared/*", "https://api.example.org/v2/*"}, Exclude: []string{"*/internal/*", "/app/x?*"}})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"https://shop.example.org/app/":              true,
		"https://SHOP.example.org/app/a?b":           true,
		"https://shop.example.org/app":               true,
		"https://shop.example.org/other":             false,
		"https://shop.example.org/application":       false,
		"https://shop.example.org/shared/a":          true,
		"http://shop.example.org/app/":               false,
		"https://shop.example.org:8443/app/":         false,
		"https://api.example.org/v2/users":           true,
		"https://api.example.org/v1/users":           false,
		"https://shop.example.org/app/internal/":     false,
		"https://shop.example.org/app/x?y":           false,
		"https://shop.example.org.evil.example/app/": false,
		"http://169.254.169.254/app/":                false,
	} {
		r, err := message.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Allows(r) == nil; got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	for _, target := range []scan.Target{{URL: "ftp://a"}, {URL: "https://u:p@a.example/"}, {URL: "https://a", Include: []string{""}}, {URL: "::"}} {
		if _, err := NewScope(&target); err == nil {
			t.Errorf("%+v was accepted", target)
		}
	}
}

func TestNever(t *testing.T) {
	for address, want := range map[string]bool{
		"http://a.example/logout":                                   true,
		"http://a.example/?do=sign_out":                             true,
		"http://a.example/account/delete-account":                   true,
		"http://a.example/createdb":                                 true,
		"http://a.example/csrf/?password_new=x&password_conf=x&c=1": true,
		"http://a.example/csrf/?password_new=x&password_conf=y&c=1": false,
		"http://a.example/login?username=a&password=b":              false,
		"http://a.example/blog/outlook":                             false,
		"http://a.example/catalogue?page=2":                         false,
		"http://a.example/register?email=a&password=b&password2=b":  false,
	} {
		r, err := message.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := Never(r) != ""; got != want {
			t.Errorf("%s: %v (%s)", address, got, Never(r))
		}
	}
}

func TestShape(t *testing.T) {
	same := [][2]string{{"http://a/users/1?x=1", "http://a/users/22?x=2"}, {"http://a/o/0f8fad5b-d9cb-469f-a165-70867728950e", "http://a/o/7c9e6679-7425-40de-944b-e07fc1f90ae7"}}
	other := [][2]string{{"http://a/users/1?x=1", "http://a/users/1?y=1"}, {"http://a/a", "http://a/b"}, {"http://a/a", "https://a/a"}}
	shape := func(address string) string {
		r, err := message.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return Shape(r)
	}
	for _, p := range same {
		if shape(p[0]) != shape(p[1]) {
			t.Errorf("%v differ", p)
		}
	}
	for _, p := range other {
		if shape(p[0]) == shape(p[1]) {
			t.Errorf("%v are the same", p)
		}
	}
}

func TestSurfaceIsBounded(t *testing.T) {
	s := NewSurface(2)
	for _, address := range []string{"http://a/1x", "http://a/2x", "http://a/3x"} {
		r, err := message.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		s.Add(r)
	}
	if len(s.Entries()) != 2 || s.Left() != 1 {
		t.Errorf("%d entries, %d left", len(s.Entries()), s.Left())
	}
}

func TestDangerousNames(t *testing.T) {
	for text, want := range map[string]bool{
		"/set-up-database.php": true, "/setup.php": true, "/reset_db": true, "/db/reset-db": true, "/createdb": true, "/clear-data": true, "/install.php": true,
		"/admin/truncate-tables": true, "/logout": true, "/database-offline.php": false, "/data/tables": false, "/install/guide": false, "/create-account": false, "/restore": false, "/table": false,
	} {
		if Dangerous(text) != want {
			t.Errorf("Dangerous(%q) = %t", text, !want)
		}
	}
}
