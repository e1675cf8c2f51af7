// Package tls examines how the connection to the target is protected: its certificate, the old
// versions and weak ciphers that it still accepts, and what pages send or load without encryption.
//
// Each version and group of ciphers is tested by a handshake that offers nothing else (RFC 8996 for
// TLS 1.0 and 1.1, RFC 7465 for RC4). Pages are read as they come by, without requests.
//
// Budget: three handshakes with the target's own host for a scan.
package tls

import (
	"bytes"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var (
	certificate = texts.Get("certificate")
	weak        = texts.Get("weak-certificate")
	version     = texts.Get("old-version")
	cipher      = texts.Get("weak-cipher")
	plain       = texts.Get("password-unencrypted")
	mixed       = texts.Get("mixed-content")
)

// Rule makes the handshakes, and looks at pages.
var Rule = &activescan.Rule{ID: "tls", FindingRules: []*finding.Rule{certificate, weak, version, cipher, plain, mixed},
	Profile: scan.Safe, ScanSite: scanHandshakes, InspectResponse: inspectCleartext}

// scanHandshakes makes the handshakes.
func scanHandshakes(t *activescan.OperationScan) error {
	if t.Request.Scheme != "https" {
		return nil
	}
	// The state of the client's own connection, so the certificate costs no handshake.
	state := t.Client.TLS()
	if state == nil || len(state.PeerCertificates) == 0 {
		return nil
	}
	answer, err := t.SendAnonymously(t.Request)
	if err != nil {
		return err
	}
	report := func(rule *finding.Rule, proof string) {
		t.RaiseAlert(activescan.Alert{Rule: rule, Location: "/", Key: t.Request.Host,
			Responses:     []*message.Response{answer},
			ResponseNotes: []string{"a request over the connection"}, Anonymous: true, Proof: []string{proof}})
	}
	host := t.Request.URL().Hostname()
	if why := distrustReason(state.PeerCertificates, nil, host, time.Now()); why != "" {
		report(certificate, "The certificate of "+host+" "+why+".")
	}
	if why := weaknessOf(state.PeerCertificates); why != "" {
		report(weak, "The certificate of "+host+" "+why+".")
	}
	// One old version is enough: their remediation is the same.
	for _, v := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		got, err := tryHandshake(t, &tls.Config{ServerName: host, MinVersion: v, MaxVersion: v,
			// All ciphers, also insecure ones: otherwise a server with these alone would seem to
			// refuse the version.
			CipherSuites: suitesNamed("")})
		if err != nil {
			return err
		}
		if got != nil && got.Version == v {
			report(version, "A handshake with "+tls.VersionName(v)+" alone was made.")
			break
		}
	}
	// Up to TLS 1.2, because TLS 1.3 has no weak ciphers and Go does not let them be chosen.
	got, err := tryHandshake(t, &tls.Config{ServerName: host, MinVersion: tls.VersionTLS10,
		MaxVersion:   tls.VersionTLS12,
		CipherSuites: slices.Concat(suitesNamed("_RC4_"), suitesNamed("_3DES_"))})
	if err != nil {
		return err
	}
	if got != nil {
		report(cipher, "A handshake with "+tls.CipherSuiteName(got.CipherSuite)+" was made; nothing but RC4 and 3DES "+
			"was offered.")
	}
	return nil
}

// tryHandshake makes a handshake whatever the certificate is; nil: the server refuses. Only
// the end of the scan is an error.
func tryHandshake(t *activescan.OperationScan, config *tls.Config) (*tls.ConnectionState, error) {
	config.InsecureSkipVerify = true // the certificate is looked at by itself
	state, err := t.Client.Handshake(t.Context, config)
	if t.Context.Err() != nil {
		return nil, t.Context.Err()
	}
	if err != nil { // refused, which is what is hoped for
		return nil, nil
	}
	return state, nil
}

// suitesNamed are the ciphers whose name holds the text.
func suitesNamed(text string) []uint16 {
	var out []uint16
	for _, s := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		if strings.Contains(s.Name, text) {
			out = append(out, s.ID)
		}
	}
	return out
}

// distrustReason says why clients that know the roots (nil: those of this machine) refuse the
// certificate; empty: they take it.
func distrustReason(chain []*x509.Certificate, roots *x509.CertPool, host string, now time.Time) string {
	leaf := chain[0]
	switch {
	// The dates first: Verify reports an expired certificate too, but less clearly.
	case now.After(leaf.NotAfter):
		return "is over since " + leaf.NotAfter.UTC().Format(time.DateOnly)
	case now.Before(leaf.NotBefore):
		return "is not valid before " + leaf.NotBefore.UTC().Format(time.DateOnly)
	}
	if err := leaf.VerifyHostname(host); err != nil {
		return "is for another name"
	}
	// What the server sends beside its certificate; clients do not search for missing ones.
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: between, CurrentTime: now})
	var unknown x509.UnknownAuthorityError
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &unknown):
		return "is refused: " + strings.TrimPrefix(err.Error(), "x509: ")
	case bytes.Equal(leaf.RawIssuer, leaf.RawSubject):
		return "is self-signed"
	case len(chain) == 1:
		return "comes from an authority that is not known here, and the server sends no certificate that leads to " +
			"one that is"
	}
	return "comes from an authority that is not known here"
}

// weaknessOf says why the certificate can be forged; empty: it cannot.
func weaknessOf(chain []*x509.Certificate) string {
	leaf := chain[0]
	// The least that the CA/Browser Forum has allowed since 2014.
	if key, ok := leaf.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() < 2048 {
		return fmt.Sprintf("has an RSA key of %d bits", key.N.BitLen())
	}
	switch leaf.SignatureAlgorithm {
	case x509.MD5WithRSA, x509.SHA1WithRSA, x509.ECDSAWithSHA1, x509.DSAWithSHA1:
		return "is signed with " + leaf.SignatureAlgorithm.String()
	}
	return ""
}

// inspectCleartext looks at what a page sends and loads without encryption. On the way to this very
// machine is nobody.
func inspectCleartext(t *activescan.OperationScan, resp *message.Response) {
	if !resp.IsHTML() || resp.Status >= 400 || isLocalHost(resp.Request.URL().Hostname()) {
		return
	}
	secure := resp.Request.Scheme == "https"
	for n := range resp.Document().Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch {
		// A form shown over HTTP can be changed on the way, wherever it is sent.
		case n.Data == "form" && hasPasswordField(n) && (!secure || isCleartext(attributeOf(n, "action"))):
			reportCleartext(t, plain, resp, "The form with a password of "+resp.Request.Location()+
				" is shown or sent over HTTP.")
		// Active content: whoever changes it on the way controls the page. Browsers block most of
		// it.
		case secure && (n.Data == "script" || n.Data == "iframe") && isCleartext(attributeOf(n, "src")),
			secure && n.Data == "link" && strings.EqualFold(attributeOf(n, "rel"), "stylesheet") &&
				isCleartext(attributeOf(n, "href")):
			reportCleartext(t, mixed, resp, "The page "+resp.Request.Location()+" has a "+n.Data+" over HTTP.")
		}
	}
}

// reportCleartext raises the alert once for the host: all pages mostly share the cause.
func reportCleartext(t *activescan.OperationScan, rule *finding.Rule, resp *message.Response, proof string) {
	t.RaiseAlert(activescan.Alert{Rule: rule, Request: resp.Request, Location: "/", Key: resp.Request.Host,
		Responses: []*message.Response{resp}, ResponseNotes: []string{"a page"}, Proof: []string{proof}})
}

// isCleartext reports whether an address of the page is asked for without encryption.
func isCleartext(address string) bool {
	if address == "" {
		return false
	}
	u, err := url.Parse(strings.TrimSpace(address))
	return err == nil && u.Scheme == "http" && !isLocalHost(u.Hostname())
}

// hasPasswordField reports whether the form has a field for a password.
func hasPasswordField(form *html.Node) bool {
	for n := range form.Descendants() {
		if n.Type == html.ElementNode && n.Data == "input" && strings.EqualFold(attributeOf(n, "type"), "password") {
			return true
		}
	}
	return false
}

// isLocalHost reports whether the host is this machine: nobody listens on the way there.
func isLocalHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// attributeOf returns the value of an attribute; empty: the element has none.
func attributeOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
