package blindinjection

import (
	"path"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// signs are what answers tell of the language that an application is written in: in the
// headers Server and X-Powered-By and in names of cookies, and by the ending of paths.
var signs = []struct {
	language string
	header   *lazyregexp.Regexp
	endings  string
}{
	{"php", lazyregexp.New(`(?i)\bPHP|^(?:laravel_session|ci_session|symfony)$`), ".php .phtml"},
	{"python", lazyregexp.New(`(?i)Werkzeug|gunicorn|uvicorn|hypercorn|waitress|Python|WSGI|TornadoServer|CherryPy|Django`), ".py"},
	{"node", lazyregexp.New(`(?i)Express|Next\.js|Nuxt|Sails|^connect\.sid$|^koa[.:]sess`), ".njs"},
	{"ruby", lazyregexp.New(`(?i)Phusion|WEBrick|\bthin\b|Puma|Unicorn/|Ruby`), ".rb .erb"},
	{"java", lazyregexp.New(`(?i)Tomcat|Coyote|Jetty|Undertow|GlassFish|JBoss|WildFly|WebLogic|WebSphere|Resin|Servlet|JSF|JSP|^JSESSIONID$`), ".jsp .jspx .do .action .jsf .faces"},
	{"perl", lazyregexp.New(`(?i)Mojolicious|Starman|mod_perl|Perl`), ".pl .cgi"},
	{"dotnet", lazyregexp.New(`(?i)ASP\.NET|Kestrel|^\.AspNet|ARRAffinity`), ".aspx .ashx .asmx .cshtml"},
}

// recordLanguages notes the languages that an answer tells of.
func recordLanguages(t *activescan.OperationScan, resp *message.Response) {
	texts := []string{resp.Header.Get("Server"), resp.Header.Get("X-Powered-By")}
	for _, line := range resp.Header.Values("Set-Cookie") {
		name, _, _ := strings.Cut(line, "=")
		texts = append(texts, name)
	}
	ending := path.Ext(resp.Request.Path)
	for _, s := range signs {
		told := ending != "" && strings.Contains(" "+s.endings+" ", " "+strings.ToLower(ending)+" ")
		for _, text := range texts {
			told = told || text != "" && s.header.MatchString(text)
		}
		if told {
			t.RecordFact("language " + s.language)
		}
	}
}

// targetLanguages returns the languages that the target has told of; none: it may be any.
func targetLanguages(t *activescan.OperationScan) map[string]bool {
	out := map[string]bool{}
	for _, s := range signs {
		if t.HasFact("language " + s.language) {
			out[s.language] = true
		}
	}
	return out
}
