package scan

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/url"
	"path"
	"strings"
	"time"

	"merlon/internal/finding"
	"merlon/internal/redact"
)

// This file declares the input of a live analyzer: a running application, its scope and the
// identities to test it with. A Target is what users configure and what is stored; it contains
// secrets, so it is never part of a message.

// A Target is a running application.
type Target struct {
	// the base URL: scheme, host, port and a path prefix of everything in scope
	URL      string   `json:"url"`
	Include  []string `json:"include,omitempty"`  // additional URLs in scope, as patterns; see ScopeDoc
	Exclude  []string `json:"exclude,omitempty"`  // URLs out of scope, never requested, as patterns
	Profile  Profile  `json:"profile,omitempty"`  // empty: Standard
	Rate     float64  `json:"rate,omitempty"`     // requests per second; 0: 300
	Parallel int      `json:"parallel,omitempty"` // concurrent requests; 0: 4
	Requests int      `json:"requests,omitempty"` // maximum number; 0: 200,000
	Headers  []Header `json:"headers,omitempty"`  // sent with every request
	// Identities are the users that the scan signs in as. The first one crawls and attacks;
	// authorization tests compare all of them.
	Identities   []Identity    `json:"identities,omitempty"`
	Descriptions []Description `json:"descriptions,omitempty"`
	// Seeds are URLs to start crawling from, in addition to the base.
	Seeds []string `json:"seeds,omitempty"`
	// Routes are the routes in the source code, from a source scan of the same project.
	Routes []Route `json:"routes,omitempty"`
	// Templates are user-provided checks in the nuclei format (YAML).
	Templates []Description `json:"templates,omitempty"`
	// Checks are the names of the checks to run, such as "xss"; empty: all that the profile
	// allows.
	Checks []string `json:"checks,omitempty"`
	// Production marks an application in production: checks that consume its time or memory
	// are disabled, whatever the profile.
	Production bool `json:"production,omitempty"`
}

// ScopeDoc is the documentation of URL patterns.
const ScopeDoc = `A pattern is an address or a path in which * stands for any text: "/admin/*", "https://api.example.org/v2/*", "*logout*". A pattern without a scheme is about the path and query on the hosts of the target.`

// A Profile is the intrusiveness of a scan.
type Profile string

const (
	Passive  Profile = "passive"  // crawling only; no attack payloads
	Safe     Profile = "safe"     // read-only probes: no delays, no system files, no forms that store
	Standard Profile = "standard" // everything that is not destructive: file payloads only after an indication
	Full     Profile = "full"     // uploads, deletion of objects that the scan did not create, small floods
)

// Profiles lists every profile, least intrusive first.
var Profiles = []Profile{Passive, Safe, Standard, Full}

// Allows reports whether the profile permits checks of the given profile.
func (p Profile) Allows(what Profile) bool { return p.rank() >= what.rank() }

// rank returns the position of the profile in Profiles; an empty profile is Standard.
func (p Profile) rank() int {
	for i, known := range Profiles {
		if p == known {
			return i
		}
	}
	return 2 // Standard
}

// Limits of a passive scan. It needs no proof of ownership, so the application may belong to a
// third party that must not notice it.
const (
	PassiveRate     = 10 // requests per second
	PassiveRequests = 1000
)

// LimitPassive applies the limits of a passive scan to the target.
func (t *Target) LimitPassive() {
	if t.Rate == 0 || t.Rate > PassiveRate {
		t.Rate = PassiveRate
	}
	if t.Requests == 0 || t.Requests > PassiveRequests {
		t.Requests = PassiveRequests
	}
	t.Parallel = 1
}

// A Header is a header of a request.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"` // may be a secret
}

// An Identity is a user of the target. Exactly one sign-in method is set.
type Identity struct {
	Name string `json:"name"`
	// Role orders identities by privilege: a higher one may do what a lower one may. 0 is
	// unknown.
	Role int `json:"role,omitempty"`

	Form   *FormLogin    `json:"form,omitempty"`   // a page with a form
	JSON   *JSONLogin    `json:"json,omitempty"`   // a request whose response has a token or sets a cookie
	OAuth  *OAuthLogin   `json:"oauth,omitempty"`  // OAuth 2 and OpenID Connect
	Bearer string        `json:"bearer,omitempty"` // a static token
	Basic  *BasicLogin   `json:"basic,omitempty"`  // HTTP Basic, RFC 7617
	Cookie string        `json:"cookie,omitempty"` // a static Cookie header
	Header []Header      `json:"header,omitempty"` // static headers
	Steps  []BrowserStep `json:"steps,omitempty"`  // recorded steps in the browser

	// Marker detects whether the session is valid.
	Marker Marker `json:"marker,omitzero"`
	// TOTP is the base32 secret of one-time passwords (RFC 6238); {{totp}} in a value of the
	// login is replaced by the current one.
	TOTP string `json:"totp,omitempty"`
}

// A Marker detects whether a session is valid. Without any field, the scan finds a page by
// itself whose response differs for a signed-in user.
type Marker struct {
	URL    string `json:"url,omitempty"`    // to request; empty: every response is checked
	In     string `json:"in,omitempty"`     // a regular expression (RE2) that matches when signed in
	Out    string `json:"out,omitempty"`    // a regular expression that matches when signed out
	Status int    `json:"status,omitempty"` // of the response of URL when signed in
}

// A FormLogin fills in a login form. Other fields, such as CSRF tokens, keep the values of the
// page.
type FormLogin struct {
	URL      string `json:"url"` // of the page
	User     string `json:"user"`
	Password string `json:"password"`
	// additional values by name; the fields of User and Password are detected
	Fields map[string]string `json:"fields,omitempty"`
}

// A JSONLogin sends a request with a body and extracts a token from the response.
type JSONLogin struct {
	URL    string    `json:"url"`
	Method string    `json:"method,omitempty"` // empty: POST
	Body   LoginBody `json:"body"`             // of the request
	Type   string    `json:"type,omitempty"`   // Content-Type; empty: application/json
	// JSON pointer (RFC 6901) to the token in the response; empty: cookies, or the only token in the response
	Token  string `json:"token,omitempty"`
	Header string `json:"header,omitempty"` // for the token; empty: Authorization
	// before the token; empty with Authorization: "Bearer "; a space: nothing
	Prefix string `json:"prefix,omitempty"`
}

// A LoginBody is the body of a sign-in request. In JSON it is a string, or the object or array
// to send.
type LoginBody string

// UnmarshalJSON accepts a string, and an object or array as its JSON text.
func (b *LoginBody) UnmarshalJSON(text []byte) error {
	if t := bytes.TrimSpace(text); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		*b = LoginBody(t)
		return nil
	}
	return json.Unmarshal(text, (*string)(b))
}

// An OAuthLogin gets a token by a flow of OAuth 2 (RFC 6749) with PKCE (RFC 7636).
type OAuthLogin struct {
	Issuer    string `json:"issuer,omitempty"`    // its discovery document names the endpoints
	Authorize string `json:"authorize,omitempty"` // endpoint, without Issuer
	Token     string `json:"token,omitempty"`     // endpoint, without Issuer
	// "authorization_code" (default), "client_credentials", "password", "refresh_token"
	Grant        string `json:"grant,omitempty"`
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret,omitempty"`
	Redirect     string `json:"redirect,omitempty"` // redirect URI of the code flow; it is never opened
	Scope        string `json:"scope,omitempty"`
	Refresh      string `json:"refresh,omitempty"` // a refresh token, for its grant
	User         string `json:"user,omitempty"`
	Password     string `json:"password,omitempty"` // for the form of the code flow, or the password grant
}

// A BasicLogin is a user name and a password.
type BasicLogin struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// A BrowserStep is one recorded step. Exactly one action is set.
type BrowserStep struct {
	Open  string        `json:"open,omitempty"`  // a URL
	Click string        `json:"click,omitempty"` // a CSS selector
	Fill  string        `json:"fill,omitempty"`  // a CSS selector, with Value
	Value string        `json:"value,omitempty"` // {{totp}} is replaced by a one-time password
	Wait  string        `json:"wait,omitempty"`  // for a CSS selector to appear
	Sleep time.Duration `json:"sleep,omitempty"` // nanoseconds, at most 30 s
}

// A Description is an API description or a template: a text, or its URL below the target.
type Description struct {
	Name string `json:"name"`           // of the file, for display
	Kind string `json:"kind,omitempty"` // "openapi", "postman", "har", "graphql"; empty: detected
	Text string `json:"text,omitempty"`
	URL  string `json:"url,omitempty"`
}

// A Route is an operation that source code declares.
type Route struct {
	Method string `json:"method"` // empty: any
	Path   string `json:"path"`   // parameters in braces: "/users/{id}"
	// "query:name", "form:name", "json:/name", "header:name", "cookie:name"
	Parameters []string         `json:"parameters,omitempty"`
	Location   finding.Location `json:"location"`
	// Sinks are the static findings whose data flow starts in the handler.
	Sinks []Sink `json:"sinks,omitempty"`
}

// A Sink is a vulnerability that static analysis has found behind a route.
type Sink struct {
	CWE         []string            `json:"cwe"`
	RuleID      string              `json:"ruleId"`
	Parameter   string              `json:"parameter,omitempty"` // "query:name"; empty: not a single one
	Location    finding.Location    `json:"location"`
	Fingerprint finding.Fingerprint `json:"fingerprint,omitzero"`
	Steps       []finding.Step      `json:"steps,omitempty"` // the data flow
}

// Live is what a live analyzer needs from the host in addition to the target.
type Live struct {
	Target Target
	// ID identifies the scan in a header of every request.
	ID string
	// Dial is the only way to the network. It enforces the scope at connect time, on the
	// resolved address of each connection.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Browser is the path of a Chromium executable; empty: none, with the reason in
	// BrowserReason.
	Browser       string
	BrowserReason string
	// BrowserUser is the user and group ID that the browser runs as; 0: the current one.
	BrowserUser int
	// Chromium starts a browser in another process, instead of Browser. Its error is the reason
	// why there is none.
	Chromium func(ctx context.Context) (*Chromium, error)
	// OAST receives out-of-band interactions; nil: there is no listener, with the reason in
	// OASTReason, which is empty when none was requested.
	OAST        OASTListener
	OASTReason  string
	OASTTimeout time.Duration // how long a check waits for an interaction; 0: 2 s
	// Stop ends the scan early when it is closed: the analyzers report their findings and the
	// operations that were not tested. nil: the scan cannot be stopped.
	Stop <-chan struct{}
	// AllowGuest continues the scan without the session of an identity whose sign-in fails.
	// Otherwise the scan fails before it tests anything.
	AllowGuest bool
	// Monitor receives a function that returns the state of the scan; may be nil.
	Monitor *Monitor
	// Resume is the checkpoint of an earlier attempt of the same scan, and SaveCheckpoint
	// saves one for a later attempt, at most MaxCheckpoint bytes; both may be nil. Each
	// analyzer has its own part.
	Resume         []byte
	SaveCheckpoint func([]byte) error
	// Secrets are redacted in all messages of the scan. Run starts with those of the target;
	// an analyzer adds those that it obtains, such as session tokens.
	Secrets *redact.Set
}

// A Chromium is a running browser.
type Chromium struct {
	// Pipe carries the DevTools protocol, messages terminated by a zero byte. Closing it ends
	// the browser.
	Pipe io.ReadWriteCloser
	// Proxy accepts the connections of the browser to its proxy; the browser has no other
	// network access. It is closed when the browser ends.
	Proxy      net.Listener
	Stop       func()       // ends the browser
	ExitReason func() error // returns why the browser ended, after Pipe is closed
}

// MaxCheckpoint bounds the checkpoint of an attempt, in bytes.
const MaxCheckpoint = 4 << 20

// Root is the common prefix of all finding paths of the target: its host, its port unless it is
// the default of the scheme, and the folder of its path.
func (t *Target) Root() string {
	u, err := url.Parse(t.URL)
	if err != nil || u.Host == "" {
		return "target"
	}
	host := u.Host
	if u.Scheme == "http" && u.Port() == "80" || u.Scheme == "https" && u.Port() == "443" {
		host = strings.TrimSuffix(host, ":"+u.Port())
	}
	return path.Join(strings.ReplaceAll(host, "/", ""), path.Clean("/"+strings.Trim(u.Path, "/")))
}

// Path is the path of findings for a URL: Root and the path below it. A URL on another host is
// represented by its host and path below Root.
func (t *Target) Path(address *url.URL) string {
	root := t.Root()
	whole := path.Join(strings.ReplaceAll(address.Host, "/", ""), path.Clean("/"+address.Path))
	if whole != root && !strings.HasPrefix(whole, root+"/") {
		whole = path.Join(root, whole)
	}
	return strings.ToValidUTF8(whole, "?")
}

// An OASTListener is the listener for out-of-band interactions (OAST): a vulnerable target can
// be made to send requests to it.
type OASTListener interface {
	// NewToken returns a new unguessable token of lower-case letters and digits.
	NewToken() string
	// Address returns the URL and the host name of the token. The host is empty when no domain
	// resolves to the listener.
	Address(token string) (url, host string)
	// Response is what the listener returns at the URL of the token.
	Response(token string) OASTResponse
	// Interactions returns the interactions with tokens of the scan, in order of arrival,
	// without the first n.
	Interactions(n int) []Interaction
}

// An OASTResponse is a harmless response of the listener, which shows how the target processes
// it.
type OASTResponse struct {
	Text     string // the body
	Included string // the output of a PHP program that includes the body
	First    string // its first word
}

// An Interaction is a request that arrived at the OAST listener.
type Interaction struct {
	Token    string    `json:"token"`
	At       time.Time `json:"at"`
	Protocol string    `json:"protocol"`          // "http", "dns", "ldap"
	From     string    `json:"from"`              // address of the client
	Request  string    `json:"text"`              // as text, truncated
	Browser  bool      `json:"browser,omitempty"` // the User-Agent is that of an ordinary browser
}

// A LivePass is a running target.
type LivePass struct {
	Context context.Context
	Live

	// Analyses are those that the scan runs on the target, this one included. When both run,
	// DAST covers the declared routes that return pages, and API those that return data.
	Analyses []finding.Analysis

	// Advisories looks up known vulnerabilities, as in a ProjectPass.
	Advisories Advisories

	// Deadline is when the analyzer must return with the results that it has.
	Deadline time.Time

	// Progress reports the progress of the analyzer, as in a ProjectPass.
	Progress func(percent int, step string)

	// Operation reports the outcome of an operation, once for each.
	Operation func(finding.Operation)

	Reporter
}
