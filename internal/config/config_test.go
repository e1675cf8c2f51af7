package config

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"merlon/internal/errs"
)

// wantInvalid checks that the error is Invalid and names the setting.
func wantInvalid(t *testing.T, name string, err error, setting string) {
	t.Helper()
	switch {
	case setting == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case setting != "" && (!errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), setting)):
		t.Errorf("%s: got %v, want an invalid %s", name, err, setting)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Server)
		want   string
	}{
		{"the defaults", func(*Server) {}, ""},
		{"a certificate alone", func(s *Server) { s.TLSCert = "c.pem" }, "tls-key"},
		{"a key alone", func(s *Server) { s.TLSKey = "k.pem" }, "tls-cert"},
		{"both", func(s *Server) { s.TLSCert, s.TLSKey = "c.pem", "k.pem" }, ""},
		{"a short token", func(s *Server) { s.TokenLifetime = 59 * time.Second }, "token-lifetime"},
		{"a short token of the command line", func(s *Server) { s.CLITokenLifetime = time.Second }, "cli-token-lifetime"},
		{"no updates", func(s *Server) { s.AdvisoriesInterval = 0 }, ""},
		{"hasty updates", func(s *Server) { s.AdvisoriesInterval = time.Second }, "advisories-interval"},
		{"updates before now", func(s *Server) { s.AdvisoriesInterval = -time.Hour }, "advisories-interval"},
		{"no connections", func(s *Server) { s.MaxConnections = -1 }, "max-connections"},
		{"no connections of a client", func(s *Server) { s.MaxClientConnections = -1 }, "max-client-connections"},
		{"a public URL", func(s *Server) { s.BaseURL = "https://merlon.example.org/app" }, ""},
		{"a base URL without a scheme", func(s *Server) { s.BaseURL = "merlon.example.org" }, "base-url"},
		{"a base URL with a query", func(s *Server) { s.BaseURL = "https://merlon.example.org/?a=b" }, "base-url"},
		{"another scheme", func(s *Server) { s.AuthURL = "ftp://merlon.example.org" }, "auth-url"},
		{"a proxy by name", func(s *Server) { s.TrustedProxy = []string{"proxy.example.org"} }, "trusted-proxy"},
		{"an incomplete region", func(s *Server) { s.PeerRegion = []string{"eu,https://eu.example.org"} }, "peer-region"},
	} {
		s := Server{TokenLifetime: time.Minute, CLITokenLifetime: time.Hour, Advisories: Advisories{AdvisoriesInterval: time.Hour}}
		c.change(&s)
		wantInvalid(t, c.name, s.Validate(), c.want)
	}
}

func TestPeerRegions(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"another region", "eu,https://api.eu.example.org/,https://auth.eu.example.org", ""},
		{"this region", "us,https://api.example.org,https://auth.example.org", "the name of this region"},
		{"a base URL that is none", "eu,api.eu.example.org,https://auth.eu.example.org", "peer-region"},
		{"an identity URL that is none", "eu,https://api.eu.example.org,auth", "peer-region"},
		{"too many parts", "eu,https://a.example,https://b.example,x", "expected NAME,BASE_URL,AUTH_URL"},
	} {
		s := Server{Store: Store{Region: "us"}, PeerRegion: []string{c.text}}
		got, err := s.PeerRegions()
		wantInvalid(t, c.name, err, c.want)
		if want := (PeerRegion{"eu", "https://api.eu.example.org", "https://auth.eu.example.org"}); c.want == "" &&
			!slices.Equal(got, []PeerRegion{want}) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	at := func(text string) net.Addr {
		a, err := net.ResolveTCPAddr("tcp", text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, c := range []struct {
		s          Server
		listen     string
		base, auth string
	}{
		{Server{}, "127.0.0.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080"},
		{Server{}, "0.0.0.0:8080", "http://localhost:8080", "http://localhost:8080"},
		{Server{TLSCert: "c.pem"}, "[::]:443", "https://localhost:443", "https://localhost:443"},
		{Server{BaseURL: "https://m.example/"}, "127.0.0.1:1", "https://m.example", "https://m.example"},
		{Server{BaseURL: "https://m.example", AuthURL: "https://id.example//"}, "127.0.0.1:1", "https://m.example",
			"https://id.example"},
	} {
		if base, auth := c.s.Addresses(at(c.listen)); base != c.base || auth != c.auth {
			t.Errorf("%s: got %s and %s, want %s and %s", c.listen, base, auth, c.base, c.auth)
		}
	}
}

// Secrets in files are read without the line end that editors add.
func TestSecretFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	url := file("url", "postgres://db/merlon\n")
	if got, err := (Store{DatabaseURLFile: url}).URL(); err != nil || got != "postgres://db/merlon" {
		t.Errorf("database URL: got %q, %v", got, err)
	}
	if _, err := (Store{DatabaseURL: "postgres://x", DatabaseURLFile: url}).URL(); !errs.Is(err, errs.Invalid) {
		t.Errorf("two database URLs: got %v", err)
	}
	if _, err := (Store{DatabaseURLFile: filepath.Join(dir, "none")}).URL(); err == nil {
		t.Error("a missing file gives a database URL")
	}
	for _, c := range []struct {
		name string
		r    Registries
		want string
	}{
		{"none", Registries{}, ""},
		{"all", Registries{AWSPrincipalARN: "arn", AWSAccessKeyID: "AKIA", AWSSecretKeyFile: file("key", "s3cret\n")}, ""},
		{"one", Registries{AWSAccessKeyID: "AKIA"}, "belong together"},
		{"a missing file", Registries{AWSPrincipalARN: "arn", AWSAccessKeyID: "AKIA",
			AWSSecretKeyFile: filepath.Join(dir, "none")}, "aws-secret-key-file"},
		{"an empty file", Registries{AWSPrincipalARN: "arn", AWSAccessKeyID: "AKIA", AWSSecretKeyFile: file("empty", "\n")},
			"is empty"},
	} {
		id, secret, err := c.r.AWSKey()
		wantInvalid(t, c.name, err, c.want)
		if c.name == "all" && (id != "AKIA" || secret != "s3cret") {
			t.Errorf("%s: got %q, %q", c.name, id, secret)
		}
	}
}

func TestProxies(t *testing.T) {
	got, err := Server{TrustedProxy: []string{"10.0.0.0/8", "fd00::/8"}}.Proxies()
	if err != nil || len(got) != 2 || got[1].Bits() != 8 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestUpdates(t *testing.T) {
	for _, c := range []struct {
		a    Advisories
		want bool
	}{
		{Advisories{}, false},
		{Advisories{AdvisoriesInterval: time.Hour}, false},
		{Advisories{AdvisoriesInterval: time.Hour, AdvisoriesMirror: "https://osv.example"}, true},
		{Advisories{AdvisoriesInterval: time.Hour, AdvisoriesKEV: "https://kev.example"}, true},
		{Advisories{AdvisoriesInterval: time.Hour, AdvisoriesLicenses: "https://licences.example/all.csv.gz"}, true},
		{Advisories{AdvisoriesMirror: "https://osv.example"}, false},
	} {
		if got := c.a.Updates(); got != c.want {
			t.Errorf("%+v: got %v", c.a, got)
		}
	}
}
