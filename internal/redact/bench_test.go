package redact

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkText redacts a page of 16 KiB with the secrets of three identities and 200
// cookies that were handed out.
func BenchmarkText(b *testing.B) {
	s := &Set{}
	s.AddPublic("https://shop.example.org/")
	for n := range 10 {
		s.Add("X-Key", fmt.Sprintf("k3y-%d-8f2a91c4", n))
		s.Add(Password, []string{"admin", "1", "true", "letmein"}[n%4])
	}
	for n := range 200 {
		s.AddObtained("sid", fmt.Sprintf("4F1A9C03B77E2D5A%016x", n))
	}
	page := strings.Repeat(`<div class="row"><a href="/items?id=42&amp;sort=name%20asc">An item &quot;with&quot; a name</a> {"price": 12.5, "sku": "a1b2"}</div>`+"\n", 128)
	s.RedactText(page)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		s.RedactText(page)
	}
}
