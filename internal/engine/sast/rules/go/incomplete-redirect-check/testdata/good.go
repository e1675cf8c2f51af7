package door

import (
	"net/url"
	"strings"
)

func local(returnTo string) bool {
	// ok: incomplete-redirect-check
	return len(returnTo) > 1 && returnTo[0] == '/' && returnTo[1] != '/' && returnTo[1] != '\\'
}

func parsed(redirect string) bool {
	u, err := url.Parse(redirect)
	// ok: incomplete-redirect-check
	return err == nil && u.Host == "" && strings.HasPrefix(redirect, "/")
}

func route(path string) bool {
	// ok: incomplete-redirect-check
	return strings.HasPrefix(path, "/")
}
