package tls

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// found runs the check against an address, and returns the rules in order.
func found(t *testing.T, address string, pages ...*message.Response) []string {
	t.Helper()
	target := &scan.Target{URL: address, Profile: scan.Safe}
	scope, err := sitemap.NewScope(target)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	var dialer net.Dialer
	client := traffic.New(traffic.Options{Scope: scope, Dial: dialer.DialContext, ID: "test", Rate: 1e6})
	defer client.Close()
	run := &activescan.Engine{Client: client, Sitemap: sitemap.New(10), Target: target, Scope: scope,
		Rules: []*activescan.Rule{Rule}, Seed: 1,
		ReportFinding: func(r *finding.Rule, _ finding.Finding) { out = append(out, r.ID) },
		ReportGap:     func(r scan.Reason) { t.Errorf("degraded: %s", r.Message) }}
	for _, p := range pages {
		run.InspectResponse(t.Context(), p)
	}
	if len(pages) == 0 {
		base, err := message.FromURL(scope.Base())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Send(t.Context(), base, nil); err != nil { // what a scan begins with
			t.Fatal(err)
		}
		if err := run.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(out)
	return out
}

func TestHandshakes(t *testing.T) {
	start := func(config *tls.Config) string {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "hello")
		}))
		s.TLS, s.Config.ErrorLog = config, log.New(io.Discard, "", 0)
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL
	}
	old := start(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS12,
		CipherSuites: append(suitesNamed("_3DES_"), tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_RSA_WITH_AES_128_CBC_SHA)})
	if got := found(t, old); !slices.Equal(got, []string{"dast/tls/certificate", "dast/tls/old-version",
		"dast/tls/weak-cipher"}) {
		t.Errorf("found %v", got)
	}
	// A server that knows nothing newer is reached all the same.
	if got := found(t, start(&tls.Config{MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12,
		CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}})); !slices.Equal(got,
		[]string{"dast/tls/certificate"}) {
		t.Errorf("found %v", got)
	}
	// The certificate of the test comes from nobody who is known.
	if got := found(t, start(&tls.Config{MinVersion: tls.VersionTLS12})); !slices.Equal(got,
		[]string{"dast/tls/certificate"}) {
		t.Errorf("found %v", got)
	}
}

func TestDistrust(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	leaf := s.Certificate()
	for _, c := range []struct {
		host, want string
		at         time.Time
	}{
		{"example.com", "is over since " + leaf.NotAfter.UTC().Format(time.DateOnly), leaf.NotAfter.Add(time.Hour)},
		{"example.com", "is not valid before " + leaf.NotBefore.UTC().Format(time.DateOnly),
			leaf.NotBefore.Add(-time.Hour)},
		{"other.example", "is for another name", time.Now()},
	} {
		if got := distrustReason([]*x509.Certificate{leaf}, nil, c.host, c.at); got != c.want {
			t.Errorf("%s: %q, want %q", c.host, got, c.want)
		}
	}
}

// An issuer signs certificates in the test.
type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// sign makes a certificate of the template; a nil issuer signs it with its own key.
func (i *issuer) sign(t *testing.T, c *x509.Certificate) *issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.NotBefore, c.NotAfter, c.BasicConstraintsValid = big.NewInt(1), time.Now().Add(-time.Hour),
		time.Now().Add(time.Hour), true
	by := &issuer{c, key}
	if i != nil {
		by = i
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by.cert, &key.PublicKey, by.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &issuer{cert, key}
}

func TestChains(t *testing.T) {
	var nobody *issuer
	name := func(s string) *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{CommonName: s}, DNSNames: []string{"a.example"}}
	}
	authority := func(s string) *x509.Certificate {
		c := name(s)
		c.IsCA, c.KeyUsage, c.DNSNames = true, x509.KeyUsageCertSign, nil
		return c
	}
	root := nobody.sign(t, authority("root"))
	between := root.sign(t, authority("between"))
	leaf := between.sign(t, name("leaf"))
	client := name("client")
	client.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	known := x509.NewCertPool()
	known.AddCert(root.cert)
	for _, c := range []struct {
		name  string
		chain []*issuer
		want  string
	}{
		{"whole", []*issuer{leaf, between}, ""},
		{"of the root", []*issuer{root.sign(t, name("direct"))}, ""},
		{"incomplete", []*issuer{leaf}, "comes from an authority that is not known here, and the server sends no " +
			"certificate that leads to one that is"},
		{"of somebody else", []*issuer{nobody.sign(t, authority("other")).sign(t, name("leaf")), between},
			"comes from an authority that is not known here"},
		{"of itself", []*issuer{nobody.sign(t, name("self"))}, "is self-signed"},
		{"for clients", []*issuer{root.sign(t, client)}, "is refused: certificate specifies an incompatible key usage"},
		{"of no authority", []*issuer{leaf.sign(t, name("forged")), leaf, between}, "comes from an authority that is " +
			"not known here"},
	} {
		var chain []*x509.Certificate
		for _, i := range c.chain {
			chain = append(chain, i.cert)
		}
		if got := distrustReason(chain, known, "a.example", time.Now()); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPages(t *testing.T) {
	page := func(address, text string) *message.Response {
		r, err := message.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return &message.Response{Request: r, Status: 200, Header: http.Header{"Content-Type": {"text/html"}},
			Body: []byte(text)}
	}
	form := `<form action="%s"><input type=password></form>`
	for _, c := range []struct {
		address, text string
		want          []string
	}{
		{"http://a.example/", fmt.Sprintf(form, ""), []string{"dast/tls/password-unencrypted"}},
		{"https://a.example/", fmt.Sprintf(form, "http://a.example/login"), []string{"dast/tls/password-unencrypted"}},
		{"https://a.example/", fmt.Sprintf(form, "/login"), nil},
		{"http://127.0.0.1/", fmt.Sprintf(form, ""), nil},
		{"https://a.example/", `<script src="http://cdn.example/a.js"></script>`, []string{"dast/tls/mixed-content"}},
		{"https://a.example/", `<script src="//cdn.example/a.js"></script><a href="http://b.example/">b</a>`, nil},
	} {
		if got := found(t, c.address, page(c.address, c.text)); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %v, want %v", c.address, c.text, got, c.want)
		}
	}
}
