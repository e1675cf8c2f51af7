package hostile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// This file holds traps that lie below the answers: handshakes that do not end, and
// connections of HTTP/2 (RFC 9113), which browsers speak, that break its rules.

// listenTLS serves by TLS, with a certificate that nobody knows; HTTP/2 is offered if it is
// to be.
// The certificate is self-signed for 127.0.0.1 and valid for a day. second offers "h2" by ALPN (RFC
// 7301) before "http/1.1".
func listenTLS(l net.Listener, second bool) net.Listener {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // there is always a random number
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	certificate, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		panic(err) // of what is written above
	}
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}},
		NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
	if second {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	return tls.NewListener(l, config)
}

// afterConnections gives the first connections to the application, and the others to f.
// A count of n = 0 hands every connection to f. f runs in its own goroutine, so that one hanging
// handshake does not keep the others from being accepted.
func afterConnections(n int64, f func(net.Conn)) func(*Site, net.Conn) bool {
	return func(s *Site, c net.Conn) bool {
		if s.asked.Add(1) <= n {
			return false
		}
		go func() {
			defer func() { _ = c.Close() }() // that is the point
			f(c)
		}()
		return true
	}
}

// readForever reads, and never says anything.
// Reading keeps the receive window open: the client blocks on our response and not on its own
// write.
func readForever(c net.Conn) { _, _ = io.Copy(io.Discard, c) } // until it is closed

// dripHandshake sends the beginning of a handshake, one byte a second.
func dripHandshake(c net.Conn) {
	// The client's own messages are read at the same time, otherwise it could fail on a full buffer
	// first.
	go readForever(c)
	// A TLS record (type 22, handshake) of version 3.3 whose length is 16 KB, with a ServerHello
	// that announces as much.
	for text := "\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03" + strings.Repeat("x", 16_000); text != "" &&
		writeText(c, text[:1]); text = text[1:] {
		time.Sleep(time.Second)
	}
}

// refuseHandshake answers each handshake with the alert handshake_failure.
func refuseHandshake(c net.Conn) {
	// The alert is sent after the first byte, so that the client is in the middle of its handshake.
	_, _ = c.Read(make([]byte, 1)) // whatever it says
	// A record of type 21 with a fatal (2) alert 40, handshake_failure (RFC 8446, section 6).
	writeText(c, "\x15\x03\x03\x00\x02\x02\x28")
}

// closeEachConnection is an ordinary application that wants a new connection for each request.
// Traps that count connections would otherwise see one, which HTTP/1.1 keeps open for all requests.
func closeEachConnection(*Site) http.Handler {
	pages := ordinarySite("")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		// Without it the scan would report the missing header, and no trap may have a
		// vulnerability.
		w.Header().Set("Strict-Transport-Security", "max-age=63072000")
		pages(w, r)
	})
}

// serveHTTP2 serves ordinary pages by HTTP/1.1, and whoever speaks HTTP/2 is given to f after
// the settings were told: for each head of a request once.
func serveHTTP2(f func(*http2.Framer, *http2.HeadersFrame) error) func(s *Site) http.Handler {
	return func(s *Site) http.Handler {
		s.second = func(c *tls.Conn) {
			// The connection begins with the client preface "PRI * HTTP/2.0…" (RFC 9113, section
			// 3.4).
			if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
				return // it is gone
			}
			framer := http2.NewFramer(c, c)
			// The server preface is a SETTINGS frame, which may be empty.
			if framer.WriteSettings() != nil {
				return
			}
			for {
				frame, err := framer.ReadFrame()
				if err != nil {
					return // likewise
				}
				switch frame := frame.(type) {
				case *http2.SettingsFrame:
					// An unacknowledged SETTINGS frame ends the connection with SETTINGS_TIMEOUT.
					if !frame.IsAck() {
						err = framer.WriteSettingsAck()
					}
				case *http2.HeadersFrame:
					s.requests.Add(1)
					err = f(framer, frame)
				}
				if err != nil {
					return
				}
			}
		}
		return closeEachConnection(s)
	}
}

// encodeHeaders writes the head of an answer, as HPACK wants it.
func encodeHeaders(fields ...string) []byte {
	// A new encoder for each block keeps its dynamic table empty, so blocks do not depend on each
	// other.
	var out strings.Builder
	e := hpack.NewEncoder(&out)
	for i := 0; i+1 < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}) // a builder takes everything
	}
	return []byte(out.String())
}

// writePageHeaders writes the head of a page.
// more leaves the stream open for a body.
func writePageHeaders(f *http2.Framer, stream uint32, more bool) error {
	return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream,
		BlockFragment: encodeHeaders(":status", "200", "content-type", "text/html; charset=utf-8"), EndHeaders: true,
		EndStream: !more})
}

// encryption are targets whose TLS handshake or HTTP/2 connection misbehaves.
var encryption = []Trap{
	// Everything by HTTP/2 is Whole: the scanner itself speaks HTTP/1.1, so only the browser meets
	// it.
	{Name: "handshakes that hang", TLS: true, Says: gone, build: closeEachConnection,
		takes: afterConnections(0, readForever)},
	{Name: "handshakes that hang from a moment on", TLS: true, Says: late, build: closeEachConnection,
		takes: afterConnections(some, readForever)},
	{Name: "handshakes of one byte a second", TLS: true, Says: gone, build: closeEachConnection,
		takes: afterConnections(0, dripHandshake)},
	{Name: "handshakes of one byte a second from a moment on", TLS: true, Says: late, build: closeEachConnection,
		takes: afterConnections(some, dripHandshake)},
	{Name: "an alert at each handshake", TLS: true, Says: gone, build: closeEachConnection,
		takes: afterConnections(0, refuseHandshake)},
	{Name: "an alert at each handshake from a moment on", TLS: true,
		Says: regexp.MustCompile(late.String() + `|got no response`), build: closeEachConnection,
		takes: afterConnections(some, refuseHandshake)},
	{Name: "HTTP/2 that resets each stream", TLS: true, Whole: true,
		build: serveHTTP2(func(f *http2.Framer, h *http2.HeadersFrame) error {
			// Many resets of one stream are a cost for the client, as in the attack "Rapid Reset"
			// (CVE-2023-44487) the other way round.
			for range 1000 {
				if err := f.WriteRSTStream(h.StreamID, http2.ErrCodeRefusedStream); err != nil {
					return err
				}
			}
			return nil
		})},
	{Name: "HTTP/2 that goes away at each request", TLS: true, Whole: true,
		build: serveHTTP2(func(f *http2.Framer, _ *http2.HeadersFrame) error {
			// Last stream 0 says that no request was processed, so a client may repeat it on a new
			// connection, and gets the same again.
			if err := f.WriteGoAway(0, http2.ErrCodeNo, []byte("later")); err != nil {
				return err
			}
			return io.EOF
		})},
	{Name: "HTTP/2 with a head without end", TLS: true, Whole: true,
		build: serveHTTP2(func(f *http2.Framer, h *http2.HeadersFrame) error {
			err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: h.StreamID,
				BlockFragment: encodeHeaders(":status", "200")})
			// CONTINUATION frames without END_HEADERS must be collected by the client
			// (CVE-2024-27316 for servers).
			for more := encodeHeaders("x-more", strings.Repeat("a", 8000)); err == nil; {
				err = f.WriteContinuation(h.StreamID, false, more)
			}
			return err
		})},
	{Name: "HTTP/2 with a window of nothing", TLS: true, Whole: true,
		build: serveHTTP2(func(f *http2.Framer, h *http2.HeadersFrame) error {
			// A window of zero keeps the client from sending a body of its own.
			if err := f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
				return err
			}
			return writePageHeaders(f, h.StreamID, true) // and no body, for ever
		})},
	{Name: "HTTP/2 with pings and settings without end", TLS: true, Whole: true,
		build: serveHTTP2(func(f *http2.Framer, h *http2.HeadersFrame) error {
			err := writePageHeaders(f, h.StreamID, true)
			for err == nil {
				// Both must be acknowledged (RFC 9113, sections 6.5 and 6.7): each costs the client
				// a frame.
				if err = f.WritePing(false, [8]byte{}); err == nil {
					err = f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
				}
			}
			return err
		})},
	{Name: "HTTP/2 with an empty body without end", TLS: true, Whole: true,
		build: serveHTTP2(func(f *http2.Framer, h *http2.HeadersFrame) error {
			err := writePageHeaders(f, h.StreamID, true)
			for err == nil {
				// Empty DATA frames do not use up the flow control window, so they never have to
				// stop.
				err = f.WriteData(h.StreamID, false, nil)
			}
			return err
		})},
}
