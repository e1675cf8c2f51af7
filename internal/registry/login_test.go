package registry

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"merlon/internal/errs"
)

// TestPasswordsStayAtHome has a registry that sends its users elsewhere to sign in:
// the password does not go along.
func TestPasswordsStayAtHome(t *testing.T) {
	var seen []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, pass, _ := r.BasicAuth()
		body, _ := io.ReadAll(r.Body) // what came of it
		seen = append(seen, name+pass+string(body))
		_, _ = fmt.Fprint(w, `{"token":"t"}`) // to this test
	}))
	defer elsewhere.Close()
	realm := strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1) + "/token"
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`",service="s"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer home.Close()
	host := strings.TrimPrefix(home.URL, "http://")
	login := &Login{User: user, Password: password}
	r := Request{Reference: host + "/app:1", Transport: guarded(t, "127.0.0.1", "localhost", "::1"), Login: login}
	for name, c := range map[string]struct {
		signsIn func(string) bool
		scheme  string
		want    errs.Kind
		seen    int
	}{
		"elsewhere":          {nil, "", errs.Unavailable, 0},
		"not there":          {func(host string) bool { return host == "auth.example" }, "", errs.Unavailable, 0},
		"where it may":       {func(host string) bool { return host == "localhost" }, "http", errs.NotFound, 1},
		"without encryption": {func(string) bool { return true }, "https", errs.Unavailable, 0},
	} {
		seen = nil
		login.SignsIn, login.Scheme = c.signsIn, c.scheme
		if _, err := Find(t.Context(), r); !errs.Is(err, c.want) || len(seen) != c.seen ||
			strings.Contains(fmt.Sprint(err), password) {
			t.Errorf("%s: %v, want %v; the password went out: %q", name, err, c.want, seen)
		}
	}
}

// TestSilentRegistry takes a registry that says nothing for one that is away.
func TestSilentRegistry(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // nothing was accepted
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	r := Request{Reference: l.Addr().String() + "/app:1", Transport: guarded(t, "127.0.0.1")}
	if _, err := Find(ctx, r); !errs.Is(err, errs.Unavailable) ||
		!strings.Contains(err.Error(), l.Addr().String()+" does not respond in time") {
		t.Errorf("find: %v", err)
	}
	if _, err := Fetch(ctx, r, t.TempDir()); !errs.Is(err, errs.Unavailable) {
		t.Errorf("fetch: %v", err)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Find(gone, r); err == nil || errs.Is(err, errs.Unavailable) {
		t.Errorf("nobody waits for it: %v", err)
	}
}

// TestCausesNameNoAddress keeps addresses, which may hold a signature, out of errors.
func TestCausesNameNoAddress(t *testing.T) {
	host := start(t, "open")
	push(t, host+"/app:1")
	r := Request{Reference: host + "/app:1", Transport: redirector{guarded(t, "127.0.0.1")}}
	_, err := Fetch(t.Context(), r, t.TempDir())
	if !errs.Is(err, errs.Unavailable) || strings.Contains(err.Error(), "s1gnature") {
		t.Errorf("got %v", err)
	}
}

// redirector sends whoever asks for a layer to a signed address at which nobody is.
type redirector struct{ http.RoundTripper }

func (f redirector) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := f.RoundTripper.RoundTrip(r)
	if err == nil && strings.Contains(r.URL.Path, "/blobs/") {
		resp.StatusCode = http.StatusTemporaryRedirect
		resp.Header.Set("Location", "http://127.0.0.1:1/blob?X-Amz-Signature=s1gnature")
	}
	return resp, err
}
