package infodisclosure

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

func TestCheck(t *testing.T) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	secret := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	const (
		java   = "<pre>java.lang.NullPointerException: x\n\tat org.shop.Cart.total(Cart.java:31)\n</pre>"
		python = "Traceback (most recent call last):\n  File \"/srv/app.py\", line 3, in view\nKeyError: 'x'"
		node   = "<pre>TypeError: x is not a function<br> &nbsp; &nbsp;at /srv/app/routes.js:7:12</pre>"
		golang = "panic: x\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:9 +0x1d"
		php    = "<br />\n<b>Warning</b>:  Undefined variable $x in <b>/var/www/a.php</b> on line <b>3</b><br />"
		index  = "<html><head><title>Index of /files</title></head><body><h1>Index of /files</h1><pre><a " +
			"href=\"?C=N;O=D\">Name</a></pre>"
	)
	for name, c := range map[string]struct {
		status           int
		media, body, key string
	}{
		"java":           {500, "text/html", java, "error-details"},
		"python":         {500, "text/plain", python, "error-details"},
		"node":           {500, "text/html", node, "error-details"},
		"go":             {500, "text/plain", golang, "error-details"},
		"php":            {200, "text/html", php, "error-details"},
		"key":            {200, "text/plain", secret, "private-key"},
		"list":           {200, "text/html", index, "directory-listing"},
		"source":         {200, "text/plain", "<?php\n$db = connect('x');\n", "source-code"},
		"saved":          {200, "text/plain; saved", "<?php\n$db = connect('x');\n", ""},
		"page of errors": {200, "text/html", java + python + node + golang, ""},
		"plain error":    {500, "text/html", "<h1>Internal Server Error</h1><p>Error: it did not work at all", ""},
		"encoded source": {200, "text/html", "<pre>&lt;?php $a = 1; ?&gt;</pre>", ""},
		"in script":      {200, "text/html", "<script>var s = \"<?php $a = 1; ?>\";</script>", ""},
		"xml":            {200, "text/html", "<?xml version=\"1.0\"?><html><p>text", ""},
		"example of key": {200, "text/plain", "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("A", 80) +
			"\n-----END PRIVATE KEY-----", ""},
		"other index": {200, "text/html", "<title>Index of names</title><a href=\"../\">up</a>", ""},
		"missing":     {404, "text/html", index, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				media, _, saved := strings.Cut(c.media, "; saved")
				w.Header().Set("Content-Type", media)
				if saved {
					w.Header().Set("Content-Disposition", "attachment; filename=example.php")
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			got := activescantest.Attack(t, h, []*activescan.Rule{Rule}, []string{"GET /files/"},
				activescantest.Profile(scan.Passive))
			var want []string
			if c.key != "" {
				place := "/files/"
				if c.key == "error-details" {
					place = "/" // of the application
				}
				want = append(want, "dast/leaks/"+c.key+" GET "+place)
			}
			activescantest.Expect(t, got, want...)
			if c.key == "private-key" &&
				(len(got.Findings) == 0 || !strings.Contains(got.Findings[0].Live.Exchanges[0].Response,
					finding.Redacted) ||
					strings.Contains(got.Findings[0].Live.Exchanges[0].Response, "BEGIN PRIVATE")) {
				t.Error("the evidence holds the key")
			}
			if got.Requests != 1 {
				t.Errorf("%d requests: the check must send none", got.Requests)
			}
		})
	}
}

// TestListing tells of a folder once, whichever of those in it were seen.
func TestListing(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>Index of " + r.URL.Path + "</title><a href=\"../\">Parent Directory</a>"))
	})
	got := activescantest.Attack(t, h, []*activescan.Rule{Rule},
		[]string{"GET /files/", "GET /files/old/", "GET /files/old/2019/", "GET /filesystem/", "GET /backup/a/",
			"GET /backup/b/"}, activescantest.Profile(scan.Passive))
	var places []string
	for _, f := range got.Findings {
		places = append(places, f.RuleID+" "+f.Location.Path[strings.IndexByte(f.Location.Path, '/'):])
	}
	slices.Sort(places)
	if want := []string{"dast/leaks/directory-listing /backup", "dast/leaks/directory-listing /files",
		"dast/leaks/directory-listing /filesystem"}; !slices.Equal(places, want) {
		t.Errorf("got %q, want %q", places, want)
	}
}
