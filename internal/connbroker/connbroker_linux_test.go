package connbroker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

// begin serves a program in this process.
func begin(t *testing.T, h Host) (*Client, *Broker, func() error) {
	t.Helper()
	l, theirs, err := New()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(ctx, h) }()
	fd, err := unix.Dup(int(theirs.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	p, err := Open(fd)
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = stop() })
	return p, l, stop
}

func plainDial(ctx context.Context, network, address string) (net.Conn, error) {
	if strings.HasPrefix(address, "refused") {
		return nil, errs.E(errs.Forbidden, "%s is refused: s3cret reasons of the guard", address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// TestRequests sends many HTTP requests through the tunnel at once.
func TestRequests(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	defer server.Close()
	p, l, _ := begin(t, Host{Dial: plainDial})
	client := server.Client()
	client.Transport.(*http.Transport).DialContext = p.Dial
	var g sync.WaitGroup
	for n := range 40 {
		g.Go(func() {
			body := bytes.Repeat([]byte{byte(n)}, 300_000)
			resp, err := client.Post(server.URL, "application/octet-stream", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			got, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || !bytes.Equal(got, body) {
				t.Errorf("%d: %d bytes, %v", n, len(got), err)
			}
		})
	}
	g.Wait()
	client.CloseIdleConnections()
	if c := l.Traffic().Connections; c == 0 || c > 40 {
		t.Errorf("%d connections", c)
	}
}

// TestRefusals tells apart what the broker refuses and what fails.
func TestRefusals(t *testing.T) {
	p, l, _ := begin(t, Host{Dial: plainDial})
	for _, tt := range []struct {
		network, address string
		kind             errs.Kind
	}{
		{"tcp", "refused.example:80", errs.Forbidden}, {"udp", "127.0.0.1:53", errs.Forbidden},
		{"unix", "/run/x", errs.Forbidden},
		{"tcp", "127.0.0.1:1", errs.Unavailable}, {"tcp", strings.Repeat("x", maxRequest), errs.TooLarge},
	} {
		if _, err := p.Dial(t.Context(), tt.network, tt.address); !errs.Is(err, tt.kind) {
			t.Errorf("%s %.40s: %v, want %s", tt.network, tt.address, err, tt.kind)
		}
	}
	if got := l.Traffic(); got.Connections != 0 || got.Refused != 4 {
		t.Errorf("%+v", got)
	}
}

// TestJobAndKeep hands the job over and takes back what is kept.
func TestJobAndKeep(t *testing.T) {
	var kept []byte
	job := &Job{ID: "r", Target: scan.Target{URL: "https://shop.example.org/",
		Descriptions: []scan.Description{{Name: "x", Text: strings.Repeat("y", 3<<20)}}},
		Limit: time.Hour, Resume: []byte("before")}
	p, _, _ := begin(t, Host{Job: job, SaveCheckpoint: func(_ context.Context, b []byte) error {
		if string(b) == "no room" {
			return errors.New("no room")
		}
		kept = b
		return nil
	}})
	got, err := p.Job()
	if err != nil || got.ID != "r" || len(got.Target.Descriptions[0].Text) != 3<<20 || string(got.Resume) != "before" ||
		got.Limit != time.Hour {
		t.Fatalf("%+v, %v", got, err)
	}
	large := bytes.Repeat([]byte("z"), scan.MaxCheckpoint)
	if err := p.Keep(large); err != nil || !bytes.Equal(kept, large) {
		t.Errorf("kept %d bytes, %v", len(kept), err)
	}
	if err := p.Keep([]byte("no room")); err == nil {
		t.Error("a failure to keep was not told")
	}
}

// TestCalls hands over what the target has sent elsewhere.
func TestCalls(t *testing.T) {
	all := []scan.Interaction{{Token: "a", Protocol: "dns", At: time.Unix(1, 0).UTC()},
		{Token: "b", Protocol: "http", Request: strings.Repeat("x", 1000)}}
	p, _, _ := begin(t, Host{Interactions: func(n int) []scan.Interaction { return all[min(n, len(all)):] }})
	for n := range 3 {
		if got, err := p.Calls(n); err != nil || !slices.Equal(got, all[n:]) {
			t.Errorf("from %d: %v, %v", n, got, err)
		}
	}
	p, _, _ = begin(t, Host{})
	if got, err := p.Calls(0); err != nil || len(got) != 0 {
		t.Errorf("nothing listens: %v, %v", got, err)
	}
}

// TestEnd closes every connection at once.
func TestEnd(t *testing.T) {
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = far.Close() }()
	p, _, stop := begin(t, Host{Dial: plainDial})
	conn, err := p.Dial(t.Context(), "tcp", far.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if conn.RemoteAddr().String() != far.Addr().String() {
		t.Errorf("its far end is %s", conn.RemoteAddr())
	}
	other, err := far.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	for _, c := range []net.Conn{conn, other} {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("still open: %v", err)
		}
	}
	if _, err := p.Dial(t.Context(), "tcp", far.Addr().String()); err == nil {
		t.Error("dials after the end")
	}
}

// TestDialEnds gives a connection up when its context ends.
func TestDialEnds(t *testing.T) {
	p, _, _ := begin(t, Host{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Dial(ctx, "tcp", "shop.example.org:443"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestHostileProgram sends what no program of ours does; the broker ends, and opens
// nothing.
func TestHostileProgram(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	text, err := json.Marshal(request{Dial: &dialRequest{"tcp", "127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	pair := func(kind int) int {
		t.Helper()
		ends, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = unix.Close(ends[0]), unix.Close(ends[1]) })
		return ends[1]
	}
	for name, tt := range map[string]struct {
		text []byte
		fds  []int
	}{
		"no stream":    {text, nil},
		"a file":       {text, []int{int(file.Fd())}},
		"two streams":  {text, []int{pair(unix.SOCK_STREAM), pair(unix.SOCK_STREAM)}},
		"datagrams":    {text, []int{pair(unix.SOCK_DGRAM)}},
		"no JSON":      {[]byte("\xff{"), []int{pair(unix.SOCK_STREAM)}},
		"nothing":      {[]byte("{}"), []int{pair(unix.SOCK_STREAM)}},
		"a long story": {bytes.Repeat([]byte("x"), maxRequest+1), []int{pair(unix.SOCK_STREAM)}},
	} {
		t.Run(name, func(t *testing.T) {
			dialled := false
			p, _, stop := begin(t, Host{Dial: func(context.Context, string, string) (net.Conn, error) {
				dialled = true
				return nil, errors.New("no")
			}})
			var rights []byte
			if tt.fds != nil {
				rights = unix.UnixRights(tt.fds...)
			}
			if _, _, err := p.conn.WriteMsgUnix(tt.text, rights, nil); err != nil {
				t.Fatal(err)
			}
			_ = p.conn.Close()
			done := make(chan struct{})
			go func() { _ = stop(); close(done) }()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatal("the lender does not end")
			}
			if dialled {
				t.Error("it dialled")
			}
		})
	}
	if _, err := Open(int(file.Fd())); !errs.Is(err, errs.Invalid) {
		t.Errorf("a file as a tunnel: %v", err)
	}
}

// TestTooMany refuses more connections than there may be at once.
func TestTooMany(t *testing.T) {
	wait := make(chan struct{})
	p, _, _ := begin(t, Host{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		select {
		case <-wait:
		case <-ctx.Done():
		}
		return nil, errors.New("no")
	}})
	defer close(wait)
	var streams []net.Conn
	for range maxConnections + 1 {
		s, err := p.openRequest(request{Dial: &dialRequest{"tcp", "127.0.0.1:1"}})
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	if err := readOutcome(streams[maxConnections]); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprint(maxConnections)) {
		t.Errorf("got %v", err)
	}
	for _, s := range streams {
		_ = s.Close()
	}
}
