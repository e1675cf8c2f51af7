package hostile

import (
	"compress/flate"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// This file holds traps that lie in answers: late, endless, huge and broken ones.

// Text that reasons say.
// Each matches the reasons of one kind of coverage gap, so that a trap passes only when the scan
// reports the kind that it provokes: gone for a target without any response, late for one that
// stops or hangs, cut for bodies beyond the size or time limit, broken for responses that are not
// HTTP, and refused for targets that only reject.
var (
	gone    = regexp.MustCompile(`does not respond`)
	late    = regexp.MustCompile(`does not respond|no response in time|did not end in time`)
	part    = regexp.MustCompile(late.String() + `|read only in part`)
	cut     = regexp.MustCompile(`read only in part`)
	broken  = regexp.MustCompile(`got no response`)
	refused = regexp.MustCompile(`were not scanned|nothing was scanned|only that it limits requests|nothing to scan`)
)

// some is how many requests an application answers before it changes.
// Large enough that the crawl has begun and pages are known, small enough that the active checks
// are still to come.
const some = 50

// hanging are targets that stop responding: a scanner without timeouts never ends.
var hanging = []Trap{
	{Name: "dies in the middle", Says: gone, build: func(s *Site) http.Handler {
		// The listener is closed as well: new connections are refused, as after a crash.
		return s.afterRequests(some, ordinarySite(""), func(http.ResponseWriter, *http.Request) { s.killSite() })
	}},
	{Name: "never answers", Says: gone, build: func(*Site) http.Handler { return http.HandlerFunc(neverRespond) }},
	// The connection is accepted and the request read; only a response timeout of the scanner ends
	// it.
	{Name: "answers no more", Says: late, build: func(s *Site) http.Handler {
		return s.afterRequests(some, ordinarySite(""), neverRespond)
	}},
	// The head is complete and promises 1000 bytes: a timeout that ends with the head never fires.
	{Name: "sends a head and nothing else", Says: gone, build: func(*Site) http.Handler {
		return http.HandlerFunc(headOnly)
	}},
	{Name: "sends heads and nothing else from a moment on", Says: late, build: func(s *Site) http.Handler {
		return s.afterRequests(some, ordinarySite(""), headOnly)
	}},
	// Progress never stops, so an idle timeout does not help: only a limit for the whole response
	// does.
	{Name: "one byte a second", Says: late, build: func(s *Site) http.Handler {
		return s.afterRequests(some, ordinarySite(""), dripResponse)
	}},
	{Name: "one byte a second on every page", Says: part, build: func(*Site) http.Handler {
		return http.HandlerFunc(dripResponse)
	}},
	// Server-sent events are meant to stay open. A browser that waits for the network to be idle
	// before it reads the page waits forever.
	{Name: "events without end", Says: part, build: func(*Site) http.Handler {
		return withPrefix("/events",
			`<a href="/events?id=1">events</a><script>for (let i = 0; i < 20; i++) new EventSource('/events?id=' + i).onmessage = e => { document.title += e.data }</script>`, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for writeText(w, "data: "+strings.Repeat("x", 100)+"\n\n") && flushResponse(w) &&
					sleepContext(r.Context(), 10*time.Millisecond) {
				}
			})
	}},
	// Only one page hangs: the rest of the application must still be scanned.
	{Name: "one page hangs", Says: late, build: func(*Site) http.Handler {
		return withPrefix("/slow", `<a href="/slow?a=1">slow</a>`, neverRespond)
	}},
	// The time limit has to include the head: a limit that begins at the body never starts.
	{Name: "one byte of a head a second", Says: late, build: func(s *Site) http.Handler {
		return s.afterRequests(some, ordinarySite(""), hijackConnection(func(c net.Conn) {
			for i := 0; writeText(c, fmt.Sprintf("X-%d: 1\r\n", i)); i++ {
				time.Sleep(time.Second)
			}
		}))
	}},
	// The pattern depends on the number of the request and not on its content, so a repeated
	// request may succeed. A check that takes a lost connection for a crash would report a false
	// positive.
	{Name: "closes every third connection, as if by chance", Says: broken, build: func(s *Site) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if numberedWord("drop", s.Requests())[0]%3 == 0 {
				rawResponse("")(w, r)
				return
			}
			ordinarySite("")(w, r)
		})
	}},
}

// neverRespond holds the request until the client gives up.
func neverRespond(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// headOnly sends headers and never a body.
// The length is sent before the body, so the client cannot take the connection for finished.
func headOnly(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", "1000")
	w.WriteHeader(http.StatusOK)
	flushResponse(w)
	<-r.Context().Done()
}

// dripResponse sends one byte at a time, so that a timeout for each read never fires.
func dripResponse(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w)
	for writeText(w, "x") && flushResponse(w) && sleepContext(r.Context(), time.Second) {
	}
}

// gigabyte is the size of huge answers.
// Far more than the memory that a scan may use, so that reading it whole shows in the peak.
const gigabyte = 1 << 30

// links leads to addresses of the huge and the broken answers, with and without values.
const links = `<a href="/x">x</a> <a href="/x/page?id=1">page</a> <form action="/x/send" method="post"><input name="a"><input type="submit"></form>`

// huge are targets with huge responses: decompression bombs and endless bodies exhaust memory.
var huge = []Trap{
	// The size is known from the head: it can be refused before the body is read.
	{Name: "1 GB with its length", Says: cut, build: func(*Site) http.Handler {
		return withPrefix("/x", links, func(w http.ResponseWriter, _ *http.Request) {
			setSecurityHeaders(w)
			w.Header().Set("Content-Length", fmt.Sprint(gigabyte))
			writeGigabyte(w)
		})
	}},
	// Without a length only counting while reading bounds it.
	{Name: "1 GB in chunks", Says: cut, build: func(*Site) http.Handler {
		return withPrefix("/x", links, func(w http.ResponseWriter, _ *http.Request) {
			setSecurityHeaders(w)
			writeGigabyte(w)
		})
	}},
	{Name: "1 GB on every page", Says: cut, build: func(*Site) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			setSecurityHeaders(w)
			writeGigabyte(w)
		})
	}},
	// About a megabyte on the wire: the limit must apply to the decoded bytes.
	{Name: "1 GB of gzip", Says: cut, build: func(*Site) http.Handler {
		return withPrefix("/x", links, compressionBomb("gzip"))
	}},
	{Name: "1 GB of deflate", Says: cut, build: func(*Site) http.Handler {
		return withPrefix("/x", links, compressionBomb("deflate"))
	}},
	// RFC 9110, section 8.4 allows a list of codings. A client that removes one of them gets a bomb
	// again; decoding is not repeated, so the response is broken.
	{Name: "1 GB of gzip in gzip", Says: broken, build: func(*Site) http.Handler {
		return withPrefix("/x", links, func(w http.ResponseWriter, r *http.Request) {
			outer := gzip.NewWriter(w)
			w.Header().Set("Content-Encoding", "gzip, gzip")
			compressionBomb("gzip")(&within{w, outer}, r)
			_ = outer.Close() // the client may be gone
		})
	}},
	// Go's client does not accept zstd; browsers do. The bomb reaches the browser alone, which must
	// not take the scan with it.
	{Name: "1 GB of zstd for browsers", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/x", links, func(w http.ResponseWriter, r *http.Request) {
			setSecurityHeaders(w)
			if !strings.Contains(r.Header.Get("Accept-Encoding"), "zstd") {
				writePage(w, "<p>hello</p>")
				return
			}
			w.Header().Set("Content-Encoding", "zstd")
			writeText(w, repeatedByte(gigabyte))
		})
	}},
	// The coding is a lie: the body is plain markup. A decoder must fail, not guess.
	{Name: "1 GB said to be brotli and zstd", Says: broken, build: func(*Site) http.Handler {
		return withPrefix("/x", links, func(w http.ResponseWriter, r *http.Request) {
			setSecurityHeaders(w)
			w.Header().Set("Content-Encoding", []string{"br", "zstd"}[len(r.URL.RawQuery)%2])
			writeGigabyte(w)
		})
	}},
}

// writeGigabyte writes a gigabyte of markup.
func writeGigabyte(w io.Writer) {
	block := strings.Repeat(`<p>lorem ipsum <a href="/about">about</a></p>`, 1000)
	for n := 0; n < gigabyte && writeText(w, block); n += len(block) {
	}
}

// compressionBomb answers with a gigabyte that is compressed to a millionth.
func compressionBomb(coding string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		setSecurityHeaders(w)
		w.Header().Set("Content-Encoding", coding)
		if coding == "gzip" {
			z := gzip.NewWriter(w)
			writeGigabyte(z)
			_ = z.Close() // the client may be gone
			return
		}
		// Content-Encoding "deflate" means the zlib format (RFC 9110, section 8.4.1.2); many
		// servers send raw DEFLATE as here, and clients accept both.
		z, err := flate.NewWriter(w, flate.DefaultCompression)
		if err != nil {
			return
		}
		writeGigabyte(z)
		_ = z.Close() // likewise
	}
}

// within is an answer whose body is packed once more. Its own encoding was set before.
type within struct {
	http.ResponseWriter
	outer io.Writer
}

// Header implements http.ResponseWriter: what is packed inside does not say so outside.
// Without it the inner bomb would set headers after the head is written and replace the coding.
func (w *within) Header() http.Header { return http.Header{} }

// Write implements http.ResponseWriter.
func (w *within) Write(p []byte) (int, error) { return w.outer.Write(p) }

// repeatedByte is n spaces in the format of zstd (RFC 8878): a frame without a size, whose
// blocks say a byte and how often it is there.
func repeatedByte(n int) string {
	const most = 128 << 10 // of one block
	// Magic number 0xFD2FB528 in little endian, a frame header without a checksum and without a
	// content size, and a window descriptor (RFC 8878, section 3.1.1).
	out := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58}
	for ; n > 0; n -= most {
		// A block header has three bytes: bit 0 is Last_Block, bits 1 and 2 are the type (1 is RLE,
		// one byte repeated), and the rest is the size.
		head := most<<3 | 1<<1
		if n <= most {
			head = n<<3 | 1<<1 | 1
		}
		out = append(out, byte(head), byte(head>>8), byte(head>>16), ' ')
	}
	return string(out)
}

// ok is the beginning of a response that is written by hand.
const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

// wrong are targets that violate HTTP (RFC 9112).
var wrong = []Trap{
	// The sizes are no hexadecimal number, or overflow 64 bits: a sign error there reads a negative
	// number of bytes.
	{Name: "chunks that are none", Says: broken, build: func(*Site) http.Handler {
		return withPrefix("/x", links, rawResponse(ok+"Transfer-Encoding: "+
			"chunked\r\n\r\nzz\r\n<p>hello</p>\r\nffffffffffffffff\r\n"))
	}},
	{Name: "chunks that break off", Says: cut, build: func(*Site) http.Handler {
		return withPrefix("/x", links, rawResponse(ok+"Transfer-Encoding: chunked\r\n\r\n5\r\n<p>he\r\nff\r\nllo"))
	}},
	// A truncated page is still a page: it is analyzed and the gap is reported.
	{Name: "less than its length says", Says: cut, build: func(*Site) http.Handler {
		return withPrefix("/x", links, rawResponse(ok+"Content-Length: 5000\r\n\r\n<p>short</p>"))
	}},
	// The rest after the length looks like a second response. A client that reuses the connection
	// reads it as the response to its next request (response splitting).
	{Name: "more than its length says", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/x", links, rawResponse(ok+"Content-Length: 3\r\n\r\n<p>HTTP/1.1 200 OK\r\nContent-Length: "+
			"9\r\nSet-Cookie: a=b\r\n\r\n<p>hello</p>"))
	}},
	// RFC 9112, section 6.3: different lengths make the message invalid, since a proxy and a client
	// may disagree about its end.
	{Name: "two lengths", Says: broken, build: func(*Site) http.Handler {
		return withPrefix("/x", links, rawResponse(ok+"Content-Length: 12\r\nContent-Length: 1\r\n\r\n<p>hello</p>"))
	}},
	{Name: "a negative and a huge length", Says: broken, build: func(*Site) http.Handler {
		return withPrefix("/x", links, rawResponse(ok+"Content-Length: -1\r\n\r\n<p>hello</p>"))
	}},
	// A body without a status line: HTTP/0.9 is not supported any more.
	{Name: "HTTP/0.9", Says: broken, build: func(*Site) http.Handler {
		return withPrefix("/x", links, rawResponse("<html><p>hello</p></html>"))
	}},
	// Every connection is like this, the first included, so nothing of the target can be scanned.
	{Name: "no HTTP at all", Says: regexp.MustCompile(`does not respond`), build: func(*Site) http.Handler {
		return rawResponse("SSH-2.0-OpenSSH_9.2\r\n\x00\xff\xfe")
	}},
	{Name: "gzip that is none", Says: broken, build: func(*Site) http.Handler {
		return withPrefix("/x", links, rawResponse(ok+"Content-Encoding: gzip\r\nContent-Length: "+
			"12\r\n\r\n<p>hello</p>"))
	}},
	// Any number of 1xx responses may come before the final one (RFC 9110, section 15.2); a client
	// needs a limit of its own.
	{Name: "interim answers without end", Says: broken, build: func(*Site) http.Handler {
		return withPrefix("/x", links, hijackConnection(func(c net.Conn) {
			for writeText(c, "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n") {
			}
		}))
	}},
	// 8000 bytes a field stay below common limits of one line, so the limit of the whole head is
	// tested.
	{Name: "a head without end", Says: broken, build: func(*Site) http.Handler {
		return withPrefix("/x", links, hijackConnection(func(c net.Conn) {
			for more := writeText(c, ok); more; more = writeText(c, "X-More: "+strings.Repeat("a", 8000)+"\r\n") {
			}
		}))
	}},
	// Below the limit of 1 MB for a head of the scanner's client: it is valid and must be scanned.
	{Name: "900 KB of headers", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/x", links, hijackConnection(func(c net.Conn) {
			writeText(c, ok)
			for i := range 900 {
				writeText(c, fmt.Sprintf("X-More-%d: %s\r\n", i, strings.Repeat("a", 1000)))
			}
			writeText(c, "Content-Length: 12\r\n\r\n<p>hello</p>")
		}))
	}},
	// Trailers come after the last chunk and are read with the body; the page is complete before
	// them.
	{Name: "trailers without end", Says: cut, build: func(*Site) http.Handler {
		return withPrefix("/x", links, hijackConnection(func(c net.Conn) {
			for more := writeText(c, ok+"Transfer-Encoding: chunked\r\nTrailer: "+
				"X-More\r\n\r\n5\r\n<p>he\r\n0\r\n"); more; more = writeText(c, "X-More: "+strings.Repeat("a", 8000)+
				"\r\n") {
			}
		}))
	}},
	// A chunk extension is ignored by the receiver, but it has to be read (RFC 9112, section
	// 7.1.1).
	{Name: "a chunk with an extension without end", Says: broken, build: func(*Site) http.Handler {
		return withPrefix("/x", links, hijackConnection(func(c net.Conn) {
			for more := writeText(c, ok+"Transfer-Encoding: chunked\r\n\r\n5;a="); more; more = writeText(c,
				strings.Repeat("a", 8000)) {
			}
		}))
	}},
	// The overhead is 3,000 bytes for each byte of content: a limit of the content alone is never
	// met.
	{Name: "chunks of one byte with long extensions", Says: cut, build: func(*Site) http.Handler {
		return withPrefix("/x", links, hijackConnection(func(c net.Conn) {
			for more := writeText(c, ok+"Transfer-Encoding: chunked\r\n\r\n"); more; more = writeText(c,
				"1;a="+strings.Repeat("a", 3000)+"\r\nx\r\n") {
			}
		}))
	}},
	// More than 64 bits hold. A parser that wraps around reads a small or negative number.
	{Name: "a length of twenty digits", Says: broken, build: func(*Site) http.Handler {
		return withPrefix("/x", links, rawResponse(ok+"Content-Length: 99999999999999999999\r\n\r\n<p>hello</p>"))
	}},
	// The greatest length in 64 bits. To allocate it before reading would end the process.
	{Name: "a length of nine exabytes", Says: part, build: func(*Site) http.Handler {
		return withPrefix("/x", links, rawResponse(ok+"Content-Length: 9223372036854775807\r\n\r\n<p>hello</p>"))
	}},
	{Name: "100 Continue without end", Says: broken, build: func(*Site) http.Handler {
		return withPrefix("/x", links, hijackConnection(func(c net.Conn) {
			for writeText(c, strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100)) {
			}
		}))
	}},
	// The jar would otherwise be sent with each request, until requests are too large to be
	// accepted.
	{Name: "100,000 cookies", Says: regexp.MustCompile(`too many cookies`), build: func(s *Site) http.Handler {
		rest := ordinarySite("")
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for i := range 2000 { // as many as fit into a head; others with each answer
				http.SetCookie(w, &http.Cookie{Name: fmt.Sprintf("c%d_%d", s.Requests()%50, i),
					Value: strings.Repeat("v", 20), Path: "/", Secure: true, HttpOnly: true,
					SameSite: http.SameSiteLaxMode})
			}
			rest(w, r)
		})
	}},
	// Each part is valid on the wire for a tolerant client, and an error for a naive parser: a
	// status text with control bytes, an unclosed quote, an empty cookie, and two Locations that
	// are no URL.
	{Name: "odd statuses and names", Whole: true, build: func(*Site) http.Handler {
		return withPrefix("/x", links, rawResponse("HTTP/1.1 799 \x01\xff\r\nContent-Type: text/html; "+
			"charset=\"utf-7\r\nSet-Cookie: ;;;=\r\nLocation: \x00\r\nLocation: http://[::1\r\nContent-Length: "+
			"12\r\n\r\n<p>hello</p>"))
	}},
}

// refusing are targets that reject or rate-limit the scanner: a scan must not report full
// coverage.
var refusing = []Trap{
	// The target is reachable but nothing of it was scanned, which must not read as "no findings".
	{Name: "429 always", Says: refused, build: func(*Site) http.Handler {
		return statusHandler(http.StatusTooManyRequests, "")
	}},
	// Retry-After of eleven days: the scan must not sleep for it.
	{Name: "429 always, Retry-After: 999999", Says: refused, build: func(*Site) http.Handler {
		return statusHandler(http.StatusTooManyRequests, "999999")
	}},
	{Name: "429 from a moment on, Retry-After: 999999", Says: refused, build: func(s *Site) http.Handler {
		return s.afterRequests(some, ordinarySite(""), statusHandler(http.StatusTooManyRequests, "999999"))
	}},
	{Name: "401 always", Says: refused, build: func(*Site) http.Handler {
		return statusHandler(http.StatusUnauthorized, "")
	}},
	{Name: "500 always", Says: refused, build: func(*Site) http.Handler {
		return statusHandler(http.StatusInternalServerError, "")
	}},
	{Name: "503 always, Retry-After: 999999", Says: refused, build: func(*Site) http.Handler {
		return statusHandler(http.StatusServiceUnavailable, "999999")
	}},
	{Name: "503 from a moment on", Says: refused, build: func(s *Site) http.Handler {
		return s.afterRequests(some, ordinarySite(""), statusHandler(http.StatusServiceUnavailable, ""))
	}},
	// Blocking after some requests is how web application firewalls react to a scanner.
	{Name: "403 after 50 requests", Says: refused, build: func(s *Site) http.Handler {
		return s.afterRequests(some, ordinarySite(""), statusHandler(http.StatusForbidden, ""))
	}},
}

// statusHandler answers everything with one status.
// after is the value of Retry-After in seconds; "" leaves the header out.
func statusHandler(code int, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		setSecurityHeaders(w)
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(code)
		writePage(w, fmt.Sprintf("<h1>%d %s</h1>", code, http.StatusText(code)))
	}
}
