package deserialization

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/oast"
)

var (
	pickled  = regexp.MustCompile(`^curllib\.request\nurlopen\n\(V(\S+)\nNI3\ntR\.$`)
	function = regexp.MustCompile(`_\$\$ND_FUNC\$\$_function\(\)\{require\('http'\)\.get\('([^']+)'\)`)
	key      = regexp.MustCompile(`(?s)java/lang/String;.*t\x00.([a-z0-9]+\.oob\.test)t`)
)

// naming gives a run a listener that names of oob.test lead to, and returns what resolves
// them.
func naming(t *testing.T) (activescantest.Option, *net.Resolver) {
	t.Helper()
	l, err := oast.Listen(oast.Options{Listen: "127.0.0.1:0", Domain: "oob.test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	var dialer net.Dialer
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "udp", l.Addr().String())
	}}
	return func(r *activescan.Engine) { r.OAST, r.OASTTimeout = l.Scan(), 100*time.Millisecond }, resolver
}

func TestCalls(t *testing.T) {
	listening, resolver := naming(t)
	fetch := activescantest.Fetch(t)
	ask := func(address string) { // names are looked up, which is all that is seen
		u, err := url.Parse(address)
		if err == nil {
			_, _ = resolver.LookupHost(context.WithoutCancel(t.Context()), u.Hostname()+".")
		}
		fetch(address)
	}
	mux := http.NewServeMux()
	page := func(path string, read func(object string)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if object, err := base64.StdEncoding.DecodeString(r.FormValue("q")); err == nil {
				read(string(object))
			}
			fmt.Fprint(w, "Thank you.")
		})
	}
	found := func(expression *regexp.Regexp) func(string) {
		return func(object string) {
			if m := expression.FindStringSubmatch(object); m != nil {
				if expression == key {
					m[1] = "http://" + m[1] + "/"
				}
				ask(m[1])
			}
		}
	}
	page("/bad/java", found(key))
	page("/bad/python", found(pickled))
	page("/bad/script", found(function))
	page("/good/signed", func(string) {})
	encode := func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) }
	java, python, script := encode(javaObject("h.example")),
		encode("\x80\x04\x95\x0c\x00\x00\x00\x00\x00\x00\x00\x8c\x05alice\x94."), encode(`{"name":"alice"}`)
	operations := []string{"GET /bad/java?q=" + java, "GET /bad/python?q=" + python, "GET /bad/script?q=" + script,
		"GET /good/signed?q=" + java}
	want := []string{"dast/deserialization/callback GET /bad/java query:q", "dast/deserialization/callback GET " +
		"/bad/python query:q", "dast/deserialization/callback GET /bad/script query:q"}
	activescantest.Expect(t, activescantest.Attack(t, mux, []*activescan.Rule{Calls}, operations, listening), want...)
	// Without a name, Java cannot be made to call.
	unnamed := activescantest.Attack(t, mux, []*activescan.Rule{Calls}, operations, activescantest.Listening(t))
	activescantest.Expect(t, unnamed, want[1:]...)
	activescantest.Expect(t, activescantest.Attack(t, mux, []*activescan.Rule{Calls}, operations))
}

// TestJavaObject holds what is written against what Java 17 writes of the same objects.
func TestJavaObject(t *testing.T) {
	const want = "aced0005737200116a6176612e7574696c2e486173684d61700507dac1c31660d103000246000a6c6f6164466163746f724900097468726573686f6c6478703f4000000000000c7708" +
		"0000001000000001" + "7372000c6a6176612e6e65742e55524c962537361afce47203000749000868617368436f6465490004706f72744c0009617574686f726974797400124c6a6176612f6c616e672f537472696e673b" +
		"4c000466696c6571007e00034c0004686f737471007e00034c000870726f746f636f6c71007e00034c000372656671007e00037870ffffffffffffffff740009742e6578616d706c65" +
		"74000071007e00057400046874747070787400017678"
	if got := hex.EncodeToString([]byte(javaObject("t.example"))); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
