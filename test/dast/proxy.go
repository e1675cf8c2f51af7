package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// This file counts requests on their way to a target. The bytes pass as they are:
// a proxy that understood HTTP would refuse what attacks consist of.

// maxHead bounds the head of a request, in bytes.
// Above it, bytes are passed on without being counted.
const maxHead = 1 << 20

// A proxy passes connections on to a target and keeps what was asked.
type proxy struct {
	listener net.Listener
	backend  string // host:port of the target

	mu sync.Mutex
	// Guarded by mu.
	lines []string // first lines of the requests, in the order of coming
}

// newProxy listens on a free port of loopback.
func newProxy(backend string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, backend: backend}
	go p.acceptConnections()
	return p, nil
}

// baseAddress is the address that takes the place of the target's.
func (p *proxy) baseAddress() string { return "http://" + p.listener.Addr().String() }

// takeCounted returns the first lines of the requests that passed, and forgets them.
func (p *proxy) takeCounted() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.lines
	p.lines = nil
	return lines
}

// requestPaths are "GET /path" of first lines, without the query.
func requestPaths(lines []string) map[string]bool {
	out := map[string]bool{}
	for _, line := range lines {
		method, rest, _ := strings.Cut(line, " ")
		target, _, _ := strings.Cut(rest, " ")
		// Attacks have targets that no parser accepts; then the text before "?" is the path.
		if u, err := url.Parse(target); err == nil {
			target = u.Path
		} else {
			target, _, _ = strings.Cut(target, "?")
		}
		out[method+" "+target] = true
	}
	return out
}

// acceptConnections forwards connections until the proxy is closed.
func (p *proxy) acceptConnections() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		go p.forwardConnection(c)
	}
}

// forwardConnection joins a connection to one of the target.
func (p *proxy) forwardConnection(c net.Conn) {
	defer func() { _ = c.Close() }() // the peer may have closed it
	up, err := net.Dial("tcp", p.backend)
	if err != nil {
		return
	}
	defer func() { _ = up.Close() }() // likewise
	done := make(chan struct{})
	// The response is copied as it comes, with no knowledge of its end.
	go func() {
		defer close(done)
		_, _ = io.Copy(c, up) // ends when either side does
		_ = c.Close()
	}()
	// Large enough for most heads in one piece.
	in := bufio.NewReaderSize(c, 64<<10)
	for {
		if err := p.forwardRequest(in, up); err != nil {
			// What is no request of HTTP/1.1 is passed on without being counted.
			if !errors.Is(err, io.EOF) {
				_, _ = io.Copy(up, in)
			}
			// The target sees the end of the requests, as without a proxy.
			if half, ok := up.(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
			<-done // the answer may still be on its way; the target closes after it
			return
		}
	}
}

// errUpgraded says that what follows is no HTTP.
var errUpgraded = errors.New("upgraded")

// forwardRequest passes one request on and counts it.
func (p *proxy) forwardRequest(in *bufio.Reader, up io.Writer) error {
	var head []byte
	var length int64
	var chunked, upgrade bool
	for first := ""; ; {
		line, err := in.ReadSlice('\n')
		head = append(head, line...)
		// A line longer than the buffer comes in several pieces.
		if errors.Is(err, bufio.ErrBufferFull) && len(head) < maxHead {
			continue
		}
		if err != nil {
			_, _ = up.Write(head)
			return err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if first == "" {
			first = text
			p.countRequest(first)
			continue
		}
		if text == "" {
			break
		}
		name, value, _ := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "content-length":
			if length, err = strconv.ParseInt(value, 10, 64); err != nil {
				// An invalid length is an attack: what follows is read as the next request, and
				// passed on.
				length = 0
			}
		case "transfer-encoding":
			// Transfer-Encoding overrides Content-Length (RFC 9112, section 6.3).
			chunked = strings.EqualFold(value, "chunked")
		case "upgrade":
			upgrade = true
		}
	}
	if _, err := up.Write(head); err != nil {
		return err
	}
	switch {
	case upgrade:
		return errUpgraded
	case chunked:
		return copyChunks(in, up)
	}
	_, err := io.CopyN(up, in, length)
	return err
}

// copyChunks copies a body of RFC 9112, section 7.1.
func copyChunks(in *bufio.Reader, up io.Writer) error {
	for {
		line, err := in.ReadString('\n')
		if _, werr := io.WriteString(up, line); err == nil {
			err = werr
		}
		if err != nil {
			return err
		}
		text, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		size, err := strconv.ParseInt(strings.TrimSpace(text), 16, 64)
		if err != nil || size < 0 {
			return fmt.Errorf("size of a chunk %.20q", text)
		}
		if size == 0 {
			break
		}
		// The two bytes are the CRLF after the chunk.
		if _, err := io.CopyN(up, in, size+2); err != nil {
			return err
		}
	}
	for { // trailers
		line, err := in.ReadString('\n')
		if _, werr := io.WriteString(up, line); err == nil {
			err = werr
		}
		if err != nil || strings.TrimSpace(line) == "" {
			return err
		}
	}
}

// countRequest keeps the first line of a request.
func (p *proxy) countRequest(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line)
}
