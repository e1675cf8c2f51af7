package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"merlon/internal/scan"
)

// A standIn is a browser that answers the first commands, and then reads and answers
// nothing, as one whose processes are all stopped.
type standIn struct {
	commands int // that it answers; a page takes a dozen
	started  atomic.Int64
	stopped  atomic.Int64
}

// ends are both directions of its pipe.
type ends struct {
	*io.PipeReader
	*io.PipeWriter
}

func (e ends) Close() error { return errors.Join(e.PipeReader.Close(), e.PipeWriter.Close()) }

// A nobody is a proxy that no browser comes to.
type nobody struct {
	once   sync.Once
	closed chan struct{}
}

func (n *nobody) Accept() (net.Conn, error) { <-n.closed; return nil, net.ErrClosed }
func (n *nobody) Close() error              { n.once.Do(func() { close(n.closed) }); return nil }
func (n *nobody) Addr() net.Addr            { return &net.TCPAddr{} }

func (s *standIn) launch(context.Context) (*scan.Chromium, error) {
	s.started.Add(1)
	ourR, theirW := io.Pipe()
	theirR, ourW := io.Pipe()
	proxy := &nobody{closed: make(chan struct{})}
	go func() {
		commands := bufio.NewReader(theirR)
		for range s.commands {
			text, err := commands.ReadBytes(0)
			if err != nil {
				return
			}
			for _, said := range answer(text) {
				if _, err := io.WriteString(theirW, said+"\x00"); err != nil {
					return
				}
			}
		}
		<-proxy.closed
	}()
	return &scan.Chromium{Pipe: ends{ourR, ourW}, Proxy: proxy, ExitReason: func() error {
		return errors.New("it was stopped")
	},
		Stop: sync.OnceFunc(func() {
			s.stopped.Add(1)
			_, _, _ = theirR.Close(), theirW.Close(), proxy.Close() // as the ends of a process that is killed
		})}, nil
}

// answer is what a browser says to a command.
func answer(text []byte) []string {
	var command struct {
		ID      int64  `json:"id"`
		Method  string `json:"method"`
		Session string `json:"sessionId"`
	}
	_ = json.Unmarshal([]byte(strings.TrimRight(string(text), "\x00")), &command) // 0 is answered by nobody
	result := "{}"
	var events []string
	switch command.Method {
	case "Target.createBrowserContext":
		result = `{"browserContextId":"profile"}`
	case "Target.createTarget":
		result = `{"targetId":"tab"}`
		events = []string{`{"method":"Target.attachedToTarget","params":{"sessionId":"page","targetInfo":{"targetId":"tab","type":"page","title":"","url":"about:blank","attached":true,"canAccessOpener":false,"browserContextId":"profile"},"waitingForDebugger":true}}`}
	}
	session := ""
	if command.Session != "" {
		session = fmt.Sprintf(`,"sessionId":%q`, command.Session)
	}
	return append(events, fmt.Sprintf(`{"id":%d,"result":%s%s}`, command.ID, result, session))
}

// start begins a browser of the kind, in a bubble whose clock stands still while
// somebody works.
func (s *standIn) start(t *testing.T) (*Browser, error) {
	return Start(t.Context(), Options{Launch: s.launch, Dial: (&net.Dialer{}).DialContext, Gate: &gate{}})
}

// TestHangsAtOnce starts a browser that takes the connection and says nothing.
func TestHangsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &standIn{}
		began := time.Now()
		b, err := s.start(t)
		if err == nil {
			b.Close()
			t.Fatal("it started")
		}
		if !strings.Contains(err.Error(), "did not respond for 1m0s") || time.Since(began) > startLimit+time.Second ||
			s.stopped.Load() != 1 {
			t.Errorf("after %s, stopped %d times: %v", time.Since(began), s.stopped.Load(), err)
		}
	})
}

// TestHangs lets browsers hang at any of their commands: each wait ends, a browser that
// says nothing any more is ended and counts as one that died, and the last says why there is none.
func TestHangs(t *testing.T) {
	for commands := 2; commands <= 20; commands++ {
		synctest.Test(t, func(t *testing.T) {
			s := &standIn{commands: commands}
			b, err := s.start(t)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			began := time.Now()
			var last error
			for range 12 {
				p, err := b.Page(t.Context(), PageOptions{})
				if last = err; err != nil {
					continue
				}
				_ = p.Open(t.Context(), "http://shop.example/", openLimit) // it ends, however
				p.Close()
			}
			crashes, why := b.Crashes()
			if crashes != b.o.Crashes || why == nil || !strings.Contains(why.Error(), "did not respond for 1m0s") ||
				last == nil || !strings.Contains(last.Error(), "is not started again") {
				t.Errorf("%d commands: %d crashes, %v; then %v", commands, crashes, why, last)
			}
			if took := time.Since(began); took > 8*time.Minute {
				t.Errorf("%d commands: it took %s", commands, took)
			}
			if s.started.Load() != s.stopped.Load() {
				t.Errorf("%d commands: %d were started, %d stopped", commands, s.started.Load(), s.stopped.Load())
			}
		})
	}
}
