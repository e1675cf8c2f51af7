// Package exposedfiles requests files and pages that nobody meant to publish: folders of version
// control (CWE-527), settings with passwords (CWE-538), copies of databases (CWE-530), consoles for
// debugging (CWE-489), pages about the server (CWE-497).
//
// The table files says what is requested below the base and below known folders; files of a
// technology are requested where the technology was seen. A finding needs a content that the file's
// program writes, while a random name beside it returns something else.
package exposedfiles

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// Rule is the check.
var Rule = &activescan.Rule{ID: "forgotten", FindingRules: []*finding.Rule{repository, settings, copies, console,
	status,
	administration}, Profile: scan.Safe, InspectResponse: recordTechnologies, ScanSite: searchFiles}

// A file is a name with the form of its content.
type file struct {
	// The path below a folder.
	name string
	// What it is, for the report.
	what string
	rule *finding.Rule
	// The technology that has such files, see recordTechnologies; empty: any.
	tech string
	// It may be in every folder; otherwise only below the base.
	deep bool
	// Only its headers are requested: the content is large and confidential.
	head bool
	sign *lazyregexp.Regexp
	// and is another name that has to be there too, with its sign.
	and     string
	andSign *lazyregexp.Regexp
}

// files are requested in this order. Signs are what the programs that write the files put into
// them, not what pages about the files may contain. To add a row: name, what, rule and sign; tech
// where only one technology has the file, so that others save the request.
var files = []file{
	{name: ".git/HEAD", what: "the repository (Git) that the application was made from", rule: repository, deep: true,
		sign: lazyregexp.New(`^(?:ref: refs/\S+|[0-9a-f]{40})\s*$`), and: ".git/config",
		andSign: lazyregexp.New(`(?m)^\[core\]`)},
	{name: ".svn/wc.db", what: "a working copy of Subversion", rule: repository,
		sign: lazyregexp.New(`^SQLite format 3\x00`)},
	{name: ".hg/requires", what: "a repository of Mercurial", rule: repository,
		sign: lazyregexp.New(`(?m)^(?:revlogv\d|dotencode|fncache|store)$`)},
	{name: ".bzr/README", what: "a repository of Bazaar", rule: repository,
		sign: lazyregexp.New(`^This is a Bazaar control directory`)},
	{name: ".env", what: "a file of settings", rule: settings, deep: true, sign: variables},
	{name: ".env.production", what: "a file of settings", rule: settings, sign: variables},
	{name: ".htpasswd", what: "a file of passwords", rule: settings,
		sign: lazyregexp.New(`(?m)^[\w.@-]{1,60}:(?:\$apr1\$|\$2[aby]?\$|\$5\$|\$6\$|\{SHA\})\S+\s*$`)},
	{name: ".aws/credentials", what: "credentials of a cloud", rule: settings,
		sign: lazyregexp.New(`(?m)^aws_secret_access_key\s*=`)},
	{name: "web.config", what: "a file of settings", rule: settings, tech: "dotnet",
		sign: lazyregexp.New(`<configuration[\s>][\s\S]*<(?:system\.web|appSettings|connectionStrings)[\s>]`)},
	{name: "WEB-INF/web.xml", what: "the description of a Java application", rule: settings, tech: "java",
		sign: lazyregexp.New(`<web-app[\s>][\s\S]*<(?:servlet|filter|display-name|welcome-file-list)[\s>]`)},
	{name: ".DS_Store", what: "a list of the files of a folder", rule: copies, deep: true,
		sign: lazyregexp.New(`^\x00\x00\x00\x01Bud1`)},
	{name: "backup.sql", what: "a copy of a database", rule: copies, sign: dump},
	{name: "dump.sql", what: "a copy of a database", rule: copies, sign: dump},
	{name: "database.sql", what: "a copy of a database", rule: copies, sign: dump},
	{name: "backup.zip", what: "an archive", rule: copies, head: true, sign: archive},
	{name: "docker-compose.yml", what: "the description of the deployment", rule: settings,
		sign: lazyregexp.New(`(?m)^services:\s*$[\s\S]*^\s+(?:image|build):`)},
	{name: "storage/logs/laravel.log", what: "a log", rule: copies, tech: "php",
		sign: lazyregexp.New(`(?m)^\[\d{4}-\d\d-\d\d[ T][^\]]{8,30}\] \w+\.(?:ERROR|INFO|DEBUG|WARNING|CRITICAL):`)},

	{name: "console", what: "a console of Werkzeug that runs Python", rule: console, tech: "python",
		sign: lazyregexp.New(`CONSOLE_MODE = true|<h1>Interactive Console</h1>`)},
	{name: "h2-console/", what: "a console for databases", rule: console, tech: "java",
		sign: lazyregexp.New(`<title>H2 Console</title>`)},
	{name: "_profiler/latest", what: "the profiler of Symfony", rule: console, tech: "php",
		sign: lazyregexp.New(`<title>Symfony Profiler</title>|sf-profiler|id="sidebar"[\s\S]*Symfony`)},
	{name: "telescope/requests", what: "Laravel Telescope, which shows every request", rule: console, tech: "php",
		sign: lazyregexp.New(`<title>Telescope[^<]*</title>[\s\S]*(?:window\.Telescope|vendor/telescope)`)},
	{name: "debug/pprof/", what: "the profiler of Go", rule: console,
		sign: lazyregexp.New(`Types of profiles available:`)},
	{name: "debug/vars", what: "variables of a program in Go", rule: status,
		sign: lazyregexp.New(`^\s*\{[\s\S]*"cmdline":[\s\S]*"memstats":`)},
	{name: "actuator/env", what: "the environment of a Spring Boot application", rule: settings, tech: "java",
		sign: lazyregexp.New(`"propertySources"\s*:\s*\[`)},
	{name: "actuator/heapdump", what: "the memory of a Java application", rule: settings, tech: "java", head: true,
		sign: lazyregexp.New(`(?i)content-type: application/octet-stream[\s\S]*`)},
	{name: "elmah.axd", what: "the log of errors of an ASP.NET application", rule: console, tech: "dotnet",
		sign: lazyregexp.New(`<title>Error log for `)},
	{name: "trace.axd", what: "the traces of an ASP.NET application", rule: console, tech: "dotnet",
		sign: lazyregexp.New(`<h1>Application Trace</h1>|<td><h1>Application Trace`)},

	{name: "phpinfo.php", what: "settings of PHP", rule: status, tech: "php", sign: information},
	{name: "info.php", what: "settings of PHP", rule: status, tech: "php", sign: information},
	{name: "server-status", what: "what the web server does for others", rule: status,
		sign: lazyregexp.New(`<h1>Apache Server Status for `)},
	{name: "nginx_status", what: "what the web server does", rule: status,
		sign: lazyregexp.New(`^Active connections: \d+\s+server accepts handled requests`)},
	{name: "metrics", what: "measurements of the application", rule: status,
		sign: lazyregexp.New(`(?m)^# (?:HELP|TYPE) \w+ [\s\S]*^\w+(?:\{[^}]*\})? [\d.eE+-]+$`)},

	{name: "phpmyadmin/", what: "phpMyAdmin", rule: administration, tech: "php",
		sign: lazyregexp.New(`<title>phpMyAdmin[^<]*</title>[\s\S]*pma_`)},
	{name: "adminer.php", what: "Adminer", rule: administration, tech: "php",
		sign: lazyregexp.New(`<title>Login - Adminer</title>`)},
	{name: "manager/html", what: "the manager of Tomcat", rule: administration, tech: "java",
		sign: lazyregexp.New(`(?i)www-authenticate: basic realm="Tomcat Manager Application"`)},
}

var (
	variables   = lazyregexp.New(`^(?:\s*#[^\n]*\n|\s*\n)*(?:export )?[A-Za-z][A-Za-z0-9_]*=[^\n<]*\n(?:\s*#[^\n]*\n|\s*\n)*(?:export )?[A-Za-z][A-Za-z0-9_]*=`)
	dump        = lazyregexp.New(`(?m)^-- (?:MySQL dump|MariaDB dump|PostgreSQL database dump|phpMyAdmin SQL Dump|SQLite)|^CREATE TABLE [\s\S]*^INSERT INTO `)
	archive     = lazyregexp.New(`(?i)content-type: application/(?:zip|x-zip-compressed|octet-stream)`)
	information = lazyregexp.New(`<title>(?:PHP [\d.]+\S* - )?phpinfo\(\)</title>`)
)

// technologies are told by the extensions of addresses, cookies and headers.
var technologies = []struct {
	tech string
	sign *lazyregexp.Regexp
}{
	{"php", lazyregexp.New(`(?i)^/\S*\.php(?:\s|$)|set-cookie: (?:phpsessid|laravel_session)=|x-powered-by: php`)},
	{"java", lazyregexp.New(`(?i)^/\S*\.(?:jsp|do|action|jsf)(?:\s|$)|set-cookie: jsessionid=|server: (?:apache-)?(?:coyote|tomcat|jetty)|x-application-context:`)},
	{"dotnet", lazyregexp.New(`(?i)^/\S*\.(?:aspx|ashx|asmx|axd)(?:\s|$)|set-cookie: (?:asp\.net_sessionid|\.aspnetcore)|x-aspnet-version:|x-powered-by: asp\.net`)},
	{"python", lazyregexp.New(`(?i)server: (?:werkzeug|gunicorn|uvicorn|wsgiserver)|set-cookie: csrftoken=`)},
}

// recordTechnologies notes the technologies that an answer tells of.
func recordTechnologies(t *activescan.OperationScan, resp *message.Response) {
	text := resp.Request.Path + "\n" + resp.Head()
	for _, k := range technologies {
		if k.sign.MatchString(text) {
			t.RecordFact("technology " + k.tech)
			t.RecordFact("technology")
		}
	}
}

// A search is the check at work.
type search struct {
	*activescan.OperationScan
	send     func(*message.Request) (*message.Response, error)
	controls map[string]*message.Response // by folder and extension
}

// searchFiles asks for the files.
func searchFiles(t *activescan.OperationScan) error {
	s := &search{OperationScan: t, send: t.SendAnonymously, controls: map[string]*message.Response{}}
	folders := s.knownFolders()
	first, err := s.controlResponse(folders[0], "x")
	if err != nil {
		return err
	}
	if first.Status == http.StatusUnauthorized || first.Status == http.StatusForbidden { // nobody sees anything
		s.send, s.controls = t.Send, map[string]*message.Response{}
	} else {
		t.InspectResponse(t.Context, first) // pages for what is missing show errors
	}
	for i, folder := range folders {
		for n := range files {
			f := &files[n]
			// Where no technology was recognized, the files of all are requested.
			if i > 0 && !f.deep || f.tech != "" && t.HasFact("technology") && !t.HasFact("technology "+f.tech) {
				continue
			}
			if err := s.probeFile(folder, f); err != nil {
				return err
			}
		}
		if err := s.probeDirectoryListing(folder); err != nil {
			return err
		}
	}
	return s.probeBackups()
}

const (
	// maxFolders bounds the folders, the shortest paths first.
	maxFolders = 10
	// maxCopies bounds the programs whose copies are requested.
	maxCopies = 8
)

// knownFolders are the base's folder and those of what is known, the shortest first.
func (s *search) knownFolders() []string {
	base := s.Request.Path[:strings.LastIndexByte(s.Request.Path, '/')+1]
	out := []string{base}
	for _, e := range s.Sitemap.Entries() {
		r := e.Request
		if r.Base() != s.Request.Base() || !strings.HasPrefix(r.Path, base) || r.Template != "" ||
			// A path with an identifier is data of the application, no folder of files.
			sitemap.PathShape(r) != r.Path {
			continue
		}
		for i := len(base); i < len(r.Path) && len(out) < 200; i++ {
			if dir := r.Path[:i+1]; r.Path[i] == '/' && !slices.Contains(out, dir) {
				out = append(out, dir)
			}
		}
	}
	slices.SortStableFunc(out[1:], func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return out[:min(len(out), maxFolders)]
}

// requestFor is the request of a path.
func (s *search) requestFor(at, method string) *message.Request {
	return &message.Request{Method: method, Scheme: s.Request.Scheme, Host: s.Request.Host, Path: at,
		Origin: "forgotten"}
}

// controlResponse is the answer to a random name with the extension.
func (s *search) controlResponse(folder, extension string) (*message.Response, error) {
	key := folder + " " + extension
	if known := s.controls[key]; known != nil {
		return known, nil
	}
	name := s.RandomLetters(10)
	if extension != "" {
		name += "." + extension
	}
	resp, err := s.send(s.requestFor(folder+name, http.MethodGet))
	if err == nil {
		s.controls[key] = resp
	}
	return resp, err
}

// matchesFile reports whether the response is the file, by the sign in its body, or in its head
// where only that was requested.
func (f *file) matchesFile(resp *message.Response, sign *lazyregexp.Regexp) bool {
	switch {
	case resp.Status == http.StatusUnauthorized:
		// Managers such as Tomcat's show themselves by the realm of their challenge.
		return sign.MatchString(resp.Head()) && strings.Contains(sign.String(), "www-authenticate")
	case resp.Status != http.StatusOK:
		return false
	case f.head:
		return sign.MatchString(resp.Head()) && !resp.IsHTML()
	}
	return sign.Match(resp.Body)
}

// probeFile asks for one file, and for proof where it seems to be there.
func (s *search) probeFile(folder string, f *file) error {
	method := http.MethodGet
	if f.head {
		method = http.MethodHead
	}
	r := s.requestFor(folder+f.name, method)
	if s.Scope.Allows(r) != nil || sitemap.IsDangerous(r.Address()) {
		return nil
	}
	resp, err := s.send(r)
	if err != nil || !f.matchesFile(resp, f.sign) {
		return err
	}
	answers, notes := []*message.Response{redactedResponse(resp, f)}, []string{"the file"}
	if f.and != "" {
		also, err := s.send(s.requestFor(folder+f.and, method))
		if err != nil || !f.matchesFile(also, f.andSign) {
			return err
		}
		answers, notes = append(answers, redactedResponse(also, &file{sign: f.andSign})),
			append(notes, "another file of it")
	}
	// The same folder, extension and slash: servers often answer by these alone.
	beside := s.requestFor(strings.TrimSuffix(folder+path.Dir(f.name), ".")+"/"+s.RandomLetters(10)+path.Ext(f.name),
		method)
	beside.Path = path.Clean(beside.Path)
	if strings.HasSuffix(f.name, "/") {
		beside.Path += "/"
	}
	control, err := s.send(beside)
	if err != nil || f.matchesFile(control, f.sign) {
		return err
	}
	s.RaiseAlert(activescan.Alert{Rule: f.rule, Request: r, Location: r.Path, Responses: append(answers, control),
		ResponseNotes: append(notes, "a random name beside it"), Anonymous: true, Message: "The server responds to " +
			r.Path +
			" with " + f.what + ".",
		Proof: []string{r.Path + " returns the content of such a file.", "A random name beside it is not."}})
	return nil
}

// values matches lines of settings and passwords; evidence keeps the name and hides the value.
var values = lazyregexp.New(`(?m)^((?:export )?[A-Za-z][A-Za-z0-9_]*\s*=|[\w.@-]{1,60}:).*$`)

// redactedResponse is the answer with as much of the body as the sign needs, without values.
func redactedResponse(resp *message.Response, f *file) *message.Response {
	body := f.sign.FindString(string(resp.Body))
	if body == "" {
		body = string(resp.Body)
	}
	if f.rule == settings {
		body = values.ReplaceAllString(body, "${1}"+finding.Redacted)
	}
	body = body[:min(len(body), 300)]
	return &message.Response{Request: resp.Request, Status: resp.Status, Proto: resp.Proto, Header: resp.Header,
		Body: []byte(body), Took: resp.Took, Sent: resp.Sent}
}

// probeDirectoryListing requests the folder itself, if no operation is there: checks that only
// inspect responses report a listing of its files.
func (s *search) probeDirectoryListing(folder string) error {
	for _, e := range s.Sitemap.Entries() {
		if e.Request.Path == folder {
			return nil
		}
	}
	r := s.requestFor(folder, http.MethodGet)
	if s.Scope.Allows(r) != nil || sitemap.IsDangerous(r.Address()) {
		return nil
	}
	resp, err := s.send(r)
	if err == nil && resp.Status == http.StatusOK {
		s.InspectResponse(s.Context, resp)
	}
	return err
}

// program are extensions of files that a server runs.
var program = lazyregexp.New(`(?i)\.(?:php|php5|phtml|jsp|jspx|asp|aspx|cgi|pl)$`)

// source is the beginning of a program that should have been run.
var source = lazyregexp.New(`^\s*(?:<!--[\s\S]{0,900}?-->\s*)?(?:<\?php\b|<\?=|<%[@!=]?\s|#!/\S*perl)|^b0VIM `)

// probeBackups asks for copies that editors and people leave beside programs.
func (s *search) probeBackups() error {
	asked := 0
	for _, e := range s.Sitemap.Entries() {
		at := e.Request.Path
		if asked == maxCopies {
			break
		}
		if e.Request.Base() != s.Request.Base() || !program.MatchString(at) || !s.FirstTime("forgotten copies "+at) {
			continue
		}
		asked++
		folder, name := path.Split(at)
		for _, other := range []string{name + ".bak", name + "~", name + ".old", "." + name + ".swp"} {
			if err := s.probeFile(folder, &file{name: other, what: "a copy of a program", rule: copies,
				sign: source}); err != nil {
				return err
			}
		}
	}
	return nil
}
