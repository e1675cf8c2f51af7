package sitemap

import (
	"fmt"
	"net/http"
	"testing"

	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

func TestScope(t *testing.T) {
	s, err := NewScope(&scan.Target{URL: "https://shop.example.org:443/app/",
		Include: []string{"/shared/*", "https://api.example.org/v2/*"}, Exclude: []string{"*/internal/*", "/app/x?*"}})
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
	for _, target := range []scan.Target{{URL: "ftp://a"}, {URL: "https://u:p@a.example/"},
		{URL: "https://a", Include: []string{""}}, {URL: "::"}} {
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
		if got := ForbiddenReason(r) != ""; got != want {
			t.Errorf("%s: %v (%s)", address, got, ForbiddenReason(r))
		}
	}
}

// A form may end the session by its button, or by a field that says what to do.
func TestNeverForms(t *testing.T) {
	for _, c := range []struct {
		p    message.Param
		want bool
	}{
		{message.Param{Name: "logout", Value: "Bye"}, true}, {message.Param{Name: "action", Value: "sign_out"}, true},
		{message.Param{Name: "go", Value: "Reset database"}, false}, {message.Param{Name: "reset_db", Value: "1"},
			true},
		{message.Param{Name: "comment", Value: "how do I log out of this, and why"}, false},
		{message.Param{Name: "action", Value: "save"}, false}, {message.Param{Name: "blog", Value: "outline"}, false},
	} {
		r := &message.Request{Method: "POST", Scheme: "http", Host: "a.example", Path: "/do",
			Body: message.Body{Kind: message.Form, Params: []message.Param{c.p}}}
		if got := ForbiddenReason(r) != ""; got != c.want {
			t.Errorf("%+v: %v", c.p, got)
		}
	}
}

func TestShape(t *testing.T) {
	same := [][2]string{{"http://a/users/1?x=1", "http://a/users/22?x=2"},
		{"http://a/o/0f8fad5b-d9cb-469f-a165-70867728950e", "http://a/o/7c9e6679-7425-40de-944b-e07fc1f90ae7"},
		{"http://a/media?ns=a&tab=b&image=c", "http://a/media?image=c&ns=a&tab=b"},
		{"http://a/diff?rev[0]=1&rev[1]=2", "http://a/diff?rev[1]=2&rev[0]=1"},
		{"http://a/find?tag=a", "http://a/find?tag=a&tag=b"}}
	other := [][2]string{{"http://a/users/1?x=1", "http://a/users/1?y=1"}, {"http://a/a", "http://a/b"},
		{"http://a/a", "https://a/a"}}
	shape := func(address string) string {
		r, err := message.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return OperationKey(r)
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
	s := New(2)
	for _, address := range []string{"http://a/1x", "http://a/2x", "http://a/3x"} {
		r, err := message.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		s.Add(r)
	}
	if len(s.Entries()) != 2 || s.OmittedCount() != 1 {
		t.Errorf("%d entries, %d left", len(s.Entries()), s.OmittedCount())
	}
}

func TestDangerousNames(t *testing.T) {
	for text, want := range map[string]bool{
		"/set-up-database.php": true, "/setup.php": true, "/reset_db": true, "/db/reset-db": true, "/createdb": true,
		"/clear-data": true, "/rmdir.php": true, "/install.php": true,
		"/admin/truncate-tables": true, "/logout": true, "Log out": true, "Sign Out": true, "Abmelden": true,
		"Cerrar sesión": true, "/blog/outside": false, "Catalog outlet": false, "/database-offline.php": false,
		"/data/tables": false, "/install/guide": false, "/create-account": false, "/restore": false, "/table": false,
	} {
		if IsDangerous(text) != want {
			t.Errorf("Dangerous(%q) = %t", text, !want)
		}
	}
}

func TestVarieties(t *testing.T) {
	s := New(1000)
	add := func(query string) bool {
		t.Helper()
		r, err := message.Parse("http://a/?" + query)
		if err != nil {
			t.Fatal(err)
		}
		return s.Add(r)
	}
	// One program that does another thing for each parameter.
	for i := range 100 {
		if name := fmt.Sprintf("p%dx", i); !add(name + "=1") {
			t.Fatalf("the parameter %s was left out", name)
		}
	}
	// Parameters that are known, put together.
	added := 0
	for i := range 50 {
		if add(fmt.Sprintf("p%dx=1&p%dx=2", i, i+1)) {
			added++
		}
	}
	if s.OmittedCount() != 0 {
		t.Errorf("%d operations count as left out, whose parameters are all examined", s.OmittedCount())
	}
	if added != maxVariants {
		t.Errorf("%d operations have the parameters of others together, not %d", added, maxVariants)
	}
	// Parameters without an end.
	for i := range 1000 {
		add(fmt.Sprintf("q%dx=1", i))
	}
	if n := len(s.Entries()); n != maxVarieties || s.OmittedCount() != 1100+maxVariants-maxVarieties {
		t.Errorf("%d operations of one page and %d left, not %d and %d", n, s.OmittedCount(), maxVarieties,
			1100+maxVariants-maxVarieties)
	}
}

func TestPlace(t *testing.T) {
	place := func(address, name string) string {
		r, err := message.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range r.Points() {
			if at.Name == name {
				return LocationOf(r, at)
			}
		}
		t.Fatalf("%s has no %s", address, name)
		return ""
	}
	for _, p := range []struct {
		one, two, name string
		same           bool
	}{
		{"http://a/find?q=1", "http://a/find?sort=up&q=2", "q", true},
		{"http://a/?do=edit&id=1", "http://a/?do=show&id=1", "id", false},
		{"http://a/?do=edit&id=1", "http://a/?do=show&id=1", "do", true},
		{"http://a/find?q=1", "http://a/other?q=1", "q", false},
		{"http://a/users/1?q=1", "http://a/users/2?q=1", "q", true},
	} {
		if same := place(p.one, p.name) == place(p.two, p.name); same != p.same {
			t.Errorf("%s of %s and of %s: the same is %t", p.name, p.one, p.two, same)
		}
	}
}

func TestOutline(t *testing.T) {
	outline := func(status int, kind, body string) uint64 {
		return Outline(&message.Response{Status: status, Header: http.Header{"Content-Type": {kind}},
			Body: []byte(body)})
	}
	page := outline(200, "text/html", `<p class="a">one <b>1</b></p>`)
	for _, test := range []struct {
		name       string
		status     int
		kind, body string
		same       bool
	}{
		{"other words", 200, "text/html", `<p class="b">two <b>22</b><!-- more -->`, true},
		{"another element", 200, "text/html", `<p>one <i>1</i></p>`, false},
		{"one element more", 200, "text/html", `<p>one <b>1</b><b></b></p>`, false},
		{"another status", 404, "text/html", `<p>one <b>1</b></p>`, false},
		{"another type", 200, "text/plain", `<p class="a">one <b>1</b></p>`, false},
	} {
		if got := outline(test.status, test.kind, test.body) == page; got != test.same {
			t.Errorf("%s: %t", test.name, got)
		}
	}
	object := outline(200, "application/json", `{"id":17,"name":"a"}`)
	if object == 0 || outline(200, "application/json", `{"id":4,"name":"a"}`) != object ||
		outline(200, "application/json", `{"id":4,"name":"b"}`) == object {
		t.Error("objects are told apart by their numbers, or not by their words")
	}
}

func TestPasswordNames(t *testing.T) {
	for name, want := range map[string]bool{"password": true, "newPassword": true, "passwd_confirm": true,
		"pass-phrase": true, "passphrase": true, "pwd": true, "userPwd": true, "pass": true, "user_pass": true,
		"userpass": true,
		"compass":  false, "passenger": false, "passport": false, "bypass": false, "": false} {
		if IsPassword(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	for name, want := range map[string]bool{"/users/forgot-password": true, "resetMyPassword": true,
		"/recover_account": true, "/lost/pin": true, "/reset": false, "/database/reset": false, "/passwords": false} {
		if IsPasswordRecovery(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// A request says that it removes something by its method, its path, a button or a hidden
// field, and not by what somebody types.
func TestDeletes(t *testing.T) {
	for _, c := range []struct {
		method, path, kind, name, value string
		want                            bool
	}{
		{"DELETE", "/users/1", "", "a", "b", true}, {"POST", "/users/1/delete/", "", "a", "b", true},
		{"POST", "/removeUser", "", "a", "b", true},
		{"POST", "/users", "hidden", "action", "delete_selected", true},
		{"POST", "/users", "button", "delete", "Yes, I'm sure", true}, {"POST", "/users", "button", "go", "Remove item",
			true},
		{"POST", "/users", "button", "go", "Save", false}, {"POST", "/users", "", "action", "delete", false},
		{"POST", "/users", "hidden", "text", "delete is a word that a long text may begin with", false},
		{"GET", "/users/1/delete/", "", "a", "b", false}, {"POST", "/reset-password", "", "mail", "a@b.example", false},
		{"POST", "/deleted-items", "", "a", "b", false},
	} {
		r := &message.Request{Method: c.method, Scheme: "http", Host: "a.example", Path: c.path,
			Types: map[string]string{"form:" + c.name: c.kind},
			Body:  message.Body{Kind: message.Form, Params: []message.Param{{Name: c.name, Value: c.value}}}}
		if got := IsDelete(r); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
