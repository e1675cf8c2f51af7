package store_test

import (
	"net/netip"
	"slices"
	"testing"
)

// TestHostAddresses keeps the latest addresses of a host for each organization alone.
func TestHostAddresses(t *testing.T) {
	eachRuns(t, func(t *testing.T, db runs) {
		ours, theirs := db.organization(1), db.organization(1)
		a, b := netip.MustParseAddr("198.51.100.7"), netip.MustParseAddr("2001:db8::7")
		for _, seen := range [][]netip.Addr{{a}, {b, a}} {
			db.must(db.SaveHostAddresses(t.Context(), ours, "shop.example.org", seen))
			if got, err := db.HostAddresses(t.Context(), ours, "shop.example.org"); err != nil ||
				!slices.Equal(got, seen) {
				t.Errorf("%v, %v, want %v", got, err, seen)
			}
		}
		if got, err := db.HostAddresses(t.Context(), theirs, "shop.example.org"); err != nil || got != nil {
			t.Errorf("another organization sees %v, %v", got, err)
		}
		if got, err := db.HostAddresses(t.Context(), ours, "other.example.org"); err != nil || got != nil {
			t.Errorf("another host: %v, %v", got, err)
		}
	})
}
