package sqlinjection

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
)

// Values that the application unpacks before they become a part of a statement.
func TestPacked(t *testing.T) {
	db := database(t)
	mux := http.NewServeMux()
	serve := func(path string, unpack func(r *http.Request) (string, error)) {
		for _, safe := range []bool{false, true} {
			at, query := path, func(name string) ([]string, error) {
				return find(db, "SELECT name FROM people WHERE name='"+name+"'")
			}
			if safe {
				at, query = "/safe"+path, func(name string) ([]string, error) {
					return find(db, "SELECT name FROM people WHERE name=?", name)
				}
			}
			mux.HandleFunc(at, func(w http.ResponseWriter, r *http.Request) {
				name, err := unpack(r)
				if err != nil {
					http.Error(w, "bad request", http.StatusBadRequest)
					return
				}
				names, err := query(name)
				views["page"](w, name, names, err)
			})
		}
	}
	decode := func(s string) (string, error) {
		b, err := base64.StdEncoding.DecodeString(s)
		return string(b), err
	}
	serve("/base64", func(r *http.Request) (string, error) { return decode(r.FormValue("q")) })
	serve("/cookie", func(r *http.Request) (string, error) {
		c, err := r.Cookie("who")
		if err != nil {
			return "", err
		}
		text, err := decode(c.Value)
		if err != nil {
			return "", err
		}
		var v struct{ User struct{ Name string } }
		err = json.Unmarshal([]byte(text), &v)
		return v.User.Name, err
	})
	serve("/json", func(r *http.Request) (string, error) {
		var v []string
		if err := json.Unmarshal([]byte(r.FormValue("q")), &v); err != nil || len(v) != 2 {
			return "", http.ErrBodyNotAllowed
		}
		return v[1], nil
	})
	pack := base64.StdEncoding.EncodeToString
	packed := func(r *activescan.Engine) {
		for _, path := range []string{"/cookie", "/safe/cookie"} {
			m := activescantest.Request(t, r.Scope.Base().Scheme+"://"+r.Scope.Base().Host, "GET "+path)
			m.Cookies = []message.Param{{Name: "who", Value: pack([]byte(`{"user":{"name":"alice"}}`))}}
			r.Sitemap.Add(m)
		}
	}
	var operations []string
	for _, safe := range []string{"", "/safe"} {
		operations = append(operations, "GET "+safe+"/base64?q="+pack([]byte("alice")), "POST "+safe+
			`/json q=["bob","alice"]`)
	}
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations, packed)
	activescantest.Expect(t, got, "dast/sqlinjection/error GET /base64 query:q", "dast/sqlinjection/error POST /json "+
		"form:q/1", "dast/sqlinjection/error GET /cookie cookie:who/user/name")
	for _, f := range got.Findings {
		if proof := f.Live.Proof[len(f.Live.Proof)-1]; proof == "" || f.Live.Payload == "" ||
			f.Live.Payload[:5] != "alice" {
			t.Errorf("payload %q, proof %q", f.Live.Payload, proof)
		}
	}
}
