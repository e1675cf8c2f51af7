package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merlon/internal/identity"
	"merlon/internal/mail"
	"merlon/internal/oidc"
	"merlon/internal/seal"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

func TestMain(m *testing.M) { storetest.Main(m) }

const (
	baseURL = "https://api.example.test"
	alias   = "https://built-in.example.test/"
	secret  = "0123456789abcdef0123456789abcdef" // of the confidential application "web"
)

// A world is a provider that listens, and a person with a personal access token.
type world struct {
	t        testing.TB
	db       *store.DB
	clock    *storetest.Clock // nil for the real one
	now      func() time.Time
	box      *seal.Box
	post     mail.Post
	people   *identity.Service
	provider *oidc.Provider
	url      string // of the provider
	http     *http.Client
	server   *httptest.Server
	handler  atomic.Pointer[http.Handler] // of the process that answers

	user     identity.User
	password string
	pat      string
}

// newWorld builds a world on a database. The provider listens on HTTPS, because
// cookies insist on it.
func newWorld(t testing.TB, db *store.DB, clock *storetest.Clock) *world {
	t.Helper()
	return newWorldAt(t, db, clock, "")
}

// newWorldAt builds a world whose provider listens on plain HTTP under the host's
// name; on HTTPS when the name is empty.
func newWorldAt(t testing.TB, db *store.DB, clock *storetest.Clock, host string) *world {
	t.Helper()
	box, err := seal.New([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, db: db, clock: clock, box: box, now: time.Now}
	if clock != nil {
		w.now = clock.Now
	}
	w.post = mail.Post{Box: box, Now: w.now}
	w.server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		(*w.handler.Load()).ServeHTTP(rw, r)
	}))
	if host == "" {
		w.server.StartTLS()
		w.url, w.http = w.server.URL, newBrowser(t, w.server)
	} else {
		w.server.Start()
		w.http = w.server.Client()
		w.url = strings.Replace(w.server.URL, "127.0.0.1", host, 1)
	}
	t.Cleanup(w.server.Close)
	w.people = identity.New(identity.Options{Store: db, Post: w.post, Region: storetest.Region, AuthURL: w.url,
		Now: w.now})
	w.provider = w.newProvider(nil)
	h := w.provider.Handler()
	w.handler.Store(&h)
	if w.user, w.password, err = w.people.Provision(t.Context(), "jo@example.test",
		identity.Names{FirstName: "Jo", LastName: "Doe"}); err != nil {
		t.Fatal(err)
	}
	if _, w.pat, err = w.people.CreateToken(t.Context(), tenant.Actor{UserID: w.user.ID},
		identity.NewToken{Owner: w.user.ID, Name: "ci"}); err != nil {
		t.Fatal(err)
	}
	return w
}

// newProvider returns another provider on the same database, as another process
// of the deployment has one.
func (w *world) newProvider(change func(*oidc.Config)) *oidc.Provider {
	w.t.Helper()
	c := oidc.Config{
		BaseURL: baseURL, AuthURL: w.url, Aliases: []string{alias}, Vendors: []string{"merlon", "other"},
		CLIIDs: []string{"built-in-cli"}, SignUp: true,
		Clients: []oidc.Confidential{{ID: "web", Name: "Web", Secret: secret,
			RedirectURIs:           []string{"https://web.example.test/callback"},
			PostLogoutRedirectURIs: []string{"https://web.example.test/"}}},
		Box: w.box, Store: w.db, People: w.people, Now: w.now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		NewRSAKey: testRSAKey, EditorExtensions: []string{"example.merlon"},
	}
	if change != nil {
		change(&c)
	}
	p, err := oidc.New(c)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// testRSAKey makes one RSA key for all tests: making them takes time.
var testRSAKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func closeSignUp(c *oidc.Config) { c.SignUp = false }

// newBrowser returns a client that keeps cookies and follows no redirect.
func newBrowser(t testing.TB, srv *httptest.Server) *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}},
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// An answer is what came back.
type answer struct {
	status int
	header http.Header
	text   string
	json   map[string]any // nil when the body is none
}

func (w *world) do(r *http.Request, err error) answer {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := w.http.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, text: string(body)}
	_ = json.Unmarshal(body, &a.json) // pages are no JSON
	return a
}

func (w *world) get(path string) answer {
	w.t.Helper()
	return w.do(http.NewRequest(http.MethodGet, w.absolute(path), nil))
}

func (w *world) absolute(path string) string {
	if strings.HasPrefix(path, "/") {
		return w.url + path
	}
	return path
}

// post sends a form given as name, value, name, value…
func (w *world) send(path string, fields ...string) answer {
	w.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	r, err := http.NewRequest(http.MethodPost, w.absolute(path), strings.NewReader(form.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return w.do(r, err)
}

// exchange exchanges the person's token, with the fields changed: an empty value
// removes a field.
func (w *world) exchange(changes ...string) answer {
	w.t.Helper()
	form := map[string]string{
		"grant_type":         "urn:ietf:params:oauth:grant-type:token-exchange",
		"client_id":          w.provider.ClientApps().CLI.AppID,
		"subject_token":      w.pat,
		"subject_token_type": "urn:merlon:token-type:personal_access_token",
		"resource":           baseURL,
	}
	for i := 0; i < len(changes); i += 2 {
		form[changes[i]] = changes[i+1]
	}
	var fields []string
	for name, value := range form {
		if value != "" {
			fields = append(fields, name, value)
		}
	}
	return w.send("/oidc/token", fields...)
}

// want fails the test unless the answer has the status and, for an error, the
// OAuth code.
func (a answer) want(t testing.TB, status int, code string) answer {
	t.Helper()
	got, _ := a.json["error"].(string)
	if a.status != status || got != code {
		t.Fatalf("got %d %q, want %d %q: %s", a.status, got, status, code, a.text)
	}
	return a
}

func (a answer) member(t testing.TB, name string) string {
	t.Helper()
	s, ok := a.json[name].(string)
	if !ok || s == "" {
		t.Fatalf("no %s in %s", name, a.text)
	}
	return s
}
