package connbroker

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/scan"
)

// A pretended browser answers each command with itself, and asks its proxy for an address
// when it is told to.
type pretended struct {
	*scan.Chromium
	stopped chan struct{}
}

func newPretended(t *testing.T) *pretended {
	t.Helper()
	ours, theirs := net.Pipe()
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &pretended{stopped: make(chan struct{})}
	stop := sync.OnceFunc(func() { _, _ = theirs.Close(), proxy.Close(); close(p.stopped) })
	p.Chromium = &scan.Chromium{Pipe: ours, Proxy: proxy, Stop: stop, ExitReason: func() error {
		return errors.New("the browser took a nap")
	}}
	t.Cleanup(stop)
	go func() {
		commands := bufio.NewReader(theirs)
		for {
			command, err := commands.ReadString(0)
			if err != nil {
				return
			}
			switch strings.TrimSuffix(command, "\x00") {
			case "die":
				stop()
				return
			case "ask":
				conn, err := net.Dial("tcp", proxy.Addr().String())
				if err != nil {
					return
				}
				_, _ = io.WriteString(conn, "GET http://shop/ HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n")
				answer, _ := io.ReadAll(conn)
				command = string(answer) + "\x00"
			}
			if _, err := io.WriteString(theirs, command); err != nil {
				return
			}
		}
	}()
	return p
}

// TestChromium speaks to a browser, answers its connections, and learns why it ended.
func TestChromium(t *testing.T) {
	launched := make(chan *pretended, maxBrowsers)
	p, _, stop := begin(t, Host{Chromium: func(context.Context) (*scan.Chromium, error) {
		b := newPretended(t)
		launched <- b
		return b.Chromium, nil
	}})
	start := func() (*scan.Chromium, *bufio.Reader, *pretended) {
		t.Helper()
		b, err := p.Chromium(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		real := <-launched
		if b.Proxy.Addr().String() != real.Proxy.Addr().String() {
			t.Errorf("the proxy is at %s, not %s", b.Proxy.Addr(), real.Proxy.Addr())
		}
		go func() {
			_ = http.Serve(b.Proxy, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, "for "+r.Host)
			})) //nolint:gosec // of a test
		}()
		return b, bufio.NewReader(b.Pipe), real
	}
	say := func(b *scan.Chromium, from *bufio.Reader, command string) string {
		t.Helper()
		if _, err := io.WriteString(b.Pipe, command+"\x00"); err != nil {
			t.Fatal(err)
		}
		said, _ := from.ReadString(0) // empty at the end
		return said
	}
	first, fromFirst, _ := start()
	second, fromSecond, realSecond := start()
	if got := say(first, fromFirst, "hello"); got != "hello\x00" {
		t.Errorf("said %q", got)
	}
	if got := say(second, fromSecond, "ask"); !strings.Contains(got, "for shop") {
		t.Errorf("its proxy answered %q", got)
	}
	if got := say(first, fromFirst, "die"); got != "" {
		t.Errorf("a dead browser said %q", got)
	}
	if err := first.ExitReason(); err == nil || !strings.Contains(err.Error(), "took a nap") {
		t.Errorf("ended because of %v", err)
	}
	if got := say(second, fromSecond, "still there"); got != "still there\x00" {
		t.Errorf("the other said %q", got)
	}
	second.Stop()
	<-realSecond.stopped
	_, fromThird, realThird := start()
	if err := stop(); err != nil { // the scan is cancelled
		t.Error(err)
	}
	<-realThird.stopped
	if _, err := fromThird.ReadByte(); err == nil {
		t.Error("the browser outlives its scan")
	}
}

// TestChromiumIsBounded refuses more browsers than a scan may have, and says why there is
// none.
func TestChromiumIsBounded(t *testing.T) {
	reason := errors.New("no namespaces here")
	p, _, _ := begin(t, Host{Chromium: func(context.Context) (*scan.Chromium, error) { return nil, reason }})
	for range maxBrowsers {
		if _, err := p.Chromium(t.Context()); err == nil || !strings.Contains(err.Error(), reason.Error()) {
			t.Fatal(err)
		}
	}
	if _, err := p.Chromium(t.Context()); err == nil || !strings.Contains(err.Error(), "16 browsers") {
		t.Error(err)
	}
	without, _, _ := begin(t, Host{})
	if _, err := without.Chromium(t.Context()); err == nil || !strings.Contains(err.Error(), "no browser") {
		t.Error(err)
	}
	hanging, _, _ := begin(t, Host{Chromium: func(ctx context.Context) (*scan.Chromium, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := hanging.Chromium(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
