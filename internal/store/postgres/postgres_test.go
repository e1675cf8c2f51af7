package postgres

import (
	"strings"
	"testing"

	"merlon/internal/errs"
)

func TestCheckEncrypted(t *testing.T) {
	for _, test := range []struct {
		url, mode string // mode is PGSSLMODE
		refused   bool
	}{
		{"postgres://u:p@db.example/x", "", true}, // prefer is the default
		{"postgres://u:p@db.example/x?sslmode=disable", "", true},
		{"postgres://u:p@db.example/x?sslmode=allow", "", true},
		{"postgres://u:p@db.example/x?sslmode=prefer", "", true},
		{"postgres://u:p@db.example/x?sslmode=require", "", false},
		{"postgres://u:p@db.example/x?sslmode=verify-ca", "", false},
		{"postgresql://u:p@db.example:6000/x?sslmode=verify-full", "", false},
		{"host=db.example user=u password=p", "", true},
		{"host=db.example user=u sslmode=verify-full", "", false},
		{"host='db.example' sslmode='disable'", "", true},
		{"postgres://u:p@db.example/x", "verify-full", false},
		{"postgres://u:p@db.example/x", "disable", true},
		{"postgres://u:p@db.example/x?sslmode=disable", "verify-full", true},
		{"host=db.example", "require", false},
		{"postgres://u:p@localhost/x", "", false},
		{"postgres://u:p@127.0.0.1/x?sslmode=disable", "", false},
		{"postgres://u:p@127.9.9.9/x?sslmode=disable", "", false},
		{"postgres://u:p@[::1]:5433/x?sslmode=disable", "", false},
		{"postgres:///x?host=/var/run/postgresql&sslmode=disable", "", false},
		{"host=/var/run/postgresql dbname=x", "", false},
		{"postgres://u:p@localhost,db.example/x?sslmode=disable", "", true},
		{"postgres://u:p@localhost:1,127.0.0.1:2/x?sslmode=disable", "", false},
		{"host=localhost,10.0.0.5 port=1,2 sslmode=prefer", "", true},
		{"postgres://u:p@localhost.example/x", "", true},
		{"postgres://u:p@[2001:db8::1]/x", "", true},
		{"postgres://u:p@db.example:nonsense/x", "", true},
	} {
		t.Run(test.url+" "+test.mode, func(t *testing.T) {
			t.Setenv("PGSSLMODE", test.mode)
			err := CheckEncrypted(test.url)
			if test.refused != errs.Is(err, errs.Invalid) || !test.refused && err != nil {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "u:p") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://u:p@db.example/x":                     "db.example:5432",
		"host=db.example,10.0.0.5 port=1,2":               "db.example:1 10.0.0.5:2",
		"postgres://u:p@db.example:6000/x?sslmode=prefer": "db.example:6000",
		"host=/var/run/postgresql":                        "",
		"postgres://%":                                    "",
	} {
		if got := strings.Join(Addresses(url), " "); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}
