package formvalue

import (
	"strings"
	"testing"
)

func TestValues(t *testing.T) {
	one, other := New(7, ""), New(7, "")
	if one.Mark() != "merlon-000007" || !strings.HasPrefix(one.Email(), one.Mark()+"@") ||
		!strings.HasSuffix(one.Email(), ".example") || !strings.HasSuffix(one.Host(), ".example") {
		t.Errorf("mark %s, mail %s, host %s", one.Mark(), one.Email(), one.Host())
	}
	if first := one.Password("a"); first != one.Password("a") || first == one.Password("b") ||
		first == other.Password("a") {
		t.Error("a password is one for each object and scan")
	}
	if u := one.URL(); !strings.Contains(u, ".example/") || !strings.Contains(u, one.Mark()) {
		t.Errorf("address %s", u)
	}
	if u := New(7, "http://127.0.0.1:5/abc").URL(); !strings.HasPrefix(u, "http://127.0.0.1:5/abc") {
		t.Errorf("address %s", u)
	}
	var none *Generator
	if none.Password("a") == "" || none.Mark() == "" || none.URL() == "" {
		t.Error("no values")
	}
}
