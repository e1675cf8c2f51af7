package oast

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

func listen(t *testing.T, o Options) *Listener {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	l, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func get(t *testing.T, address string) (int, string) {
	t.Helper()
	resp, err := http.Get(address) //nolint:gosec,noctx // of the test's own listener
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

var _ scan.OASTListener = (*Session)(nil)

// TestHTTP takes calls of tokens that a scan has made, and of no others.
func TestHTTP(t *testing.T) {
	l := listen(t, Options{Now: func() time.Time { return time.Unix(5, 0) }})
	one, two := l.Scan(), l.Scan()
	token, other := one.NewToken(), two.NewToken()
	address, host := one.Address(token)
	if host != "" || !strings.HasPrefix(address, "http://"+l.Addr().String()+"/") {
		t.Fatalf("address %s, host %s", address, host)
	}
	for _, suffix := range []string{"", ".php", "/x?y=z"} {
		status, body := get(t, strings.Replace(address, token, strings.ToUpper(token), 1)+suffix)
		if status != http.StatusOK || body != one.Response(token).Text {
			t.Errorf("%s: %d %s", suffix, status, body)
		}
	}
	forged := token[:len(token)-1] + map[bool]string{true: "b", false: "a"}[token[len(token)-1] == 'a']
	for _, path := range []string{"", forged, token[:20], one.Tokens.Scan + strings.Repeat("a", 20), "robots.txt"} {
		if status, body := get(t, "http://"+l.Addr().String()+"/"+path); status != http.StatusNotFound || body != "" {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
	if calls := two.Interactions(0); len(calls) != 0 {
		t.Errorf("another scan got %v", calls)
	}
	calls := one.Interactions(0)
	if len(calls) != 3 || calls[0].Token != token || calls[0].Protocol != "http" || calls[0].From != "127.0.0.1" ||
		!calls[0].At.Equal(time.Unix(5, 0)) || len(one.Interactions(2)) != 1 || one.Interactions(3) != nil {
		t.Errorf("calls %+v", calls)
	}
	for range 2 * maxPerToken {
		get(t, address)
	}
	if n := len(one.Interactions(0)); n != maxPerToken {
		t.Errorf("%d calls of one token were kept", n)
	}
	one.Close()
	if status, _ := get(t, address); status != http.StatusNotFound {
		t.Errorf("a scan that is over: %d", status)
	}
	at, _ := two.Address(other)
	get(t, at)
	if len(two.Interactions(0)) != 1 {
		t.Error("the other scan got nothing")
	}
}

// TestSecretsOfTheTargetAreNotKept leaves headers out that may hold them.
func TestSecretsOfTheTargetAreNotKept(t *testing.T) {
	l := listen(t, Options{})
	s := l.Scan()
	address, _ := s.Address(s.NewToken())
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader("p4ssword"))
	r.Header.Set("Authorization", "Bearer s3cret")
	r.Header.Set("User-Agent", "tool/1 "+strings.Repeat("x", 5000))
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	calls := s.Interactions(0)
	if len(calls) != 1 || strings.Contains(calls[0].Request, "s3cret") ||
		strings.Contains(calls[0].Request, "p4ssword") ||
		!strings.Contains(calls[0].Request, "tool/1") || len(calls[0].Request) > maxText {
		t.Errorf("calls %+v", calls)
	}
}

// TestBrowser tells browsers of people from programs that render pages.
func TestBrowser(t *testing.T) {
	for agent, want := range map[string]bool{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 " +
			"Firefox/140.0": true,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 " +
			"Safari/537.36": true,
		"Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com " +
			"GoogleImageProxy)": true,
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/148.0.0.0 " +
			"Safari/537.36": false,
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/602.1 (KHTML, like Gecko) wkhtmltopdf Version/10.0 " +
			"Safari/602.1": false,
		"Mozilla/5.0 (linux) AppleWebKit/537.36 (KHTML, like Gecko) " +
			"jsdom/20.0.3": false,
		"WeasyPrint 57.2 (https://www.courtbouillon.org/weasyprint)": false, "Java/17.0.12": false, "": false,
	} {
		l := listen(t, Options{})
		s := l.Scan()
		address, _ := s.Address(s.NewToken())
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User-Agent", agent)
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if calls := s.Interactions(0); len(calls) != 1 || calls[0].Browser != want {
			t.Errorf("%q: %+v", agent, calls)
		}
	}
}

// TestText is what a target shows that includes the text, or shows it.
func TestText(t *testing.T) {
	text := newNames("http://a.example", "").Response("token")
	if strings.Replace(text.Text, "<?php ?>", "", 1) != text.Included || !strings.HasPrefix(text.Text, text.First) ||
		len(text.First) != 8 {
		t.Errorf("%+v", text)
	}
}

// ask sends a question to the listener.
func ask(t *testing.T, l *Listener, name string, kind dnsmessage.Type) dnsmessage.Message {
	t.Helper()
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}}}
	question, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	c, err := new(net.Dialer).DialContext(t.Context(), "udp", l.names.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := c.Write(question); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1500)
	n, err := c.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	var answer dnsmessage.Message
	if err := answer.Unpack(buf[:n]); err != nil || answer.ID != 7 || !answer.Response || n > len(question)+16 {
		t.Fatalf("%d bytes for %d, %+v, %v", n, len(question), answer, err)
	}
	return answer
}

func TestDNS(t *testing.T) {
	l := listen(t, Options{DNS: "127.0.0.1:0", Domain: "oob.example.org"})
	s := l.Scan()
	token := s.NewToken()
	_, host := s.Address(token)
	if host != token+".oob.example.org" {
		t.Fatalf("host %s", host)
	}
	got := ask(t, l, "x."+strings.ToUpper(host)+".", dnsmessage.TypeA)
	if len(got.Answers) != 1 || fmt.Sprint(got.Answers[0].Body.(*dnsmessage.AResource).A) != "[127 0 0 1]" ||
		!got.Authoritative {
		t.Errorf("%+v", got)
	}
	if got := ask(t, l, "oob.example.org.", dnsmessage.TypeNS); got.RCode != dnsmessage.RCodeSuccess ||
		len(got.Answers) != 0 {
		t.Errorf("%+v", got)
	}
	if got := ask(t, l, "www.example.com.", dnsmessage.TypeA); got.RCode != dnsmessage.RCodeRefused ||
		len(got.Answers) != 0 {
		t.Errorf("%+v", got)
	}
	if got := ask(t, l, token+".", dnsmessage.TypeTXT); got.RCode != dnsmessage.RCodeSuccess || len(got.Answers) != 0 {
		t.Errorf("%+v", got)
	}
	calls := s.Interactions(0)
	if len(calls) != 2 || calls[0].Protocol != "dns" || calls[0].Token != token || calls[1].Request != "TXT "+token {
		t.Errorf("calls %+v", calls)
	}
}

// TestLDAP speaks like the client of Java's JNDI.
func TestLDAP(t *testing.T) {
	l := listen(t, Options{})
	s := l.Scan()
	token := s.NewToken()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	say := func(message []byte) string {
		t.Helper()
		if _, err := c.Write(message); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 100)
		n, err := c.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", buf[:n])
	}
	if got := say([]byte{0x30, 12, 2, 1, 1, 0x60, 7, 2, 1, 3, 4, 0, 0x80, 0}); got != "300c02010161070a010004000400" {
		t.Errorf("bind: %s", got)
	}
	search := append([]byte{0x30, 0x84, 0, 0, 0, byte(7 + len(token)), 2, 1, 2, 0x63, byte(2 + len(token)), 4,
		byte(len(token))}, token...)
	if got := say(search); got != "300c02010265070a012004000400" {
		t.Errorf("search: %s", got)
	}
	if calls := s.Interactions(0); len(calls) != 1 || calls[0].Protocol != "ldap" || calls[0].Token != token {
		t.Errorf("calls %+v", calls)
	}
}

// TestHostileTargets sends what is slow, large or nothing.
func TestHostileTargets(t *testing.T) {
	l := listen(t, Options{})
	s := l.Scan()
	var open []net.Conn
	for range 2 * perPeer { // that say nothing
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	shut := 0
	for _, c := range open[perPeer:] {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := c.Read(make([]byte, 1)); err != nil {
			shut++
		}
	}
	for _, c := range open {
		_ = c.Close()
	}
	if shut != perPeer {
		t.Errorf("%d of %d connections too many were closed", shut, perPeer)
	}
	address, _ := s.Address(s.NewToken())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for { // once the connections are gone
		r, _ := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		r.Header.Set("X", strings.Repeat("x", 1<<20))
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err == nil && resp.StatusCode == http.StatusRequestHeaderFieldsTooLarge {
			_ = resp.Body.Close()
			break
		}
		if err == nil {
			t.Fatalf("a head of 1 MiB: %d", resp.StatusCode)
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	if calls := s.Interactions(0); len(calls) != 0 {
		t.Errorf("calls %+v", calls)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Listen: "0.0.0.0:0"}, {Listen: "127.0.0.1:0", URL: "ftp://a"}, {Listen: "127.0.0.1:0", URL: "http://a/?b"},
		{Listen: "127.0.0.1:0", Domain: "a..b"}, {Listen: "127.0.0.1:0", Domain: "Über"},
		{Listen: "127.0.0.1:0", Domain: strings.Repeat("a.", 120) + "a"},
	} {
		l, err := Listen(o)
		if !errs.Is(err, errs.Invalid) {
			t.Errorf("%+v: %v", o, err)
		}
		if err == nil {
			_ = l.Close()
		}
	}
	if _, err := Listen(Options{Listen: "127.0.0.1:http-like"}); !errs.Is(err, errs.Unavailable) {
		t.Errorf("no port: %v", err)
	}
}

// FuzzReply gives any bytes to the readers of DNS and LDAP.
func FuzzReply(f *testing.F) {
	l := &Listener{o: Options{Domain: "oob.example.org", Now: time.Now}, scans: map[string]*Session{}}
	s := l.Scan()
	m := dnsmessage.Message{Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(s.NewToken() +
		".oob.example.org."), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}}
	question, err := m.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(question)
	f.Add([]byte{0x30, 12, 2, 1, 1, 0x60, 7, 2, 1, 3, 4, 0, 0x80, 0})
	f.Add([]byte{0x30, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > maxQuestion {
			return
		}
		if out := l.replyDNS(b, "192.0.2.1"); len(out) > len(b)+16 {
			t.Errorf("%d bytes are answered with %d", len(b), len(out))
		}
		if out := ldapAnswer(b); out != nil && len(out) != 14 {
			t.Errorf("an answer of %d bytes", len(out))
		}
		if s, token := l.findToken(string(b)); s != nil && len(token) != tokenLength {
			t.Errorf("token %q", token)
		}
	})
}
