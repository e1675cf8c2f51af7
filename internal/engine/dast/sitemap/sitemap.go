// Package sitemap says what belongs to a target, which addresses are the same
// operation, and keeps what is known of each operation.
package sitemap

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/errs"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// A Scope decides which addresses may be asked.
type Scope struct {
	base    *url.URL
	folder  string // path that the base's addresses begin with, ends with a slash
	include []pattern
	exclude []pattern
}

// A pattern is one of scan.ScopeDoc.
type pattern struct {
	whole *regexp.Regexp
	path  bool // about path and query only
}

// NewScope reads the scope of a target; an Invalid error names what is wrong.
func NewScope(t *scan.Target) (*Scope, error) {
	u, err := url.Parse(t.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errs.E(errs.Invalid, "the target %.200q is not an http or https address", t.URL)
	}
	if u.User != nil {
		return nil, errs.E(errs.Invalid, "the URL of the target contains a user name: put it into an identity")
	}
	s := &Scope{base: u, folder: "/"}
	if i := strings.LastIndexByte(u.EscapedPath(), '/'); i >= 0 {
		s.folder = u.EscapedPath()[:i+1]
	}
	if s.include, err = compilePatterns("include", t.Include); err != nil {
		return nil, err
	}
	if s.exclude, err = compilePatterns("exclude", t.Exclude); err != nil {
		return nil, err
	}
	return s, nil
}

// compilePatterns compiles patterns.
func compilePatterns(what string, list []string) ([]pattern, error) {
	var out []pattern
	for _, text := range list {
		if strings.TrimSpace(text) == "" || len(text) > 2000 {
			return nil, errs.E(errs.Invalid, "%s: a pattern of %d characters is none", what, len(text))
		}
		parts := strings.Split(text, "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		whole, err := regexp.Compile("(?i)^" + strings.Join(parts, ".*") + "$")
		if err != nil {
			return nil, errs.E(errs.Invalid, "%s: pattern %.200q: %v", what, text, err)
		}
		out = append(out, pattern{whole: whole, path: !strings.Contains(text, "://")})
	}
	return out, nil
}

func matchesAny(list []pattern, address, path string) bool {
	for _, p := range list {
		text := address
		if p.path {
			text = path
		}
		if p.whole.MatchString(text) {
			return true
		}
	}
	return false
}

// Base is the address of the target.
func (s *Scope) Base() *url.URL { return s.base }

// Allows reports whether the address may be asked, and if not, why.
func (s *Scope) Allows(r *message.Request) error {
	address, path := r.Address(), strings.TrimPrefix(r.Address(), r.Base())
	switch {
	case matchesAny(s.exclude, address, path):
		return errs.E(errs.Forbidden, "excluded by the scope of the target")
	case strings.EqualFold(r.Scheme, s.base.Scheme) && sameHost(r.Host, s.base) && s.isBelowBase(r.Path):
		return nil
	case matchesAny(s.absolutePatterns(), address, ""):
		return nil
	case strings.EqualFold(r.Scheme, s.base.Scheme) && sameHost(r.Host, s.base) && matchesAny(s.include, address, path):
		return nil
	}
	return errs.E(errs.Forbidden, "outside of the scope of the target")
}

// isBelowBase reports whether the path, as a server resolves it, is in the base's folder.
func (s *Scope) isBelowBase(path string) bool {
	return strings.HasPrefix(path, s.folder) || path+"/" == s.folder
}

// absolutePatterns are the patterns to include that name a host.
func (s *Scope) absolutePatterns() []pattern {
	var out []pattern
	for _, p := range s.include {
		if !p.path {
			out = append(out, p)
		}
	}
	return out
}

// sameHost compares hosts with their ports.
func sameHost(host string, base *url.URL) bool {
	if strings.EqualFold(host, base.Host) {
		return true
	}
	return strings.EqualFold(host, strings.TrimSuffix(strings.TrimSuffix(base.Host, ":80"), ":443")) &&
		base.Port() == map[string]string{"http": "80", "https": "443"}[base.Scheme]
}

// Hosts reports whether the host is the target's own, for cookies and credentials.
func (s *Scope) Hosts(host string) bool { return sameHost(host, s.base) }

// Trusts reports whether credentials may be sent there: to the target's own host, and not
// in the clear where the target is encrypted.
func (s *Scope) Trusts(scheme, host string) bool {
	return s.Hosts(host) && (s.base.Scheme == "http" || strings.EqualFold(scheme, s.base.Scheme))
}

// dangerous are words in an address or a label of what ends the session or cannot be
// taken back.
var dangerous = lazyregexp.New(`(?i)(^|[^a-z])(log|sign)[-_ ]?(out|off)([^a-z]|$)|(^|[^a-z])(abmelden|ausloggen|d[eé]connexion|cerrar[-_ ]?sesi[oó]n|uitloggen|wyloguj)([^a-z]|$)|(^|[^a-z])(deactivate|close|delete|remove|cancel)[-_]?(my)?[-_]?account|(^|[^a-z])(shutdown|rmdir|unlink|reboot|factory[-_]?reset|set[-_]?up|re[-_]?install|uninstall|unsubscribe|terminate[-_]?session)([^a-z]|$)` +
	`|(^|[^a-z])(create|re[-_]?create|reset|re[-_]?build|drop|init|initiali[sz]e|populate|seed|restore|truncate|wipe|purge|clear|empty|flush)[-_]?(the[-_]?|all[-_]?)?(db|database|data|tables?)([^a-z]|$)` +
	`|(^|[^a-z])(db|database|tables?)[-_]?(create|reset|re[-_]?build|drop|init|initiali[sz]e|populate|restore|truncate|wipe|purge)([^a-z]|$)|(^|/)install\.(php|aspx?|jsp)([^a-z]|$)`)

// IsDangerous reports whether the text of an address, a link or a button says that it
// ends the session or destroys something: nothing asks for it unasked.
func IsDangerous(text string) bool { return dangerous.MatchString(text) }

// removes is how the names of operations begin that remove something.
var removes = lazyregexp.New(`^(?i:delete|remove|drop|purge|wipe|truncate|destroy|erase|reset|clear|burn|kill|revoke|uninstall|trash|l[oö]schen|loeschen|entfernen|supprimer|effacer|eliminar|borrar|quitar|elimina|rimuovi|cancella|excluir|remover|apagar)(_|-|[A-Z]|$)|AndBurn|AndDelete`)

// NamesRemoval reports whether the name of an operation, or the last part of a path, says that
// it removes something or puts something else in its place.
func NamesRemoval(name string) bool {
	return removes.MatchString(name[strings.LastIndexByte(name, '/')+1:])
}

// IsDelete reports whether a request says that it removes something: by its method or, where
// it may change something, by the last part of its path, its button or a hidden field.
func IsDelete(r *message.Request) bool {
	switch r.Method {
	case http.MethodDelete:
		return true
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	if path := strings.TrimRight(r.Path, "/"); NamesRemoval(path) && !IsPasswordRecovery(path) ||
		IsRemovalLabel(r.Label) {
		return true
	}
	for _, p := range r.Points() {
		switch p.Type {
		case "button":
			if IsRemovalLabel(p.Name) || IsRemovalLabel(p.Value) {
				return true
			}
		case "hidden":
			if IsRemovalLabel(p.Value) {
				return true
			}
		}
	}
	return false
}

// IsRemovalLabel reports whether a label, or a value that says what to do, begins with a word for
// removing something.
func IsRemovalLabel(text string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return len(text) <= 2*maxWord && NamesRemoval(word)
}

// recovers are names of operations for users who have forgotten their password.
var recovers = lazyregexp.New(`(?i)(reset|forgot(ten)?|recover|lost)[-_/]?(my[-_]?)?(passw|pin|account)`)

// IsPasswordRecovery reports whether the name of an operation, or its path, says that users who
// have forgotten their password get another one by it.
func IsPasswordRecovery(name string) bool { return recovers.MatchString(name) }

// password are names of fields that take a password.
var password = lazyregexp.New(`(?i)passw|pass[-_ ]?phrase|^pwd|pwd$|(^|[^a-z]|user)pass$`)

// IsPassword reports whether a field of this name takes a password.
func IsPassword(name string) bool { return password.MatchString(name) }

// newPassword are names of fields that take a new password.
var newPassword = lazyregexp.New(`(?i)(new|conf|repeat|retype|again|verify|current|old)[-_]?(pass|pwd|pw)|(pass(word|wd|phrase)?|pwd)[-_]?(new|conf|repeat|again|check|verify|old|current|2)`)

// person are names of fields that say whose password it is: a form with one signs in
// or registers somebody.
var person = lazyregexp.New(`(?i)user|login|mail|account|nick|(^|[-_])name`)

const (
	irrevocable = "it ends the session or is irreversible: never requested"
	maxWord     = 20 // bytes of a value that says what to do
)

// EndsSession reports whether a request ends the session or destroys something that cannot be
// brought back, by its address, its button or what a hidden field says to do.
func EndsSession(r *message.Request) bool {
	if IsDangerous(r.Address()) || len(r.Label) <= 2*maxWord && IsDangerous(r.Label) {
		return true
	}
	return slices.ContainsFunc(r.Body.Params, func(p message.Param) bool {
		return IsDangerous(p.Name) || len(p.Value) <= maxWord && IsDangerous(p.Value)
	})
}

// ForbiddenReason says why nobody asks for a request unasked: it ends the session, destroys
// something, or gives the user that the scan signs in as another password. Empty: it
// may be asked.
func ForbiddenReason(r *message.Request) string {
	if EndsSession(r) {
		return irrevocable
	}
	fresh := false
	var passwords []string
	for _, p := range r.Points() {
		switch p.In {
		case message.InQuery, message.InForm, message.InMultipart, message.InJSON:
		default:
			continue
		}
		isNew := newPassword.MatchString(p.Name) && p.Value != ""
		if isNew || r.Types[p.Key()] == "password" && p.Value != "" {
			passwords = append(passwords, p.Value)
		}
		fresh = fresh || isNew
		if person.MatchString(p.Name) && !newPassword.MatchString(p.Name) {
			return ""
		}
	}
	if (fresh || len(passwords) > 1) && len(slices.Compact(passwords)) == 1 { // different ones are refused
		return "it changes the password of the identity: never requested"
	}
	return ""
}

// OperationKey is the same for requests that are the same operation: method, host, path
// with identifiers replaced, and the set of the names of the parameters, in whatever
// order and how often they come. Where one program serves many pages (Page), requests
// with more parameters are an operation of the page.
func OperationKey(r *message.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s%s?", r.Method, r.Base(), PathShape(r))
	for _, name := range parameterNames(r.Query) {
		b.WriteString(name + "&")
	}
	b.WriteString(PageSelector(r))
	for _, name := range parameterNames(r.Body.Params) {
		b.WriteString("#" + name)
	}
	if r.Body.Kind == message.JSON || r.Body.Kind == message.XML {
		for _, p := range r.Points() {
			if p.In == message.InJSON || p.In == message.InXML {
				b.WriteString("#" + number.ReplaceAllString(p.Name, "/0"))
			}
		}
	}
	return b.String()
}

// parameterNames are those of parameters, each once and sorted; "rev[0]" and "rev[1]" are one.
func parameterNames(list []message.Param) []string {
	var out []string
	for _, p := range list {
		out = append(out, element.ReplaceAllString(p.Name, "[]"))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// element is the index of an element in the name of a parameter.
var element = lazyregexp.New(`\[\d+\]`)

// chooses are names of parameters by which one program serves many pages.
var chooses = lazyregexp.New(`(?i)^(page(_?(id|name))?|p|action|act|do|mod(ule)?|view|ctrl|controller|option|task|route|cmd|op|func(tion)?|method|area|section|tab|screen|step|menu|show)$`)

// routes are names of parameters that hold the path of a page, or what is searched for.
var routes = lazyregexp.New(`(?i)^(q|r|url|path|_url)$`)

// pageName is a value that names a page: a word, or a path of words.
var pageName = lazyregexp.New(`^/?[A-Za-z][\w-]*([./:][\w-]+)*$`)

// PageKey returns the value of the query by which one program serves many pages, such as
// "user-info.php" of "/index.php?page=user-info.php". Empty: nothing looks like it.
func PageKey(r *message.Request) string { return pageParameter(r).Value }

// pageParameter is the parameter of Page.
func pageParameter(r *message.Request) message.Param {
	for _, p := range r.Query {
		if len(p.Value) <= 80 && pageName.MatchString(p.Value) && (chooses.MatchString(p.Name) ||
			routes.MatchString(p.Name) && strings.Contains(p.Value, "/")) {
			return p
		}
	}
	return message.Param{}
}

// SelectsPage reports whether a parameter chooses the page of the request.
func SelectsPage(r *message.Request, name string) bool {
	p := pageParameter(r)
	return p.Value != "" && p.Name == name
}

// PageSelector is the Page as it belongs to the operation, "?page=user-info.php": where the
// request has more parameters, each page is an operation of its own. Empty: it is none.
func PageSelector(r *message.Request) string {
	p := pageParameter(r)
	if p.Value == "" || len(r.Query) < 2 && r.Body.Kind == message.NoBody {
		return ""
	}
	return "?" + p.Name + "=" + p.Value
}

// LocationOf names a point of the query or of a form on its page, whatever other parameters
// the request has: the parameter that chooses the page is the same one on all of them.
// Empty: the point is another one.
func LocationOf(r *message.Request, at message.Point) string {
	switch at.In {
	case message.InQuery, message.InQueryName, message.InForm, message.InFormName:
	default:
		return ""
	}
	place := r.Method + " " + r.Base() + PathShape(r) + " " + at.Key()
	if chosen := pageParameter(r); at.In != message.InQuery && at.In != message.InQueryName || at.Name != chosen.Name {
		place += " " + chosen.Value
	}
	return place
}

// number is an index in a pointer.
var number = lazyregexp.New(`/\d+`)

// PathShape is the template of the path, or the path with identifiers replaced.
func PathShape(r *message.Request) string {
	if r.Template != "" {
		return r.Template
	}
	segments := strings.Split(r.Path, "/")
	for i, s := range segments {
		if decoded, err := url.PathUnescape(s); err == nil && message.LooksLikeIdentifier(decoded) {
			segments[i] = "{}"
		}
	}
	return strings.Join(segments, "/")
}
