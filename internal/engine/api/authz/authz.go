// Package authz examines who may do what in a running API. It compares identities: what
// one of them owns is asked for as another one, as nobody, and beside something that
// does not exist; what one sends beyond the description is read back. In the profile
// standard it makes the objects and, where the API offers registration, the accounts
// that it needs; others' objects are never changed. What it has made it removes again
// where the API allows that.
package authz

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"merlon/internal/engine/api/describe"
	"merlon/internal/engine/api/generate"
	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/check/jwt"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/session"
	"merlon/internal/engine/dast/site"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// An API is what is examined.
type API struct {
	Operations []*Operation
	Users      []*User // signed in, in the order of the target; the first one explored
	Base       *url.URL
	Seed       uint64
	// Options say how a valid input of an operation is made; what this package knows
	// better it replaces.
	Options func(o *Operation) generate.Options
	// Session holds what new sessions need.
	Session session.Options
	// Created is told what the examination has made and could not remove.
	Created func(what string)
}

// An Operation is one of the description, with the answer to a valid request as the
// first user; nil: there is none.
type Operation struct {
	*describe.Operation
	Origin string
	Answer *message.Response
}

// A User is an identity that is signed in.
type User struct {
	Identity scan.Identity
	Session  *session.Session
	account  *account // that this examination has made; nil: it was given
}

// Name names the user for people.
func (u *User) Name() string {
	if u.account != nil {
		return u.account.name
	}
	return u.Identity.Name
}

// names are the texts by which the API may know the user.
func (u *User) names() []string {
	var out []string
	if u.account != nil {
		out = append(out, u.account.name, u.account.email)
	}
	i := &u.Identity
	if i.JSON != nil {
		fields, _ := decode([]byte(i.JSON.Body)).(map[string]any)
		for name, v := range fields {
			if text, ok := v.(string); ok && identifies(name) {
				out = append(out, text)
			}
		}
	}
	if i.Form != nil {
		out = append(out, i.Form.User)
	}
	if i.OAuth != nil {
		out = append(out, i.OAuth.User)
	}
	if i.Basic != nil {
		out = append(out, i.Basic.User)
	}
	return slices.DeleteFunc(out, func(s string) bool { return len(s) < 3 })
}

// examination is one examination of one API.
type examination struct {
	*attack.Trial
	*API
	register, login *Operation // nil: the API has none
	made            []*object
}

// Examine examines the API. An error is one that ends the scan.
func Examine(t *attack.Trial, a *API) error {
	e := &examination{Trial: t, API: a}
	for _, o := range a.Operations {
		switch {
		case o.Call != nil || site.Dangerous(o.Path):
		case e.register == nil && registers(o):
			e.register = o
		case e.login == nil && signsIn(o):
			e.login = o
		}
	}
	for _, step := range []func() error{e.accounts, e.tokens, e.functions, e.objects} {
		if err := step(); traffic.Over(err) {
			return err
		}
	}
	return e.tidy()
}

// tokens examines the token of an account that the examination has made, when no user
// was given whose token the check looks at anyway.
func (e *examination) tokens() error {
	if len(e.Users) == 0 || e.Users[0].account == nil {
		return nil
	}
	var pages []*message.Request
	for _, o := range e.Operations {
		if o.Call == nil && o.Method == http.MethodGet && o.Answer != nil {
			pages = append(pages, o.Answer.Request)
		}
	}
	return jwt.Examine(e.Trial, e.Users[0].Session, pages)
}

// changes reports whether the profile allows to make objects and to change them.
func (e *examination) changes() bool { return e.Target.Profile.Allows(scan.Standard) }

// send sends as the user; nil: as nobody.
func (e *examination) send(r *message.Request, as *User) (*message.Response, error) {
	e.Surface.Count(r, 1)
	if as == nil || as.Session == nil {
		return e.Client.Send(e.Context, r, nil)
	}
	return e.Client.Send(e.Context, r, as.Session)
}

// request makes a request of the operation: values of known, by their names without
// marks, replace others; extra members are added to the body.
func (e *examination) request(o *Operation, optional bool, known func(in, name string, s *describe.Schema) (any, bool), extra map[string]any) (*message.Request, error) {
	options := generate.Options{Seed: e.Seed}
	if e.Options != nil {
		options = e.Options(o)
	}
	rest := options.Known
	options.Optional = optional
	options.Known = func(in, name string, s *describe.Schema) (any, bool) {
		if v, ok := known(in, name, s); ok {
			return v, true
		}
		if rest == nil {
			return nil, false
		}
		return rest(in, name, s)
	}
	input := generate.Valid(o.Operation, options)
	if len(extra) > 0 {
		fields, ok := input.Body.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s %s takes no object", o.Method, o.Path)
		}
		fields = maps.Clone(fields)
		maps.Copy(fields, extra)
		input.Body = fields
	}
	return input.Request(e.Base, o.Origin)
}

// body is the schema of what the operation takes; nil: it takes no object.
func (o *Operation) body() *describe.Schema {
	for _, m := range o.Bodies {
		if s := generate.Flat(m.Schema); len(s.Properties) > 0 {
			return s
		}
	}
	return nil
}

// takes reports whether the operation's body has a property of which f is true.
func (o *Operation) takes(f func(name string) bool) bool {
	s := o.body()
	return s != nil && slices.ContainsFunc(s.Properties, func(p describe.Property) bool { return f(p.Name) })
}

// named is what the operation calls itself, for words.
func (o *Operation) named() string {
	return o.Path + " " + o.ID[strings.LastIndexAny(o.ID, "./")+1:]
}

// collection is the path without its last parameter, and that parameter; both are empty
// when the path does not end in one.
func (o *Operation) collection() (path, parameter string) {
	i := strings.LastIndexByte(o.Path, '/')
	last := o.Path[i+1:]
	if i < 1 || !strings.HasPrefix(last, "{") || !strings.HasSuffix(last, "}") {
		return "", ""
	}
	return o.Path[:i], strings.Trim(last, "{}")
}

// at finds the operation of a method and a path.
func (e *examination) at(method, path string) *Operation {
	for _, o := range e.Operations {
		if o.Call == nil && o.Method == method && o.Path == path {
			return o
		}
	}
	return nil
}

// plain writes a name without marks, in small letters.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// identifies reports whether a property of this name tells who a user is.
func identifies(name string) bool {
	switch n := plain(name); n {
	case "username", "user", "login", "loginname", "userid", "name", "nickname", "handle":
		return true
	default:
		return mail(n)
	}
}

func mail(name string) bool {
	n := plain(name)
	return n == "mail" || strings.HasSuffix(n, "email") || n == "emailaddress"
}

// isPassword reports whether a property of this name is a password.
func isPassword(name string) bool {
	n := plain(name)
	return n == "pass" || n == "pwd" || strings.Contains(n, "passwd") || strings.Contains(n, "password") || strings.Contains(n, "passphrase")
}

var (
	joins = lazyregexp.New(`(?i)regist(er|ration)|sign[-_]?up|(create|add|new)[-_]?(user|account|customer|member)|enrol`)
	users = lazyregexp.New(`(?i)/(users?|accounts?|customers?|members?)/?$`)
	logs  = lazyregexp.New(`(?i)log[-_]?in|sign[-_]?in|authenticat|/(auth|token|sessions?)\b`)
)

func registers(o *Operation) bool {
	return o.Method == http.MethodPost && o.takes(isPassword) && o.takes(identifies) && !logs.MatchString(o.named()) && !strings.Contains(o.Path, "{") &&
		(joins.MatchString(o.named()) || users.MatchString(o.Path))
}

func signsIn(o *Operation) bool {
	return o.Method == http.MethodPost && o.takes(isPassword) && o.takes(identifies) && logs.MatchString(o.named()) && !strings.Contains(o.Path, "{")
}

// ok reports whether an answer says that it worked.
func ok(resp *message.Response) bool { return resp.Status >= 200 && resp.Status < 300 }

func decode(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// Limits of what is looked at of one answer.
const (
	maxDepth  = 12
	maxLooked = 20_000
)

// holding returns the innermost objects of a document that hold the text as a value of
// their own, each with its scalars and those of the objects directly around it left out.
func holding(v any, text string) []map[string]any {
	var out []map[string]any
	looked := 0
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		if looked++; depth > maxDepth || looked > maxLooked {
			return
		}
		switch v := v.(type) {
		case []any:
			for _, below := range v {
				walk(below, depth+1)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if s, is := v[name].(string); is && s == text {
					out = append(out, v)
					break
				}
			}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name], depth+1)
			}
		}
	}
	walk(v, 0)
	return out
}

// holds reports whether the body holds the text as a JSON value.
func holds(resp *message.Response, text string) bool {
	return len(holding(decode(resp.Body), text)) > 0
}
