package vulnerablejs

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// data knows vulnerabilities of two versions.
type data struct{}

func (data) Knows(ecosystem string) bool { return ecosystem == "npm" }
func (data) Data() scan.AdvisoryData     { return scan.AdvisoryData{} }
func (data) Match(_ context.Context, _, name, version string) ([]scan.AdvisoryMatch, error) {
	switch name + "@" + version {
	case "jquery@3.4.1":
		return []scan.AdvisoryMatch{
			{Advisory: &finding.Advisory{ID: "CVE-2020-11022", Severity: finding.Medium, Summary: "Scripting"},
				Upgrade: "3.5.0", UpgradeAll: "3.5.0"},
			{Advisory: &finding.Advisory{ID: "CVE-0000-1", Severity: finding.High, Summary: "Worse"}, Upgrade: "3.5.0",
				UpgradeAll: "3.5.0"},
		}, nil
	case "lodash@4.17.4":
		return []scan.AdvisoryMatch{{Advisory: &finding.Advisory{ID: "CVE-2019-10744", Severity: finding.Critical}}},
			nil
	case "vue@0.0.0":
		return nil, errors.New("no such version")
	}
	return nil, nil
}

func TestCheck(t *testing.T) {
	mux := http.NewServeMux()
	page := func(path, kind, text string) string {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(text))
		})
		return "GET " + path
	}
	operations := []string{
		page("/bad/jquery.js", "text/javascript", "/*! jQuery v3.4.1 | (c) JS Foundation and other contributors "+
			"*/\n!function(){}()"),
		page("/bad/bundle.js", "application/javascript", "/**\n * @license\n * Lodash <https://lodash.com/>\n "+
			"*/\n;(function(){var n={};n.VERSION=\"4.17.4\"})()"),
		page("/bad/page", "text/html",
			`<p>hello</p><script src="https://cdn.jsdelivr.net/npm/jquery@3.4.1/dist/jquery.min.js"></script>`),
		page("/good/new.js", "text/javascript", "/*! jQuery v3.7.1 | (c) OpenJS Foundation */"),
		page("/good/other.js", "text/javascript", "/*! jQuery Migrate v3.4.1 | jQuery UI v3.4.1 */"),
		page("/good/text.js", "text/javascript", `var news = "jQuery v3.4.1 is out";`),
		page("/good/news", "text/html", `<h1>jQuery v3.4.1 is out</h1><script>show("jQuery v3.4.1")</script>`),
		page("/good/range", "text/html",
			`<script src="https://unpkg.com/jquery@3/dist/jquery.js"></script><script src="/jquery-3.4.1.js"></script>`),
		page("/good/unknown.js", "text/javascript", "/*! Vue.js v0.0.0 */"),
	}
	known := func(r *activescan.Engine) { r.Advisories, r.Target.Profile = data{}, scan.Passive }
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations, known)
	activescantest.Expect(t, got, "dast/libraries/vulnerable GET /bad/jquery.js", "dast/libraries/vulnerable GET "+
		"/bad/bundle.js", "dast/libraries/vulnerable GET /bad/page")
	for _, f := range got.Findings {
		if strings.Contains(f.Message, "jquery") && (f.Severity != finding.High ||
			!strings.Contains(f.Message, "CVE-0000-1, CVE-2020-11022; 3.5.0 clears")) {
			t.Errorf("%+v", f)
		}
	}
	if len(got.Reasons) != 1 || !strings.Contains(got.Reasons[0].Message, "no such version") {
		t.Errorf("reasons: %+v", got.Reasons)
	}
	got = activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations)
	if activescantest.Expect(t, got); len(got.Reasons) != 1 || got.Reasons[0].Code != "no-data" {
		t.Errorf("reasons without data: %+v", got.Reasons)
	}
}

func TestSaid(t *testing.T) {
	for text, want := range map[string]string{
		"/*!\n * jQuery JavaScript Library v1.12.4\n":                             "jquery@1.12.4",
		"/*! jQuery UI - v1.12.1 - 2016-09-14":                                    "jquery-ui@1.12.1",
		"/*!\n * Bootstrap v3.3.7 (http://getbootstrap.com)":                      "bootstrap@3.3.7",
		"/*!\n  * Bootstrap tooltip.js v4.3.1":                                    "bootstrap@4.3.1",
		"/* ====\n * Bootstrap: modal.js v3.3.7":                                  "bootstrap@3.3.7",
		"/*\n AngularJS v1.5.0\n":                                                 "angular@1.5.0",
		"/**\n * @license AngularJS v1.8.2":                                       "angular@1.8.2",
		"/**\n * @license Angular v12.0.0":                                        "@angular/core@12.0.0",
		"/**\n * @license\n * lodash 3.10.1 (Custom Build) <https://lodash.com/>": "lodash@3.10.1",
		"//     Underscore.js 1.8.3\n":                                            "underscore@1.8.3",
		"//! moment.js\n//! version : 2.22.2\n":                                   "moment@2.22.2",
		"/**!\n\n @license\n handlebars v4.7.6\n":                                 "handlebars@4.7.6",
		"/*!\n * Vue.js v2.6.10":                                                  "vue@2.6.10",
		"/** @license React v16.4.0\n * react-dom.production.min.js":              "react-dom@16.4.0",
		"/** @license React v16.4.0\n * react.production.min.js":                  "",
		"/*! @license DOMPurify 2.3.1 |":                                          "dompurify@2.3.1",
		"/* axios v0.19.0 | (c) 2019":                                             "axios@0.19.0",
		"/*! Select2 4.0.3 | https":                                               "select2@4.0.3",
		"/*!\n * Chart.js\n * http://chartjs.org/\n * Version: 2.7.1\n":           "chart.js@2.7.1",
		"/*!\n * Chart.js v2.9.3":                                                 "chart.js@2.9.3",
		"var pdfjsVersion = '2.0.943';":                                           "pdfjs-dist@2.0.943",
		"/*! Browser bundle of nunjucks 3.0.1  */":                                "nunjucks@3.0.1",
		"/*! jQuery v3.4.1 */ /*! jQuery v3.4.1 */ /*! Knockout JavaScript " +
			"library v3.4.2": "jquery@3.4.1 knockout@3.4.2",
		"throw 'Bootstrap v4.0.0'":                                     "",
		"/*!\n * @requires jQuery v1.3.2 */":                           "",
		"/* works with jQuery v1.4.3\n * Based on Underscore.js 1.8.3": "",
		"f();/*! jQuery v3.4.1 */":                                     "jquery@3.4.1",
		"/**\n * @license\n * Lodash lodash.com/license | Underscore.js 1.8.3 underscorejs.org/LICENSE\n " +
			"*/\n;(function(){n.VERSION=\"4.17.21\"": "lodash@4.17.21",
	} {
		var got []string
		for _, c := range readBanners(text, "") {
			got = append(got, c.name+"@"+c.version)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestDelivered(t *testing.T) {
	for address, want := range map[string]string{
		"https://code.jquery.com/jquery-1.12.4.min.js":                          "jquery@1.12.4",
		"https://code.jquery.com/ui/1.11.4/jquery-ui.js":                        "jquery-ui@1.11.4",
		"https://cdnjs.cloudflare.com/ajax/libs/moment.js/2.18.1/moment.min.js": "moment@2.18.1",
		"https://ajax.googleapis.com/ajax/libs/angularjs/1.5.8/angular.min.js":  "angular@1.5.8",
		"https://maxcdn.bootstrapcdn.com/bootstrap/3.3.6/js/bootstrap.min.js":   "bootstrap@3.3.6",
		"https://code.angularjs.org/1.2.0/angular.js":                           "angular@1.2.0",
		"https://unpkg.com/@angular/core@12.0.0/bundles/core.umd.js":            "@angular/core@12.0.0",
		"https://cdn.jsdelivr.net/npm/vue@2":                                    "@",
		"https://example.org/jquery-1.12.4.min.js":                              "@",
		"https://cdn.jsdelivr.net/gh/jquery/jquery@3.4.1/dist/jquery.min.js":    "@",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if name, version := readCDNAddress(u); name+"@"+version != want {
			t.Errorf("%s: %s@%s, want %s", address, name, version, want)
		}
	}
}

func FuzzSaid(f *testing.F) {
	f.Add("/*! jQuery v3.4.1 |")
	f.Fuzz(func(_ *testing.T, text string) { readBanners(text, "") })
}
