package vulnerablejs

import (
	"net/url"
	"strings"

	"merlon/internal/lazyregexp"
)

// This file reads who a library is: by what its makers write into it, and by addresses of
// delivery networks.

// A mark is what a library writes of itself.
type mark struct {
	name string // of npm
	// word stands in every copy; version is looked for from there, in the next reach
	// characters, and has the version as its group.
	word    string
	reach   int
	version *lazyregexp.Regexp
}

const near = 120

// marks are of banners, which makers ask not to remove and minifiers keep, and of what is
// in the program where there is no banner.
var marks = []mark{
	{"jquery", "jQuery", near, lazyregexp.New(`^jQuery (?:JavaScript Library )?v(\d+\.\d+(?:\.\d+)?)\b`)},
	{"jquery-ui", "jQuery UI", near, lazyregexp.New(`^jQuery UI (?:- )?v?(\d+\.\d+\.\d+)\b`)},
	{"jquery-validation", "jQuery Validation Plugin", near,
		lazyregexp.New(`^jQuery Validation Plugin (?:- )?v(\d+\.\d+\.\d+)\b`)},
	{"bootstrap", "Bootstrap", near, lazyregexp.New(`^Bootstrap(?:: [\w-]+\.js| [\w-]+\.js|\.js)? v(\d+\.\d+\.\d+)\b`)},
	{"angular", "AngularJS v1", near, lazyregexp.New(`^AngularJS v(\d+\.\d+\.\d+)\b`)},
	{"@angular/core", "@license Angular v", near, lazyregexp.New(`^@license Angular v(\d+\.\d+\.\d+)\b`)},
	{"lodash", "lodash ", near, lazyregexp.New(`^lodash (\d+\.\d+\.\d+) `)},
	{"lodash", "Lodash <https://lodash.com/>", 1 << 20, lazyregexp.New(`VERSION\s*=\s*["'](4\.\d+\.\d+)["']`)},
	{"lodash", "Lodash lodash.com/license", 1 << 20, lazyregexp.New(`VERSION\s*=\s*["'](4\.\d+\.\d+)["']`)},
	{"underscore", "Underscore.js ", near, lazyregexp.New(`^Underscore\.js (\d+\.\d+\.\d+)\b`)},
	{"backbone", "Backbone.js ", near, lazyregexp.New(`^Backbone\.js (\d+\.\d+\.\d+)\b`)},
	{"moment", "//! moment.js", near, lazyregexp.New(`^//! moment\.js\s+//! version : (\d+\.\d+\.\d+)`)},
	{"handlebars", "handlebars v", near, lazyregexp.New(`^handlebars v(\d+\.\d+\.\d+)\b`)},
	{"vue", "Vue.js v", near, lazyregexp.New(`^Vue\.js v(\d+\.\d+\.\d+)\b`)},
	{"react-dom", "@license React v", near, lazyregexp.New(`^@license React v(\d+\.\d+\.\d+)\s+\*\s+react-dom\.`)},
	{"dompurify", "DOMPurify ", near, lazyregexp.New(`^DOMPurify (\d+\.\d+\.\d+)\b`)},
	{"knockout", "Knockout JavaScript library v", near,
		lazyregexp.New(`^Knockout JavaScript library v(\d+\.\d+\.\d+)\b`)},
	{"tinymce", "TinyMCE", near, lazyregexp.New(`^TinyMCE (?:version )?(\d+\.\d+\.\d+)\b`)},
	{"axios", "axios v", near, lazyregexp.New(`^axios v(\d+\.\d+\.\d+) \|`)},
	{"marked", "marked v", near, lazyregexp.New(`^marked v(\d+\.\d+\.\d+) - a markdown parser`)},
	{"select2", "Select2 ", near, lazyregexp.New(`^Select2 (\d+\.\d+\.\d+)\b`)},
	{"datatables.net", "DataTables ", near, lazyregexp.New(`^DataTables (\d+\.\d+\.\d+)\b`)},
	{"chart.js", "Chart.js", near,
		lazyregexp.New(`^Chart\.js(?: v|\s+\*? ?https?://\S+\s+\*? ?Version: )(\d+\.\d+\.\d+)\b`)},
	{"plotly.js", "plotly.js", near, lazyregexp.New(`^plotly\.js (?:\([\w -]+\) )?v(\d+\.\d+\.\d+)\b`)},
	{"video.js", "Video.js ", near, lazyregexp.New(`^Video\.js (\d+\.\d+\.\d+)\b`)},
	{"pdfjs-dist", "pdfjsVersion", near, lazyregexp.New(`^pdfjsVersion\s*=\s*["'](\d+\.\d+\.\d+)["']`)},
	{"jszip", "JSZip v", near, lazyregexp.New(`^JSZip v(\d+\.\d+\.\d+)\b`)},
	{"nunjucks", "Browser bundle of nunjucks ", near, lazyregexp.New(`^Browser bundle of nunjucks (\d+\.\d+\.\d+)\b`)},
	{"ua-parser-js", "UAParser.js v", near, lazyregexp.New(`^UAParser\.js v(\d+\.\d+\.\d+)\b`)},
	{"quill", "Quill Editor v", near, lazyregexp.New(`^Quill Editor v(\d+\.\d+\.\d+)\b`)},
	{"summernote", "Super simple ", near, lazyregexp.New(`(?i)^super simple wysiwyg editor v(\d+\.\d+\.\d+)\b`)},
	{"highlight.js", "Highlight.js", near, lazyregexp.New(`^Highlight\.js v?(\d+\.\d+\.\d+)\b`)},
}

const (
	maxCopies = 50  // of one script
	maxTries  = 200 // places of a word that are looked at
)

// readBanners reads what a script says of the libraries in it, each version once. Texts for
// people are no banner, and neither is what a comment says of another library.
func readBanners(text, how string) []copy {
	var out []copy
	seen := map[copy]bool{}
	for _, m := range marks {
		at := 0
		for range maxTries {
			i := strings.Index(text[at:], m.word)
			if i < 0 || len(out) == maxCopies {
				break
			}
			begin := at + i
			at = begin + len(m.word)
			found := m.version.FindStringSubmatch(text[begin:min(len(text), begin+m.reach)])
			if found == nil || m.name != "pdfjs-dist" && !beginsComment(text, begin) {
				continue
			}
			if c := (copy{m.name, found[1], how}); !seen[c] {
				seen[c] = true
				out = append(out, c)
			}
		}
	}
	return out
}

// beginsComment reports whether the place begins a line of a comment, or the comment: behind
// other words a library is only mentioned.
func beginsComment(text string, at int) bool {
	from := max(0, at-400)
	before := text[from:at]
	line := max(strings.LastIndexByte(before, '\n'), strings.LastIndex(before, "/*"), strings.LastIndex(before, "//"))
	if strings.Trim(strings.ReplaceAll(before[line+1:], "@license", ""), "/*!-=~ \t") != "" || line < 0 && from > 0 {
		return false
	}
	return strings.Contains(before[line+1:], "/") || strings.HasPrefix(text[at:], "//") ||
		strings.LastIndex(before, "/*") > strings.LastIndex(before, "*/")
}

var (
	// packages are addresses that name a package of npm: cdn.jsdelivr.net, unpkg.com.
	packages = lazyregexp.New(`^/(?:npm/)?((?:@[\w.-]+/)?[\w.-]+)@(\d+\.\d+\.\d+(?:-[\w.]+)?)(?:/|$)`)
	// shelves are those of networks with names of their own: cdnjs.cloudflare.com,
	// ajax.googleapis.com.
	shelves = lazyregexp.New(`^/ajax/libs/([\w.-]+)/(\d+\.\d+(?:\.\d+)?)/`)
	// plain are files of a network for one library.
	plain = lazyregexp.New(`^/(?:ui/|bootstrap/)?(?:jquery-)?(\d+\.\d+\.\d+)[/.]`)
)

// networks are hosts that are the packages' own mirrors.
var networks = map[string]bool{"cdn.jsdelivr.net": true, "fastly.jsdelivr.net": true, "unpkg.com": true}

// spelled are names of shelves that npm has other names for.
var spelled = map[string]string{
	"angular.js": "angular", "angularjs": "angular", "jqueryui": "jquery-ui", "moment.js": "moment",
	"lodash.js": "lodash", "underscore.js": "underscore",
	"handlebars.js": "handlebars", "twitter-bootstrap": "bootstrap", "jquery-validate": "jquery-validation",
	"backbone.js": "backbone", "datatables": "datatables.net", "pdf.js": "pdfjs-dist",
}

// readCDNAddress reads a library and its version from an address of a delivery network; both
// are empty when it names none, or no exact version.
func readCDNAddress(u *url.URL) (name, version string) {
	host := strings.ToLower(u.Hostname())
	switch {
	case networks[host]:
		if m := packages.FindStringSubmatch(u.Path); m != nil {
			return m[1], m[2]
		}
	case host == "cdnjs.cloudflare.com" || host == "ajax.googleapis.com":
		m := shelves.FindStringSubmatch(u.Path)
		if m == nil {
			break
		}
		name := strings.ToLower(m[1])
		if other, ok := spelled[name]; ok {
			name = other
		}
		return name, m[2]
	default:
		m := plain.FindStringSubmatch(u.Path)
		if m == nil {
			break
		}
		switch {
		case host == "code.jquery.com" && strings.HasPrefix(u.Path, "/ui/"):
			return "jquery-ui", m[1]
		case host == "code.jquery.com" && strings.HasPrefix(u.Path, "/jquery-"):
			return "jquery", m[1]
		case strings.HasSuffix(host, ".bootstrapcdn.com") && strings.HasPrefix(u.Path, "/bootstrap/"):
			return "bootstrap", m[1]
		case host == "code.angularjs.org":
			return "angular", m[1]
		}
	}
	return "", ""
}
