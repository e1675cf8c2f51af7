package oast

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

// Options say where a Listener listens and how it is reached.
type Options struct {
	Listen string // host:port for HTTP and LDAP, and for DNS where DNS is empty; port 0: any
	DNS    string // host:port for DNS where it is another one
	// URL is the listener as targets reach it; empty: http:// and the address that it
	// listens on, which then has to be a certain one.
	URL string
	// Domain is a domain whose names targets' resolvers ask this listener for; empty: none.
	Domain string
	// Connections bounds those that are open at once; 0: 256, which is also the most.
	Connections int
	Now         func() time.Time // nil: time.Now
	Log         *slog.Logger
}

// A Listener takes what targets send.
type Listener struct {
	o       Options
	web     net.Listener
	names   net.PacketConn
	server  *http.Server
	answer  netip.Addr // of names; invalid: none
	limiter *rate.Limiter
	peers   peers
	running sync.WaitGroup

	mu    sync.Mutex
	scans map[string]*Session
}

// Bounds of a listener. What exceeds them is dropped.
const (
	interactionsPerSecond = 500    // connections and questions, of all targets together
	connections           = 256    // at once
	perPeer               = 32     // connections at once from one address
	maxInteractions       = 10_000 // kept of a scan
	maxPerToken           = 8      // kept of a token
	maxText               = 1000   // characters kept of a call
	connectionTime        = 10 * time.Second
	maxHeader             = 16 << 10 // bytes of a request's head
)

// Listen starts a listener. An error is Invalid where the options cannot hold, else
// Unavailable.
func Listen(o Options) (*Listener, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Connections <= 0 || o.Connections > connections {
		o.Connections = connections
	}
	if o.URL != "" {
		if err := CheckURL(o.URL); err != nil {
			return nil, err
		}
	}
	if o.Domain != "" {
		if err := CheckDomain(o.Domain); err != nil {
			return nil, err
		}
	}
	l := &Listener{o: o, limiter: rate.NewLimiter(interactionsPerSecond, interactionsPerSecond),
		peers: peers{most: o.Connections},
		scans: map[string]*Session{}}
	var config net.ListenConfig
	web, err := config.Listen(context.Background(), "tcp", o.Listen)
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, err, "cannot listen for calls at %s", o.Listen)
	}
	l.web = web
	at, err := netip.ParseAddrPort(web.Addr().String())
	if err != nil || o.URL == "" && at.Addr().IsUnspecified() {
		return nil, errors.Join(errs.E(errs.Invalid, "a listener for calls at %s needs the address that targets "+
			"reach it at", o.Listen), web.Close())
	}
	if l.o.URL == "" {
		l.o.URL = "http://" + at.String()
	}
	l.answer = answerOf(l.o.URL, at.Addr())
	dns := o.DNS
	if dns == "" {
		dns = at.String()
	}
	l.names, err = config.ListenPacket(context.Background(), "udp", dns)
	if err != nil && (o.DNS != "" || o.Domain != "") { // without a domain it is an extra
		return nil, errors.Join(errs.Wrap(errs.Unavailable, err, "cannot listen for DNS queries at %s", dns),
			web.Close())
	}
	l.startServers()
	return l, nil
}

// answerOf is the address that names of the domain have.
func answerOf(address string, listens netip.Addr) netip.Addr {
	if u, err := url.Parse(address); err == nil {
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
			return ip.Unmap()
		}
	}
	if listens.IsUnspecified() {
		return netip.Addr{}
	}
	return listens.Unmap()
}

// startServers starts what takes calls.
func (l *Listener) startServers() {
	l.server = &http.Server{Handler: http.HandlerFunc(l.serveToken), ReadTimeout: connectionTime,
		WriteTimeout: connectionTime, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)} // what targets send is no matter of ours
	l.server.SetKeepAlivesEnabled(false)
	front := newFront(l)
	l.running.Go(func() { front.acceptConnections() })
	l.running.Go(func() {
		if err := l.server.Serve(front); err != nil && !errors.Is(err, http.ErrServerClosed) && l.o.Log != nil {
			l.o.Log.LogAttrs(context.Background(), slog.LevelError, "the listener for calls of targets ended",
				slog.String("error", err.Error()))
		}
	})
	if l.names != nil {
		l.running.Go(l.serveDNS)
	}
}

// Addr is where the listener listens for HTTP.
func (l *Listener) Addr() net.Addr { return l.web.Addr() }

// Close ends the listener.
func (l *Listener) Close() error {
	err := l.server.Close()
	if closeErr := l.web.Close(); !errors.Is(closeErr, net.ErrClosed) {
		err = errors.Join(err, closeErr)
	}
	if l.names != nil {
		err = errors.Join(err, l.names.Close())
	}
	l.running.Wait()
	if err != nil {
		return fmt.Errorf("close the listener for calls: %w", err)
	}
	return nil
}

// Scan begins to listen for a scan, until its Close.
func (l *Listener) Scan() *Session {
	s := &Session{Tokens: newNames(l.o.URL, l.o.Domain), from: l, tokens: map[string]int{}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scans[s.Tokens.Scan] = s
	return s
}

// findToken returns the first token of a running scan in a text, in lower case.
func (l *Listener) findToken(text string) (*Session, string) {
	text = strings.ToLower(text)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := 0; i+tokenLength <= len(text); i++ {
		if s := l.scans[text[i:i+scanLength]]; s != nil && s.isValidToken(text[i:i+tokenLength]) {
			return s, text[i : i+tokenLength]
		}
	}
	return nil, ""
}

// recordInteraction notes a call that holds a token in at, and returns the token; empty: nobody
// waits for it.
func (l *Listener) recordInteraction(at string, c scan.Interaction) string {
	s, token := l.findToken(at)
	if s == nil {
		return ""
	}
	c.Token, c.At = token, l.o.Now()
	c.Request = strings.ToValidUTF8(c.Request[:min(len(c.Request), maxText)], "?")
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) < maxInteractions && s.tokens[token] < maxPerToken {
		s.tokens[token]++
		s.calls = append(s.calls, c)
	}
	return token
}

// A Session is what arrives for one scan. It implements scan.OASTListener.
type Session struct {
	Tokens
	from *Listener

	mu     sync.Mutex
	calls  []scan.Interaction
	tokens map[string]int // calls that were kept
}

// Interactions implements scan.OASTListener.
func (s *Session) Interactions(n int) []scan.Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < 0 || n >= len(s.calls) {
		return nil
	}
	return append([]scan.Interaction(nil), s.calls[n:]...)
}

// Close forgets what has arrived, and everything that will.
func (s *Session) Close() {
	s.from.mu.Lock()
	defer s.from.mu.Unlock()
	delete(s.from.scans, s.Tokens.Scan)
}
