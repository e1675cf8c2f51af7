package links

import (
	"net/url"
	"strings"
)

func clean(address string) string {
	u, err := url.Parse(address)
	// ruleid: incomplete-scheme-check
	if err != nil || u.Scheme == "javascript" {
		return "about:blank"
	}
	return address
}

func allowed(address string) bool {
	// ruleid: incomplete-scheme-check
	return !strings.HasPrefix(address, "javascript:")
}
