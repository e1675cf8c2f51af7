package hostile

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Each trap is told apart, says what a scan has to say, and answers something or holds
// the connection.
func TestTraps(t *testing.T) {
	names := map[string]bool{}
	for _, trap := range Traps {
		if names[trap.Name] || trap.Name == "" {
			t.Errorf("two traps are called %q", trap.Name)
		}
		names[trap.Name] = true
		if (trap.Says == nil) != trap.Whole {
			t.Errorf("%s: either a scan is whole, or it has something to say", trap.Name)
		}
		if trap.API != (len(trap.Descriptions) > 0) {
			t.Errorf("%s: an API has descriptions, and nothing else has", trap.Name)
		}
	}
}

// TestFirstPages asks some traps for their first page.
func TestFirstPages(t *testing.T) {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // nobody knows the certificate
	defer transport.CloseIdleConnections()
	for _, trap := range Traps {
		s := &Site{}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s.startTrap(l, trap)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(trap.Base(), address)+
			l.Addr().String()+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
		if err == nil {
			_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
			_ = resp.Body.Close() // it was only read
		}
		late := ctx.Err() != nil
		cancel()
		if err != nil && !late && trap.takes == nil && trap.Name != "no HTTP at all" {
			t.Errorf("%s: %v", trap.Name, err)
		}
		s.Close()
		if !late && trap.takes == nil && trap.Name != "closes every third connection, as if by chance" &&
			s.Requests() != 1 {
			t.Errorf("%s: %d requests were counted", trap.Name, s.Requests())
		}
	}
}

// Words are many, and the same for the same address.
func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for i := range 1000 {
		seen[numberedWord("a", i)] = true
	}
	if len(seen) != 1000 || numberedWord("b", 1) == numberedWord("a", 1) {
		t.Errorf("%d words of 1000", len(seen))
	}
}

// The bomb of zstd begins as RFC 8878 says, and says its size.
func TestRepeatedByte(t *testing.T) {
	got := repeatedByte(300 << 10)
	if len(got) != 6+3*4 || got[:4] != "\x28\xb5\x2f\xfd" {
		t.Fatalf("%x", got)
	}
	size, last := 0, false
	for at := 6; at < len(got); at += 4 {
		head := int(got[at]) | int(got[at+1])<<8 | int(got[at+2])<<16
		if last || head>>1&3 != 1 {
			t.Errorf("block %x", head)
		}
		size, last = size+head>>3, head&1 == 1
	}
	if size != 300<<10 || !last {
		t.Errorf("%d bytes, at its end: %v", size, last)
	}
}
