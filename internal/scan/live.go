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

// This file declares what a live analyzer examines: a running application, with
// what may be asked of it and as whom. A Target is what users enter and what is
// kept; it holds secrets, so it is never part of a message.

// A Target is a running application.
type Target struct {
	// the base: scheme, host, port and a path that everything examined is below
	URL      string   `json:"url"`
	Include  []string `json:"include,omitempty"`  // more addresses of the same application, as patterns; see ScopeDoc
	Exclude  []string `json:"exclude,omitempty"`  // addresses that are never asked, as patterns
	Profile  Profile  `json:"profile,omitempty"`  // empty: Standard
	Rate     float64  `json:"rate,omitempty"`     // requests a second; 0: 300
	Parallel int      `json:"parallel,omitempty"` // requests at once; 0: 4
	Requests int      `json:"requests,omitempty"` // sent in all; 0: 200,000
	Headers  []Header `json:"headers,omitempty"`  // sent with every request
	// Identities are the users that the scan signs in as. The first explores and
	// attacks; all are compared where authorization is examined.
	Identities   []Identity    `json:"identities,omitempty"`
	Descriptions []Description `json:"descriptions,omitempty"`
	// Seeds are addresses to begin with, beside the base.
	Seeds []string `json:"seeds,omitempty"`
	// Routes are what the source code declares, from a scan of the same project.
	Routes []Route `json:"routes,omitempty"`
	// Templates are checks in the format of nuclei, YAML documents that users bring.
	Templates []Description `json:"templates,omitempty"`
	// Checks are the names of the checks to make, such as "xss"; empty: all that the
	// profile allows.
	Checks []string `json:"checks,omitempty"`
	// Production says that people work with the application: nothing that takes its
	// time or its memory is tried, whatever the profile.
	Production bool `json:"production,omitempty"`
}

// ScopeDoc explains patterns of addresses.
const ScopeDoc = `A pattern is an address or a path in which * stands for any text: "/admin/*", "https://api.example.org/v2/*", "*logout*". A pattern without a scheme is about the path and query on the hosts of the target.`

// A Profile says how far a scan goes.
type Profile string

const (
	Passive  Profile = "passive"  // links are followed; nothing unusual is sent
	Safe     Profile = "safe"     // probes that read: no time, no files of the system, no form that stores
	Standard Profile = "standard" // everything but what can harm: file-shaped payloads only after an indication
	Full     Profile = "full"     // uploads, methods that delete what the scan did not create, floods at small numbers
)

// Profiles lists every profile, from the most careful on.
var Profiles = []Profile{Passive, Safe, Standard, Full}

// Allows reports whether the profile goes as far as what.
func (p Profile) Allows(what Profile) bool { return p.rank() >= what.rank() }

func (p Profile) rank() int {
	for i, known := range Profiles {
		if p == known {
			return i
		}
	}
	return 2 // Standard
}

// Limits of a passive scan of an application that may be somebody else's.
const (
	PassiveRate     = 10 // requests a second
	PassiveRequests = 1000
)

// LimitPassive holds the target to the limits of such a scan.
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

// An Identity is a user of the target. Exactly one way of signing in is set.
type Identity struct {
	Name string `json:"name"`
	// Role orders identities: a higher one may do what a lower one may. 0 is unknown.
	Role int `json:"role,omitempty"`

	Form   *FormLogin    `json:"form,omitempty"`   // a page with a form
	JSON   *JSONLogin    `json:"json,omitempty"`   // a request that answers with a token or sets a cookie
	OAuth  *OAuthLogin   `json:"oauth,omitempty"`  // OAuth 2 and OpenID Connect
	Bearer string        `json:"bearer,omitempty"` // a token as it is
	Basic  *BasicLogin   `json:"basic,omitempty"`  // HTTP Basic, RFC 7617
	Cookie string        `json:"cookie,omitempty"` // the header Cookie as it is
	Header []Header      `json:"header,omitempty"` // any headers
	Steps  []BrowserStep `json:"steps,omitempty"`  // recorded steps in the browser

	// Marker proves a session.
	Marker Marker `json:"marker,omitzero"`
	// TOTP is the secret of one-time passwords (RFC 6238) in base 32; where it is
	// sent is told by {{totp}} in a value of the login.
	TOTP string `json:"totp,omitempty"`
}

// A Marker tells whether a session holds. Without any field, the scan tells it
// by the answer to a page that differs for somebody who is signed in.
type Marker struct {
	URL    string `json:"url,omitempty"`    // asked; empty: every answer is looked at
	In     string `json:"in,omitempty"`     // a regular expression (RE2) that an answer holds when signed in
	Out    string `json:"out,omitempty"`    // one that an answer holds when not
	Status int    `json:"status,omitempty"` // of URL's answer when signed in
}

// A FormLogin fills in the form of a page. Fields that it does not name keep the
// values of the page, such as tokens.
type FormLogin struct {
	URL      string `json:"url"` // of the page
	User     string `json:"user"`
	Password string `json:"password"`
	// more values by name; User and Password find their fields themselves
	Fields map[string]string `json:"fields,omitempty"`
}

// A JSONLogin sends a request with a body and takes a token out of the answer.
type JSONLogin struct {
	URL    string    `json:"url"`
	Method string    `json:"method,omitempty"` // empty: POST
	Body   LoginBody `json:"body"`             // as it is sent
	Type   string    `json:"type,omitempty"`   // Content-Type; empty: application/json
	// JSON pointer (RFC 6901) to the token in the answer; empty: cookies, or the only token of the answer
	Token  string `json:"token,omitempty"`
	Header string `json:"header,omitempty"` // that carries the token; empty: Authorization
	// before the token; empty with Authorization: "Bearer "; a space: nothing
	Prefix string `json:"prefix,omitempty"`
}

// A LoginBody is the body of a sign-in request. In JSON it is a text, or the object or array
// that is to be sent.
type LoginBody string

// UnmarshalJSON takes a text as it is, and an object or array as its own JSON text.
func (b *LoginBody) UnmarshalJSON(text []byte) error {
	if t := bytes.TrimSpace(text); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		*b = LoginBody(t)
		return nil
	}
	return json.Unmarshal(text, (*string)(b))
}

// An OAuthLogin gets a token by a flow of OAuth 2 (RFC 6749) with PKCE (RFC 7636).
type OAuthLogin struct {
	Issuer    string `json:"issuer,omitempty"`    // whose discovery document names the endpoints
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
	Open  string        `json:"open,omitempty"`  // an address
	Click string        `json:"click,omitempty"` // a CSS selector
	Fill  string        `json:"fill,omitempty"`  // a CSS selector, with Value
	Value string        `json:"value,omitempty"` // {{totp}} stands for a one-time password
	Wait  string        `json:"wait,omitempty"`  // for a CSS selector to appear
	Sleep time.Duration `json:"sleep,omitempty"` // nanoseconds, at most 30 s
}

// A Description tells operations, or is a template: a text, or an address below
// the target where it is found.
type Description struct {
	Name string `json:"name"`           // of the file, for people
	Kind string `json:"kind,omitempty"` // "openapi", "postman", "har", "graphql"; empty: told by the text
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
	// Sinks are findings of static analysis that begin in the handler.
	Sinks []Sink `json:"sinks,omitempty"`
}

// A Sink is a flaw that static analysis sees behind a route.
type Sink struct {
	CWE         []string            `json:"cwe"`
	RuleID      string              `json:"ruleId"`
	Parameter   string              `json:"parameter,omitempty"` // "query:name"; empty: not a single one
	Location    finding.Location    `json:"location"`
	Fingerprint finding.Fingerprint `json:"fingerprint,omitzero"`
	Steps       []finding.Step      `json:"steps,omitempty"` // the path of the data
}

// Live is what a live analyzer needs of the host beside the target.
type Live struct {
	Target Target
	// ID names the scan in a header of every request.
	ID string
	// Dial is the one way to the network: it decides on the resolved address of
	// each connection.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Browser is the path of a Chromium that may be run; empty: none, with the reason
	// in BrowserReason.
	Browser       string
	BrowserReason string
	// BrowserUser is the user and group that the browser runs as; 0: this one.
	BrowserUser int
	// Chromium starts a browser elsewhere, in the place of Browser. Its error says why
	// there is none.
	Chromium func(ctx context.Context) (*Chromium, error)
	// Callback receives what the target sends elsewhere; nil: nothing is listening, with
	// the reason in OASTReason, which is empty where that is wanted.
	OAST        OASTListener
	OASTReason  string
	OASTTimeout time.Duration // how long a proof waits for a call; 0: 2 s
	// Stop ends the scan early when it is closed: the analyzers report what they have found
	// and what they left. nil: nothing stops it.
	Stop <-chan struct{}
	// Guest continues the scan without the session of an identity whose sign-in fails.
	// Otherwise the scan fails before it examines anything.
	AllowGuest bool
	// Monitor is told how to ask for the state of the scan; nil: nobody asks.
	Monitor *Monitor
	// Resume is what an earlier attempt of the same scan kept, and Keep keeps
	// something for a later one, at most MaxCheckpoint bytes; both may be nil. Each analyzer
	// has a part of its own.
	Resume         []byte
	SaveCheckpoint func([]byte) error
	// Secrets are replaced in everything that the scan says. Run begins with those of the
	// target; an analyzer adds what it is given while it scans.
	Secrets *redact.Set
}

// A Chromium is a browser that runs.
type Chromium struct {
	// Pipe carries the DevTools protocol, each message with a zero byte behind it. Closing
	// it ends the browser.
	Pipe io.ReadWriteCloser
	// Proxy accepts the connections that the browser makes to its proxy, which are all
	// that it makes. It ends with the browser.
	Proxy      net.Listener
	Stop       func()       // ends it
	ExitReason func() error // tells why it ended, once its pipe has
}

// MaxCheckpoint bounds what an attempt may keep for the next one, in bytes.
const MaxCheckpoint = 4 << 20

// Root is what all paths of findings of the target begin with: its host, its port
// where the scheme has another, and the folder of its path.
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

// Path is the path by which findings name an address of the target: Root, and what
// is below it. An address elsewhere is named by its host and path below Root.
func (t *Target) Path(address *url.URL) string {
	root := t.Root()
	whole := path.Join(strings.ReplaceAll(address.Host, "/", ""), path.Clean("/"+address.Path))
	if whole != root && !strings.HasPrefix(whole, root+"/") {
		whole = path.Join(root, whole)
	}
	return strings.ToValidUTF8(whole, "?")
}

// A OASTListener is a listener of ours that a target which can be made to send
// requests reaches.
type OASTListener interface {
	// Token returns a new token, which nobody else can know: lower-case letters and
	// digits.
	NewToken() string
	// Address returns an address (URL) and a host name that stand for the token
	// alone. The host is empty when no name leads to the listener.
	Address(token string) (url, host string)
	// Text is what the listener answers at the token's address.
	Response(token string) OASTResponse
	// Calls returns what has arrived for tokens of the scan, in order, without the
	// first n.
	Interactions(n int) []Interaction
}

// A OASTResponse is what a Callback answers: a text that runs nothing.
type OASTResponse struct {
	Text     string // as it is sent
	Included string // as a program of PHP shows it that includes it
	First    string // the word that it begins with
}

// A Interaction is something that arrived at a Callback.
type Interaction struct {
	Token    string    `json:"token"`
	At       time.Time `json:"at"`
	Protocol string    `json:"protocol"`          // "http", "dns", "ldap"
	From     string    `json:"from"`              // address of the caller
	Request  string    `json:"text"`              // what was asked, as text, cut
	Browser  bool      `json:"browser,omitempty"` // by its User-Agent it is a browser that people use
}

// A LivePass is a running target.
type LivePass struct {
	Context context.Context
	Live

	// Analyses are those that the scan makes of the target, this one among them. Where
	// both look at what the source declares, pages are those of DAST, and data of API.
	Analyses []finding.Analysis

	// Advisories looks up known vulnerabilities, as in a ProjectPass.
	Advisories Advisories

	// Deadline is when the analyzer has to end by itself, with what it has.
	Deadline time.Time

	// Progress tells how far the analyzer is, as in a ProjectPass.
	Progress func(percent int, step string)

	// Operation tells what became of an operation, once for each.
	Operation func(finding.Operation)

	Reporter
}
