package hostile

import (
	"context"
	"io"
	"net"
	"net/http"
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
	for _, trap := range Traps {
		s := &Site{}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s.start(l, trap)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String()+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
			_ = resp.Body.Close() // it was only read
		}
		late := ctx.Err() != nil
		cancel()
		if err != nil && !late && trap.Name != "no HTTP at all" {
			t.Errorf("%s: %v", trap.Name, err)
		}
		s.Close()
		if !late && trap.Name != "closes every third connection, as if by chance" && s.Requests() != 1 {
			t.Errorf("%s: %d requests were counted", trap.Name, s.Requests())
		}
	}
}

// Words are many, and the same for the same address.
func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for i := range 1000 {
		seen[word("a", i)] = true
	}
	if len(seen) != 1000 || word("b", 1) == word("a", 1) {
		t.Errorf("%d words of 1000", len(seen))
	}
}
