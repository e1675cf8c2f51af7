// Package apitest runs the API on a real store for tests, and reads like a
// story:
//
//	r := apitest.New(t, db, clock)
//	owner := r.Person("owner")
//	org := r.As(owner).Post("/organization", body).Want(201).Text("organizationId")
//	r.As(r.Person("stranger")).Get("/organization/" + org).Want(404)
//
// A person's bearer token is the id of the user. Every response is checked against
// the API's own OpenAPI document, failures included.
package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"merlon/internal/api"
	"merlon/internal/blob"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/identity"
	"merlon/internal/livetarget/ownership"
	"merlon/internal/mail"
	"merlon/internal/outbound"
	"merlon/internal/remediation"
	"merlon/internal/run"
	"merlon/internal/seal"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// BaseURL and AuthURL are the addresses of the API that New returns.
const (
	BaseURL = "https://api.example.test"
	AuthURL = "https://auth.example.test"
)

// A Runner calls an API as one person after another.
type Runner struct {
	API      *api.API
	DB       *store.DB
	Clock    *storetest.Clock
	Identity *identity.Service
	Remedies *remediation.Service // call its Look to have jobs worked on
	Records  map[string][]string  // TXT records of the DNS, by name with a dot at the end

	t        testing.TB
	limited  sync.Map // of Limit
	post     mail.Post
	handler  http.Handler
	document *Document
}

// New returns a Runner on the store. The options change the configuration before
// the API is made from it.
func New(t testing.TB, db *store.DB, clock *storetest.Clock, options ...func(*api.Config)) *Runner {
	t.Helper()
	r := &Runner{t: t, DB: db, Clock: clock}
	// A fixed key: tests compare nothing that is sealed.
	box, err := seal.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	r.post = mail.Post{Box: box, Now: clock.Now}
	c := api.Config{
		Region:       api.Region{Name: storetest.Region, BaseURL: BaseURL, AuthURL: AuthURL},
		Version:      api.Version{Service: "merlon", Version: "test", Environment: "development"},
		Now:          clock.Now,
		Log:          slog.New(slog.NewTextHandler(testWriter{t}, nil)),
		Authenticate: r.authenticateToken,
		Scopes:       db,
		Tenancy:      db,
		Stats:        db,
		Results:      db,
		Numbers:      db,
		Overviews:    db,
		Credentials:  db,
		Targets:      db,
		Catalog:      Registry{},
		AWSPrincipal: "arn:aws:iam::999999999999:user/merlon",
		Images:       Public{},
		Search:       Public{},
		Post:         r.post,
		Requests:     db,
		Box:          box,
		Analyses:     finding.Analyses,
	}
	// Test servers listen on loopback, which the service itself never reaches.
	client, err := outbound.New(outbound.Options{Allow: []string{"127.0.0.1"}, Setting: "dast-allow", Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	c.Owners = ownership.New(ownership.Verifier{Store: db, Client: client, Key: box.Derive("ownership"), Now: clock.Now,
		TXT: func(_ context.Context, name string) ([]string, error) { return r.Records[name], nil },
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("198.51.100.7")}, nil
		}})
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c.Scans = run.New(run.Config{
		Store: db, Uploads: db, Blobs: blobs, Key: box.Derive("upload"), BaseURL: BaseURL, Available: finding.Analyses,
		Now: clock.Now,
	})
	r.Remedies = remediation.New(db, c.Log, clock.Now, uuid.NewString)
	c.Remedies = r.Remedies
	r.Identity = identity.New(identity.Options{Store: db, Post: r.post, Region: storetest.Region, AuthURL: AuthURL,
		Now: clock.Now})
	c.Users, c.Tokens, c.Allow = r.Identity, r.Identity, r.Identity.Allow
	for _, o := range options {
		o(&c)
	}
	r.API = api.New(c)
	r.handler = r.API.Handler()
	// Options may change the document, so only that of a plain API is shared.
	if r.document, err = readDocument(r.API, len(options) == 0); err != nil {
		t.Fatal(err)
	}
	return r
}

// plain is the document of an API without options: writing and reading one takes
// longer than most tests.
var plain struct {
	sync.Mutex
	document *Document
}

// readDocument reads the API's own document; that of a plain API once.
func readDocument(a *api.API, isPlain bool) (*Document, error) {
	read := func() (*Document, error) {
		text, err := a.OpenAPI()
		if err != nil {
			return nil, err
		}
		return NewDocument(text)
	}
	if !isPlain {
		return read()
	}
	plain.Lock()
	defer plain.Unlock()
	if plain.document != nil {
		return plain.document, nil
	}
	var err error
	plain.document, err = read()
	return plain.document, err
}

// testWriter shows the API's log where the test's is.
type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Logf("%s", bytes.TrimRight(p, "\n"))
	return len(p), nil
}

// authenticateToken takes the id of a user for that user's token.
func (r *Runner) authenticateToken(ctx context.Context, token string) (tenant.Actor, error) {
	token, limits := r.tokenLimits(token)
	a := tenant.Actor{UserID: tenant.UserID(token), ClientID: "test", Limits: limits}
	err := r.DB.QueryRow(ctx, "SELECT service_of IS NOT NULL FROM app_user WHERE id = ? AND disabled_at = 0",
		token).Scan(&a.Service)
	if err != nil {
		return tenant.Actor{}, errs.Wrap(errs.Unauthenticated, err, "the access token is not valid")
	}
	return a, nil
}

// Limit makes a bearer token of the person that lets through only so much.
func (r *Runner) Limit(id tenant.UserID, l tenant.TokenLimits) tenant.UserID {
	token := uuid.NewString()
	r.limited.Store(token, limited{string(id), l})
	return tenant.UserID(token)
}

// limited is what a bearer token of Limit stands for.
type limited struct {
	user   string
	limits tenant.TokenLimits
}

// tokenLimits returns the user of a bearer token, and what the token lets through.
func (r *Runner) tokenLimits(token string) (user string, l *tenant.TokenLimits) {
	if v, ok := r.limited.Load(token); ok {
		found := v.(limited)
		return found.user, &found.limits
	}
	return token, &tenant.TokenLimits{Scopes: tenant.AllTokenScopes}
}

// Person makes a user with the first name and the address name@example.com.
func (r *Runner) Person(name string) tenant.UserID {
	r.t.Helper()
	id := uuid.NewString()
	err := r.DB.Tx(r.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(r.t.Context(), "INSERT INTO app_user (id, email, first_name, last_name, created_at, "+
			"updated_at) VALUES (?, ?, ?, 'Test', ?, ?)",
			id, Email(name), name, tx.Now.UnixMilli(), tx.Now.UnixMilli())
		return err
	})
	if err != nil {
		r.t.Fatalf("make the person %s: %v", name, err)
	}
	return tenant.UserID(id)
}

// Mails returns the mails that wait for their delivery, oldest first, and
// removes them.
func (r *Runner) Mails() []mail.Message {
	r.t.Helper()
	queued, err := r.DB.ClaimMail(r.t.Context(), 100, time.Minute)
	if err != nil {
		r.t.Fatal(err)
	}
	mails := []mail.Message{}
	for _, q := range queued {
		m, err := r.post.Open(q)
		if err != nil {
			r.t.Fatal(err)
		}
		if err := r.DB.MailSent(r.t.Context(), q.ID); err != nil {
			r.t.Fatal(err)
		}
		mails = append(mails, m)
	}
	return mails
}

// Email is the address of the person with the name.
func Email(name string) string { return strings.ToLower(name) + "@example.com" }

// Actor returns the person as an actor, for calls of the store.
func Actor(id tenant.UserID) tenant.Actor { return tenant.Actor{UserID: id, ClientID: "test"} }

// A Caller makes requests as one person.
type Caller struct {
	r      *Runner
	token  string
	header http.Header
}

// As returns a caller with the person's token; an empty id sends none.
func (r *Runner) As(id tenant.UserID) Caller { return Caller{r: r, token: string(id)} }

// With returns a caller that also sends the header.
func (c Caller) With(name, value string) Caller {
	c.header = c.header.Clone()
	if c.header == nil {
		c.header = http.Header{}
	}
	c.header.Set(name, value)
	return c
}

// Get requests an address.
func (c Caller) Get(path string) *Response { c.r.t.Helper(); return c.Do("GET", path, nil) }

// Post sends a body; nil sends none.
func (c Caller) Post(path string, body any) *Response {
	c.r.t.Helper()
	return c.Do("POST", path, body)
}

// Put sends a body.
func (c Caller) Put(path string, body any) *Response { c.r.t.Helper(); return c.Do("PUT", path, body) }

// Patch sends a body.
func (c Caller) Patch(path string, body any) *Response {
	c.r.t.Helper()
	return c.Do("PATCH", path, body)
}

// Delete sends a body, which some routes of the contract need; nil sends none.
func (c Caller) Delete(path string, body any) *Response {
	c.r.t.Helper()
	return c.Do("DELETE", path, body)
}

// Do makes a request and checks the response against the document. A body that is
// an io.Reader is sent as it is, anything else as JSON.
func (c Caller) Do(method, path string, body any) *Response {
	c.r.t.Helper()
	req := httptest.NewRequestWithContext(c.r.t.Context(), method, BaseURL+path, c.r.openBody(body))
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range c.header {
		req.Header[name] = values
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	a := c.r.sendRequest(req)
	if err := c.r.document.Check(method, req.URL.EscapedPath(), a.Status, a.Header, a.Body); err != nil {
		c.r.t.Errorf("the answer is not what the OpenAPI document says: %v", err)
	}
	return a
}

// Raw requests an address, and does not check the response against the document: it may
// be compressed, or say that nothing has changed.
func (c Caller) Raw(path string) *Response {
	c.r.t.Helper()
	req := httptest.NewRequestWithContext(c.r.t.Context(), "GET", BaseURL+path, nil)
	for name, values := range c.header {
		req.Header[name] = values
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	return c.r.sendRequest(req)
}

// sendRequest calls the handler, without a network.
func (r *Runner) sendRequest(req *http.Request) *Response {
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, req)
	return &Response{t: r.t, request: req.Method + " " + req.URL.RequestURI(), Status: w.Code, Header: w.Header(),
		Body: w.Body.Bytes()}
}

// openBody returns the body of a request; nil for none.
func (r *Runner) openBody(body any) io.Reader {
	r.t.Helper()
	switch b := body.(type) {
	case nil:
		return nil
	case io.Reader:
		return b
	}
	text, err := json.Marshal(body)
	if err != nil {
		r.t.Fatal(err)
	}
	return bytes.NewReader(text)
}

// A Response is the response to a request.
type Response struct {
	Status int
	Header http.Header
	Body   []byte

	t       testing.TB
	request string
}

// Want ends the test unless the response has the status.
func (a *Response) Want(status int) *Response {
	a.t.Helper()
	if a.Status != status {
		a.t.Fatalf("%s: got %d, want %d\n%s", a.request, a.Status, status, a.Body)
	}
	return a
}

// Into decodes the body.
func (a *Response) Into(v any) *Response {
	a.t.Helper()
	if err := json.Unmarshal(a.Body, v); err != nil {
		a.t.Fatalf("%s: %v\n%s", a.request, err, a.Body)
	}
	return a
}

// Value returns the value at a path of member names and indexes with dots
// between, such as "teams.0.id"; nil when there is none.
func (a *Response) Value(path string) any {
	a.t.Helper()
	var v any
	a.Into(&v)
	for word := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[word]
		case []any:
			var i int
			if _, err := fmt.Sscan(word, &i); err != nil || i < 0 || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// Text returns the text at a path, and ends the test when there is none.
func (a *Response) Text(path string) string {
	a.t.Helper()
	s, ok := a.Value(path).(string)
	if !ok {
		a.t.Fatalf("%s: no text at %s\n%s", a.request, path, a.Body)
	}
	return s
}

// Time returns the time at a path.
func (a *Response) Time(path string) time.Time {
	a.t.Helper()
	at, err := time.Parse(time.RFC3339, a.Text(path))
	if err != nil {
		a.t.Fatalf("%s: %v", a.request, err)
	}
	return at
}
