package links

import "net/url"

func clean(address string) string {
	u, err := url.Parse(address)
	// ok: incomplete-scheme-check
	if err != nil || u.Scheme == "javascript" || u.Scheme == "data" || u.Scheme == "vbscript" {
		return "about:blank"
	}
	return address
}

func strict(address string) bool {
	u, err := url.Parse(address)
	// ok: incomplete-scheme-check
	return err == nil && (u.Scheme == "https" || u.Scheme == "http")
}
