package guard

import (
	"testing"
)

// TestHostNames holds the names to those that give a whole host: a port or a scheme
// alone says nothing of where an address leads.
func TestHostNames(t *testing.T) {
	for name, want := range map[string]bool{"netloc": true, "getHost": true, "Hostname": true, "port": false,
		"scheme": false, "pathname": false} {
		if hostNames[name] != want {
			t.Errorf("%s: %v, want %v", name, hostNames[name], want)
		}
	}
}
