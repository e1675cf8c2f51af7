package credentials

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// holders are files with a place for a secret, %s.
var holders = map[string]string{
	".netrc":                 "machine h.corp.net login joe password %s\n",
	".pgpass":                "h.corp.net:5432:db:joe:%s\n",
	".env":                   "A=1\nDB_PASSWORD=%s\n",
	"wp-config.php":          "<?php\ndefine('DB_PASSWORD', '%s');\n",
	"config.php":             "<?php\n$dbpass = \"%s\";\n",
	".npmrc":                 "//r.corp.net/:_authToken=%s\n",
	".docker/config.json":    `{"auths":{"r.corp.net":{"auth":"%s"}}}`,
	"sitemanager.xml":        "<S><Server><Host>h</Host><Pass>%s</Pass></Server></S>\n",
	"config/database.yml":    "production:\n  host: db\n  password: %s\n",
	"deploy.json":            "{\"host\": \"h.corp.net\",\n \"password\": \"%s\"}",
	"application.properties": "mail.password=%s\n",
	"web.config":             `<c><add key="MailPassword" value="%s"/></c>`,
	".bash_history":          "ls\nmysql -u joe -p%s -h db\n",
	"dump.sql":               "INSERT INTO users (id, password) VALUES (1, '%s');\n",
	"notes.txt":              "use postgres://joe:%s@db.corp.net/x\n",
	"main.go":                "dsn := \"joe:%s@tcp(db.corp.net:3306)/x\"\n",
	".kube/config":           "clusters: []\nusers:\n- name: joe\n  user:\n    token: %s\n",
	"x.tfstate":              `{"resources":[{"attributes":{"password":"%s"}}]}`,
	"passwords.csv":          "url,username,password\nh,joe,%s\n",
}

// Whatever the secret is and in whatever file it stands, nothing of it is in what
// leaves the process, and it is found.
func TestNothingLeaves(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 15 {
		dir := t.TempDir()
		secrets := map[string]string{}
		for name, text := range holders {
			secret := ""
			for range 12 + r.IntN(30) {
				secret += string("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"[r.IntN(56)])
			}
			secret += "7x"
			secrets[name] = secret
			at := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			text = fmt.Sprintf(text, secret)
			if round%2 == 1 {
				text += "# once more: " + secret + "\n"
			}
			if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		k := &keep{}
		if err := scan.Run(context.Background(), scan.Options{Root: dir, Analyzers: []*scan.Analyzer{Analyzer}},
			scan.Tee(k, scan.Encode(&b))); err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, f := range k.findings {
			found[f.Location.Path] = true
		}
		for name, secret := range secrets {
			if !found[name] {
				t.Errorf("%s: %s is not found", name, secret)
			}
			for at := 5; at+6 <= len(secret); at++ {
				if strings.Contains(b.String(), secret[at:at+6]) {
					t.Errorf("%s: the stream holds %q of %s", name, secret[at:at+6], secret)
					break
				}
			}
		}
	}
}

// refusing counts requests and answers none.
type refusing struct{ asked int }

func (r *refusing) RoundTrip(*http.Request) (*http.Response, error) {
	r.asked++
	return nil, errors.New("no analyzer makes a request")
}

// asked keeps what it was asked.
type asked []string

func (a *asked) Verify(_ context.Context, ruleID, value string) finding.Validity {
	*a = append(*a, ruleID+" "+value)
	return finding.Valid
}

// Nobody is asked about a credential unless the scan has somebody to ask.
func TestNobodyIsAsked(t *testing.T) {
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	net := &refusing{}
	http.DefaultTransport = net
	findings, _ := scanText(t, "x.py", "a = '"+github+"'\nb = '"+stripe+"'\n")
	if len(findings) != 2 || net.asked != 0 || findings[0].Secret.Validity != "" {
		t.Errorf("%d findings, %d requests, validity %q", len(findings), net.asked, findings[0].Secret.Validity)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.py"), []byte("a = '"+github+"'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var who asked
	k := &keep{}
	if err := scan.Run(context.Background(), scan.Options{Root: dir, Analyzers: []*scan.Analyzer{Analyzer},
		Verify: &who}, k); err != nil {
		t.Fatal(err)
	}
	if len(who) != 1 || who[0] != "secrets/credentials/github-pat "+github ||
		k.findings[0].Secret.Validity != finding.Valid {
		t.Errorf("asked %q, validity %q", who, k.findings[0].Secret.Validity)
	}
}
