// Package registrytest runs a registry of container images on loopback for tests, in a
// process of its own: the test program itself, which serves one when it is started to.
package registrytest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	server "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// User and Password are whom the registry knows.
const User, Password = "robot", "s3cret"

// argument says that the program is to serve a registry.
const argument = "registrytest-serve"

// Init serves a registry and does not return when the program was started for that.
// TestMain calls it first.
func Init() {
	if len(os.Args) == 3 && os.Args[1] == argument {
		serve(os.Args[2])
	}
}

// A Registry is one that runs.
type Registry struct {
	Host string // with its port

	in  io.Writer
	out *bufio.Reader
}

// Start starts a registry. The mode says how it asks for
// credentials: "open", "basic", or "bearer" by the token flow
// (https://distribution.github.io/distribution/spec/auth/token/). What is below
// "closed/" it takes and gives to nobody.
func Start(t testing.TB, mode string) *Registry {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, argument, mode)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it never ends by itself
		_ = cmd.Wait()
	})
	r := &Registry{in: in, out: bufio.NewReader(out)}
	r.Host = r.line(t)
	return r
}

// line reads what the process says.
func (r *Registry) line(t testing.TB) string {
	t.Helper()
	line, err := r.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// Revoke makes the registry forget its user's password.
func (r *Registry) Revoke(t testing.TB) {
	t.Helper()
	if _, err := fmt.Fprintln(r.in, "revoke"); err != nil {
		t.Fatal(err)
	}
	r.line(t)
}

// Login is the user as a library wants it.
var Login = authn.FromConfig(authn.AuthConfig{Username: User, Password: Password})

// Push puts the image under the reference and returns its digest.
func Push(t testing.TB, reference string, img v1.Image) string {
	t.Helper()
	ref, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, img, remote.WithAuth(Login)); err != nil {
		t.Fatal(err)
	}
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

// serve serves a registry on loopback and writes its address.
func serve(mode string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	files := server.New(server.Logger(log.New(bytes.NewBuffer(nil), "", 0)))
	fmt.Println(l.Addr())
	g := &guard{mode: mode, address: l.Addr().String(), next: files}
	go func() {
		for s := bufio.NewScanner(os.Stdin); s.Scan(); {
			g.revoked.Store(true)
			fmt.Println("revoked")
		}
	}()
	log.Fatal(http.Serve(l, g))
}

// A guard asks for credentials.
type guard struct {
	mode, address string
	next          http.Handler
	revoked       atomic.Bool
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, basic := r.BasicAuth()
	right := basic && user == User && password == Password && !g.revoked.Load()
	refuse := func(challenge string) {
		w.Header().Set("WWW-Authenticate", challenge)
		http.Error(w, "{}", http.StatusUnauthorized)
	}
	switch {
	case r.URL.Path == "/token" && !right:
		http.Error(w, "{}", http.StatusUnauthorized)
	case r.URL.Path == "/token":
		// to a client on this machine
		_ = json.NewEncoder(w).Encode(map[string]string{"token": "for-" + r.URL.Query().Get("scope")})
	case g.mode == "basic" && !right:
		refuse(`Basic realm="test"`)
	case g.mode == "bearer" && !permits(r):
		refuse(fmt.Sprintf(`Bearer realm="http://%s/token",service="test"`, g.address))
	case strings.HasPrefix(r.URL.Path, "/v2/closed/") && r.Method == http.MethodGet:
		http.Error(w, "{}", http.StatusForbidden)
	default:
		g.next.ServeHTTP(w, r)
	}
}

// permits reports whether the request's token is for what it asks.
func permits(r *http.Request) bool {
	scope, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer for-")
	path := strings.TrimPrefix(r.URL.Path, "/v2/")
	switch {
	case path == "":
		return ok
	case path == "_catalog":
		return ok && scope == "registry:catalog:*"
	}
	for _, part := range []string{"/manifests/", "/blobs/", "/tags/"} {
		if repository, _, found := strings.Cut(path, part); found {
			return ok && strings.Contains(scope, "repository:"+repository+":")
		}
	}
	return false
}
