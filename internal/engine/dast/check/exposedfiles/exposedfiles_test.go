package exposedfiles

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

// vulnerable serves what should not be served; anything else is missing.
var vulnerable = map[string]string{
	"/.git/HEAD":                "ref: refs/heads/main\n",
	"/.git/config":              "[core]\n\tbare = false\n",
	"/shop/.env":                "# settings\nDB_HOST=db\nDB_PASSWORD=hunter2\n",
	"/.htpasswd":                "admin:$apr1$abcd$0123456789abcdefghijkl\n",
	"/backup.sql":               "-- MySQL dump 10.13\n",
	"/info.php":                 "<html><head><title>PHP 8.2.1 - phpinfo()</title></head></html>",
	"/metrics":                  "# HELP requests Requests.\n# TYPE requests counter\nrequests{code=\"200\"} 12\n",
	"/shop/index.php.bak":       "<?php $password = 'x'; ?>",
	"/debug/pprof/":             "<html>Types of profiles available:</html>",
	"/shop/index.php":           "<html>shop</html>",
	"/console":                  "<script>CONSOLE_MODE = true</script>", // not the technology
	"/shop/.git/HEAD":           "ref: refs/heads/main\n",               // without its other file
	"/.svn/wc.db":               "<html>not a database</html>",
	"/actuator/heapdump":        "memory",
	"/shop/other/deep/page.php": "x",
}

func serve(w http.ResponseWriter, r *http.Request) {
	text, ok := vulnerable[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("X-Powered-By", "PHP/8.2")
	fmt.Fprint(w, text)
}

func TestForgotten(t *testing.T) {
	operations := []string{"GET /shop/index.php", "GET /shop/other/deep/page.php"}
	got := activescantest.Attack(t, http.HandlerFunc(serve), []*activescan.Rule{Rule}, operations)
	activescantest.Expect(t, got, "dast/forgotten/repository GET /.git/HEAD", "dast/forgotten/settings GET "+
		"/shop/.env", "dast/forgotten/settings GET /.htpasswd",
		"dast/forgotten/copy GET /backup.sql", "dast/forgotten/status GET /info.php", "dast/forgotten/status GET "+
			"/metrics", "dast/forgotten/copy GET /shop/index.php.bak",
		"dast/forgotten/console GET /debug/pprof/")
	for _, f := range got.Findings {
		for _, e := range f.Live.Exchanges {
			if strings.Contains(e.Response, "hunter2") || strings.Contains(e.Response, "0123456789abcdefghijkl") {
				t.Errorf("a secret is shown: %s", e.Response)
			}
		}
	}
	if got.Requests > 75 {
		t.Errorf("%d requests", got.Requests)
	}
}

func TestServersThatAnswerEverything(t *testing.T) {
	for name, page := range map[string]string{
		"one page": "<html><title>phpinfo()</title>shop</html>",
		"an echo of signs": "-- MySQL dump\n# HELP a b\na 1\nTypes of profiles available:\n<h1>Apache Server " +
			"Status for x",
		"settings": "A=1\nB=2\n",
	} {
		got := activescantest.Attack(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, page)
		}), []*activescan.Rule{Rule}, []string{"GET /a/index.php"})
		if len(got.Findings) > 0 {
			t.Errorf("%s: %v", name, activescantest.Line(got.Findings[0]))
		}
	}
}
