package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	store "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/registry/aws/awstest"
	"merlon/internal/registry/catalog"
	"merlon/internal/registry/credential"
	"merlon/internal/run"
	"merlon/internal/seal"
	"merlon/internal/tenant"
)

const ecrHost = "123456789012.dkr.ecr.eu-west-1.amazonaws.com"

// certified makes a certificate for the host, and a file of the authority.
func certified(t *testing.T, host string) (*tls.Config, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{host}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, path
}

// proxyTo is a proxy that knows one host, and joins connections for it to the
// address.
func proxyTo(t *testing.T, host, address string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != host+":443" {
			http.Error(w, "not here", http.StatusBadGateway)
			return
		}
		there, err := net.Dial("tcp", address)
		if err != nil {
			http.Error(w, "away", http.StatusBadGateway)
			return
		}
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			_ = there.Close() // of this test
			return
		}
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n") // the client notices
		go func() { _, _ = io.Copy(there, here); _ = there.Close() }()
		go func() { _, _ = io.Copy(here, there); _ = here.Close() }()
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// amazonRegistry is a registry that takes the passwords that Amazon gives out, with
// the image team/app:1. It returns how it is reached.
func amazonRegistry(t *testing.T) config.Outbound {
	t.Helper()
	files := store.New(store.Logger(log.New(io.Discard, "", 0)))
	open := httptest.NewServer(files)
	defer open.Close()
	ref, err := name.ParseReference(strings.TrimPrefix(open.URL, "http://") + "/team/app:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, empty.Image); err != nil {
		t.Fatal(err)
	}
	guarded := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "AWS" || password != awstest.Password("123456789012") {
			w.Header().Set("WWW-Authenticate", `Basic realm="https://`+ecrHost+`/",service="ecr.amazonaws.com"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		files.ServeHTTP(w, r)
	}))
	var authority string
	guarded.TLS, authority = certified(t, ecrHost)
	guarded.StartTLS()
	t.Cleanup(guarded.Close)
	return config.Outbound{OutboundAllow: []string{"127.0.0.1"}, OutboundNoProxy: []string{"127.0.0.1"},
		OutboundCAFile: authority,
		OutboundProxy:  proxyTo(t, ecrHost, guarded.Listener.Addr().String())}
}

// stored is a store with one credential.
type stored credential.Credential

// Credential returns it.
func (s *stored) Credential(_ context.Context, _ tenant.Scope, _ credential.Kind,
	id credential.ID) (credential.Credential, error) {
	if id != s.ID {
		return credential.Credential{}, errs.E(errs.NotFound, "credential not found")
	}
	return credential.Credential(*s), nil
}

// TestImagesOfAmazon finds and fetches an image with a password that Amazon gives out
// for the stored key.
func TestImagesOfAmazon(t *testing.T) {
	amazon := awstest.New(t)
	client, err := Outbound(amazonRegistry(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	box, err := seal.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	kept := &stored{ID: "c", Organization: "o", Kind: credential.Amazon, Name: ecrHost + "/CI",
		Fields: credential.Fields{AWSRegion: "eu-west-1", AWSAccessKeyID: "AKIAIOSFODNN7EXAMPLE",
			AWSAccountID: "123456789012"}}
	held := images{client: client, credentials: kept, box: box, bytes: 1 << 20,
		catalog: &catalog.Client{HTTP: client, Now: amazon.Clock, Amazon: catalog.Amazon{Endpoint: amazon.Endpoint}}}
	key := (*credential.Credential)(kept).Account("s3cret")

	image, err := held.FindPrivate(t.Context(), key, "team/app:1")
	if want := ecrHost + "/team/app:1"; err != nil || image.Reference != want || image.Repository != ecrHost+
		"/team/app" {
		t.Fatalf("found %+v, %v", image, err)
	}
	if _, err := held.FindPrivate(t.Context(), key, "team/none"); !errs.Is(err, errs.NotFound) {
		t.Errorf("an image that is not there: %v", err)
	}
	if _, err := held.FindPrivate(t.Context(), (*credential.Credential)(kept).Account("old"),
		"team/app:1"); !errs.Is(err, errs.Conflict) {
		t.Errorf("a key that holds no longer: %v", err)
	}
	image.Credential = "c"
	for secret, want := range map[string]bool{"s3cret": true, "old": false} {
		kept.Sealed = box.Seal([]byte(secret), credential.Label(kept.Organization, kept.Kind, kept.Name))
		dir := t.TempDir()
		err := held.fetchImage(t.Context(), &run.Run{Image: &image}, dir)
		_, missing := os.Stat(filepath.Join(dir, "index.json"))
		if (err == nil && missing == nil) != want || err != nil && strings.Contains(err.Error(), "old") {
			t.Errorf("fetched with %s: %v, %v", secret, err, missing)
		}
	}
}
