package outbound

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"merlon/internal/errs"
)

func client(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.transport.CloseIdleConnections)
	return c
}

// get sends a request and reads the whole answer.
func get(t *testing.T, c *Client, address string, l Limits) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req, l)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

// serve starts a server that counts its connections.
func serve(t *testing.T, h http.HandlerFunc) (*httptest.Server, *counter) {
	t.Helper()
	n := &counter{}
	s := httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			n.add()
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s, n
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() { c.mu.Lock(); c.n++; c.mu.Unlock() }

func (c *counter) get() int { c.mu.Lock(); defer c.mu.Unlock(); return c.n }

// names has the client resolve names at a server on loopback.
func names(t *testing.T, c *Client, answers map[string]string) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		b := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			if _, err := conn.WriteTo(answer(b[:n], answers), from); err != nil {
				return
			}
		}
	}()
	c.resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// answer makes the answer to a question of DNS (RFC 1035, section 4).
func answer(q []byte, answers map[string]string) []byte {
	var labels []string
	at := 12
	for q[at] != 0 {
		labels = append(labels, string(q[at+1:at+1+int(q[at])]))
		at += 1 + int(q[at])
	}
	end := at + 5
	name := strings.ToLower(strings.Join(labels, "."))
	out := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end]...)
	if answers[name] == "" {
		out[3] = 0x83 // no such name
		return out
	}
	if q[at+2] != 1 { // only IPv4
		return out
	}
	ip := netip.MustParseAddr(answers[name]).As4()
	out[7] = 1
	return append(append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), ip[:]...)
}

func wantRefused(t *testing.T, err error, parts ...string) {
	t.Helper()
	var e *errs.Error
	if !errors.As(err, &e) || e.Kind != errs.Forbidden || e.Code != CodeRefused {
		t.Errorf("got %v, want a refusal", err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(e.Message, part) {
			t.Errorf("got %q, want it to say %q", e.Message, part)
		}
	}
}

func TestRefusesThisMachine(t *testing.T) {
	s, connections := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("was reached") })
	port := s.URL[strings.LastIndex(s.URL, ":"):]
	c := client(t, Options{})
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "127.1.2.3", "0.0.0.0",
		"[::]"} {
		if _, err := get(t, c, "https://"+host+port+"/secret?token=x", Limits{}); err == nil {
			t.Errorf("%s: reached", host)
		} else {
			wantRefused(t, err, "outbound-allow")
			if strings.Contains(err.Error(), "token") || strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the address: %v", err)
			}
		}
	}
	if n := connections.get(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestAllowList(t *testing.T) {
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello ", r.UserAgent()) })
	port := s.URL[strings.LastIndex(s.URL, ":"):]
	for _, test := range []struct {
		allow, host string
		ok          bool
	}{
		{"127.0.0.1", "127.0.0.1", true},
		{"127.0.0.0/8", "127.0.0.1", true},
		{"localhost", "localhost", true},
		{"LOCALHOST.", "localhost", true},
		{".example.org", "a.example.org", true},
		{"*.example.org", "a.b.example.org", true},
		{".example.org", "example.org", false},
		{"example.org", "a.example.org", false},
		{"example.org", "badexample.org", false},
		{"10.0.0.0/8", "127.0.0.1", false},
		{"localhost", "127.0.0.1", false},
		{"::1", "127.0.0.1", false},
	} {
		c := client(t, Options{Allow: []string{test.allow}, Agent: "merlon/test"})
		if strings.Contains(test.host, "example") {
			names(t, c, map[string]string{test.host: "127.0.0.1"})
		}
		got, err := get(t, c, "http://"+test.host+port, Limits{})
		if (err == nil) != test.ok || test.ok && got != "hello merlon/test" {
			t.Errorf("%s with %s allowed: got %q, %v; want %t", test.host, test.allow, got, err, test.ok)
		}
	}
}

// TestDecidesOnTheResolvedAddress has names of the public point inside.
func TestDecidesOnTheResolvedAddress(t *testing.T) {
	s, connections := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("was reached") })
	port := s.URL[strings.LastIndex(s.URL, ":"):]
	c := client(t, Options{})
	names(t, c, map[string]string{"evil.example": "127.0.0.1", "cloud.example": "169.254.169.254",
		"lan.example": "10.1.2.3"})
	for host, what := range map[string]string{"evil.example": "leads to a loopback", "cloud.example": "metadata",
		"lan.example": "private"} {
		_, err := get(t, c, "https://"+host+port, Limits{})
		wantRefused(t, err, host, what)
	}
	// A host on the list may be private, but not a cloud's metadata service.
	c = client(t, Options{Allow: []string{"cloud.example", "0.0.0.0/0"}})
	names(t, c, map[string]string{"cloud.example": "169.254.169.254"})
	_, err := get(t, c, "http://cloud.example/latest/meta-data", Limits{})
	wantRefused(t, err, "metadata")
	if n := connections.get(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestClassify(t *testing.T) {
	own := []netip.Addr{netip.MustParseAddr("9.9.9.9")}
	for text, want := range map[string]string{
		"8.8.8.8": "", "2606:4700::1111": "", "1.1.1.1": "",
		"9.9.9.9": "this machine", "::ffff:9.9.9.9": "this machine",
		"127.0.0.1": "loopback", "127.255.0.1": "loopback", "::1": "loopback",
		"169.254.1.1": "link-local", "fe80::1": "link-local", "169.254.169.254": "metadata",
		"fd00:ec2::254": "metadata", "168.63.129.16": "metadata",
		"10.0.0.1": "private", "172.31.0.1": "private", "172.32.0.1": "", "192.168.1.1": "private",
		"fc00::1": "private", "fec0::1": "private",
		"100.64.0.1": "provider", "100.100.100.200": "metadata", "0.1.2.3": "this network", "240.0.0.1": "reserved",
		"255.255.255.255": "reserved",
		"224.0.0.1":       "multicast", "ff02::1": "multicast", "198.18.0.1": "measurements",
		"192.0.2.1":          "documentation",
		"2001:db8::1":        "documentation",
		"64:ff9b::127.0.0.1": "loopback", "64:ff9b::8.8.8.8": "", "64:ff9b::a9fe:a9fe": "metadata",
		"2002:7f00:1::":                        "loopback",
		"2001:0:4136:e378:8000:63bf:80ff:fffe": "loopback", "::127.0.0.1": "loopback", "::": "no address",
		"0.0.0.0": "no address",
	} {
		if got := classifyAddress(netip.MustParseAddr(text), own); !strings.Contains(got, want) ||
			(want == "") != (got == "") {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	if _, err := ownAddresses(); err != nil {
		t.Error(err)
	}
}

func TestRedirects(t *testing.T) {
	var seen http.Header
	target, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Clone()
		fmt.Fprint(w, "end")
	})
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/other":
			http.Redirect(w, r, target.URL, http.StatusTemporaryRedirect)
		case "/inside":
			http.Redirect(w, r, "http://[::1]:1/?token=x", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/broken":
			w.Header().Set("Location", "http://[x?token=x")
			w.WriteHeader(http.StatusFound)
		}
	})
	c := client(t, Options{Allow: []string{"127.0.0.1"}})
	if _, err := get(t, c, s.URL+"/loop", Limits{Redirects: 3}); err == nil ||
		!strings.Contains(err.Error(), "more than 3 times") {
		t.Errorf("a loop: %v", err)
	}
	for path, part := range map[string]string{"/inside": "::1", "/file": "file"} {
		_, err := get(t, c, s.URL+path, Limits{})
		wantRefused(t, err, part)
	}
	if _, err := get(t, c, s.URL+"/broken", Limits{}); err != nil && strings.Contains(err.Error(), "token") {
		t.Errorf("the error tells the address: %v", err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/other", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer x"}, "Private-Token": {"x"}, "Cookie": {"a=b"},
		"Accept": {"text/plain"}}
	resp, err := c.Do(req, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if seen.Get("Authorization") != "" || seen.Get("Private-Token") != "" || seen.Get("Cookie") != "" ||
		seen.Get("Referer") != "" || seen.Get("Accept") != "text/plain" {
		t.Errorf("another host was told %v", seen)
	}
	if resp, err = c.Do(req, Limits{Redirects: -1}); err != nil || resp.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("got %v, %v; want the redirect", resp, err)
	}
	_ = resp.Body.Close()
}

func TestRefusesToGiveUpEncryption(t *testing.T) {
	plain, _ := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("was reached") })
	s := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	t.Cleanup(s.Close)
	c := client(t, Options{Allow: []string{"127.0.0.1"}, CAFile: caFile(t, s)})
	_, err := get(t, c, s.URL, Limits{})
	wantRefused(t, err, "without encryption")
	_, err = get(t, client(t, Options{}), "http://mirror.example/x?token=y", Limits{})
	wantRefused(t, err, "mirror.example", "use https")
}

// caFile writes the certificate of a test server.
func caFile(t *testing.T, s *httptest.Server) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCertificates(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "private")
	}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(s.Close)
	allow := []string{"127.0.0.1"}
	if _, err := get(t, client(t, Options{Allow: allow}), s.URL, Limits{}); !errs.Is(err, errs.Unavailable) ||
		!strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown authority: %v", err)
	}
	if got, err := get(t, client(t, Options{Allow: allow, CAFile: caFile(t, s)}), s.URL, Limits{}); got != "private" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestLimits(t *testing.T) {
	hold := make(chan struct{})
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			w.Header().Set("Content-Length", "101")
			if r.Method == http.MethodGet {
				_, _ = w.Write(bytes.Repeat([]byte("x"), 101))
			}
		case "/chunked":
			for range 101 {
				_, _ = w.Write([]byte("x"))
				w.(http.Flusher).Flush()
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, 1<<20))
			_ = z.Close()
		case "/slow":
			_, _ = w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			<-hold
		case "/silent":
			<-hold
		default:
			_, _ = w.Write(bytes.Repeat([]byte("x"), 100))
		}
	})
	t.Cleanup(func() { close(hold) })
	c := client(t, Options{Allow: []string{"127.0.0.1"}})
	if got, err := get(t, c, s.URL+"/fits", Limits{Body: 100}); len(got) != 100 || err != nil {
		t.Errorf("what fits: %d bytes, %v", len(got), err)
	}
	for _, path := range []string{"/long", "/chunked", "/bomb"} {
		if got, err := get(t, c, s.URL+path, Limits{Body: 100}); !errs.Is(err, errs.TooLarge) || len(got) > 100 {
			t.Errorf("%s: got %d bytes, %v", path, len(got), err)
		}
	}
	for _, path := range []string{"/slow", "/silent"} {
		if _, err := get(t, c, s.URL+path, Limits{Time: 50 * time.Millisecond}); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, s.URL+"/long", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req, Limits{Body: 100})
	if err != nil || resp.ContentLength != 101 {
		t.Fatalf("HEAD of what is too long: %v, %v", resp, err)
	}
	_ = resp.Body.Close()
}

func TestProxy(t *testing.T) {
	var asked []string
	proxy, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Host+r.Host+" "+r.Header.Get("Proxy-Authorization"))
		if r.Method == http.MethodConnect {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, "by proxy")
	})
	direct, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "direct") })
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	c := client(t, Options{
		Proxy: strings.Replace(proxy.URL, "//", "//user:pass@", 1), NoProxy: []string{"127.0.0.1"},
		Allow: []string{"mirror.example", "127.0.0.1"},
	})
	names(t, c, map[string]string{"private.example": "10.0.0.1", "public.example": "8.8.8.8"})
	if got, err := get(t, c, "http://mirror.example/x", Limits{}); got != "by proxy" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := get(t, c, direct.URL, Limits{}); got != "direct" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := get(t, c, "https://public.example/x?token=y", Limits{}); err == nil ||
		strings.Contains(err.Error(), "token") || strings.Contains(err.Error(), "pass") {
		t.Errorf("a proxy that refuses: %v", err)
	}
	if len(asked) != 2 || !strings.HasPrefix(asked[1], "CONNECT public.example:443") ||
		!strings.HasSuffix(asked[0], "Basic dXNlcjpwYXNz") {
		t.Errorf("the proxy was asked %q", asked)
	}
	for _, address := range []string{"https://private.example", "https://10.0.0.1", "https://[::1]",
		"https://169.254.169.254"} {
		_, err := get(t, c, address, Limits{})
		wantRefused(t, err)
	}
	if len(asked) != 2 {
		t.Errorf("the proxy was asked %q", asked[2:])
	}
	if _, err := get(t, client(t, Options{}), "https://127.0.0.1:1", Limits{}); err == nil ||
		strings.Contains(err.Error(), "proxy") {
		t.Errorf("the environment chose a proxy: %v", err)
	}
}

func TestLogsTellNoSecrets(t *testing.T) {
	s, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	var log bytes.Buffer
	c := client(t, Options{Allow: []string{"127.0.0.1"}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User, u.Path, u.RawQuery = url.UserPassword("user", "hunter2"), "/hook/hunter2", "token=hunter2"
	if _, err := get(t, c, u.String(), Limits{}); err != nil {
		t.Fatal(err)
	}
	u.Host = "[::1]:1"
	_, err = get(t, c, strings.Replace(u.String(), "http:", "https:", 1), Limits{})
	wantRefused(t, err)
	text := log.String()
	for _, want := range []string{"status=418", "host=127.0.0.1", "refused", "method=GET"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "hunter2") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a secret was told: %v\n%s", err, text)
	}
}

func TestRefusesItself(t *testing.T) {
	_, err := get(t, client(t, Options{Own: []string{"merlon.example"}}), "https://Merlon.example/api", Limits{})
	wantRefused(t, err, "this service")
}

func TestRefusesOptions(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"an address as host": {Allow: []string{"https://x.example"}}, "nothing": {Allow: []string{""}},
		"all":                     {Allow: []string{"*"}},
		"a wildcard inside":       {NoProxy: []string{"a.*.example"}},
		"a proxy of another kind": {Proxy: "socks5://x:pass@y"}, "no proxy": {Proxy: "pass"},
		"no file": {CAFile: "/nowhere.pem"}, "no certificate": {CAFile: empty},
	} {
		if _, err := New(o); !errs.Is(err, errs.Invalid) || strings.Contains(err.Error(), "pass") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzList(f *testing.F) {
	for _, s := range []string{"10.0.0.0/8", "::1", "[::1]", ".example.org", "*.x", "fe80::1%eth0", "a/b", "٠.0.0.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := parseList("x", []string{s})
		if err == nil && l.containsHost("") {
			t.Errorf("%q names the empty host", s)
		}
	})
}

// TestDial connects as far as the guard lets it, and to listed addresses only where that
// is asked for.
func TestDial(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	at := strings.TrimPrefix(server.URL, "http://")
	port := at[strings.LastIndex(at, ":"):]
	open := func(o Options) *Client {
		t.Helper()
		o.Setting = "dast-allow"
		c, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		names(t, c, map[string]string{"inner.example": "127.0.0.1", "outer.example": "8.8.8.8",
			"meta.example": "169.254.169.254"})
		return c
	}
	_, err := open(Options{}).Dial(t.Context(), "tcp", at)
	wantRefused(t, err, "loopback", "dast-allow")
	allowed := open(Options{Allow: []string{"127.0.0.0/8"}})
	for _, address := range []string{at, "inner.example" + port} {
		for _, dial := range []func(context.Context, string, string) (net.Conn, error){allowed.Dial,
			allowed.DialListed} {
			conn, err := dial(t.Context(), "tcp", address)
			if err != nil {
				t.Errorf("%s: %v", address, err)
				continue
			}
			_ = conn.Close() // nothing was sent
		}
	}
	_, err = allowed.DialListed(t.Context(), "tcp", "outer.example:80") // public, but not on the list
	wantRefused(t, err, "outer.example", "not on the list")
	if strings.Contains(err.Error(), "8.8.8.8") {
		t.Errorf("it tells where the name leads: %v", err)
	}
	_, err = allowed.Dial(t.Context(), "tcp", "meta.example:80")
	wantRefused(t, err, "metadata")
	_, err = open(Options{Allow: []string{"169.254.0.0/16"}}).DialListed(t.Context(), "tcp", "meta.example:80")
	wantRefused(t, err)
	for _, closed := range []string{at, port, "inner.example" + port} {
		_, err = open(Options{Allow: []string{"127.0.0.0/8"}, Closed: []string{closed}}).Dial(t.Context(), "tcp", at)
		wantRefused(t, err, "part of this service")
	}
	// The whole of 127.0.0.0/8 and ::1 is this machine, in every form.
	for _, form := range []string{"127.0.0.2", "127.255.1.9", "::1", "::ffff:127.0.0.3"} {
		_, err = open(Options{Allow: []string{"127.0.0.0/8", "::1", "::/0"}, Closed: []string{at}}).Dial(t.Context(),
			"tcp", net.JoinHostPort(form, port[1:]))
		wantRefused(t, err, "part of this service")
	}
	// So are its own addresses, whichever of them a part of the service was named by.
	lan := netip.MustParseAddr("192.0.2.77")
	for _, c := range []struct{ closed, asked string }{{lan.String(), "127.0.0.1"}, {"127.0.0.1", lan.String()}} {
		client := open(Options{Allow: []string{"127.0.0.0/8", lan.String()},
			Closed: []string{net.JoinHostPort(c.closed, port[1:])}})
		client.own = func() ([]netip.Addr, error) { return []netip.Addr{lan}, nil }
		_, err = client.Dial(t.Context(), "tcp", net.JoinHostPort(c.asked, port[1:]))
		wantRefused(t, err, "part of this service")
	}
	_, err = open(Options{Own: []string{"outer.example"}}).Dial(t.Context(), "tcp", "outer.example:80")
	wantRefused(t, err, "this service")

	for host, want := range map[string]string{"127.0.0.1": "127.0.0.0/8", "inner.example": "127.0.0.0/8",
		"outer.example": "", "meta.example": ""} {
		if got, err := allowed.Listed(t.Context(), host); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s is listed as %q, %v", host, got, err)
		}
	}
	if got, err := open(Options{Allow: []string{"inner.example"}}).Listed(t.Context(), "inner.example"); err != nil ||
		len(got) != 1 {
		t.Errorf("listed by name: %q, %v", got, err)
	}
}

// TestDialPinned goes to the given addresses whatever the name says, and where nobody may
// go it does not go either.
func TestDialPinned(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Setting: "dast-allow", Allow: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	names(t, c, map[string]string{"moved.example": "10.0.0.1"})
	here := netip.MustParseAddr("127.0.0.1")
	conn, err := c.DialPinned(t.Context(), "tcp", "moved.example:"+port, []netip.Addr{netip.MustParseAddr("127.0.0.9"),
		here})
	if err != nil || !strings.HasPrefix(conn.RemoteAddr().String(), "127.0.0.") {
		t.Fatalf("%v, %v", conn, err)
	}
	_ = conn.Close() // nothing was sent
	_, err = c.DialPinned(t.Context(), "tcp", "moved.example:"+port, []netip.Addr{netip.MustParseAddr("10.0.0.1")})
	wantRefused(t, err, "private")
	if _, err = c.DialPinned(t.Context(), "tcp", "moved.example:"+port, nil); !errs.Is(err, errs.Unavailable) {
		t.Errorf("no address: %v", err)
	}
}

// TestErrorsNameNoAddresses asks a resolver that does not know a name, and a port where
// nobody listens: neither the resolver nor where the name leads is told.
func TestErrorsNameNoAddresses(t *testing.T) {
	c, err := New(Options{Setting: "dast-allow", Allow: []string{"127.0.0.0/8"}, Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	names(t, c, map[string]string{"closed.example": "127.0.0.1"})
	request := func(address string) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req, Limits{})
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	_, dialled := c.Dial(t.Context(), "tcp", "unknown.example:80")
	_, closed := c.Dial(t.Context(), "tcp", "closed.example:1")
	_, listed := c.Listed(t.Context(), "unknown.example")
	_, addresses := c.Addresses(t.Context(), "unknown.example")
	quoted := regexp.MustCompile(`\d+\.\d+\.\d+|lookup|dial|::`)
	for what, err := range map[string]error{"a name": dialled, "a port": closed, "a list": listed,
		"addresses": addresses, "a request": request("http://unknown.example/"),
		"a request to a port": request("http://closed.example:1/")} {
		if err == nil || quoted.MatchString(err.Error()) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !errors.Is(closed, syscall.ECONNREFUSED) {
		t.Errorf("it is not seen what it was: %v", closed)
	}
}
