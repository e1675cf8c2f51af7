package net

import "crypto/tls"

func config() *tls.Config {
	// ok: insecure-protocol-version
	return &tls.Config{MinVersion: tls.VersionTLS13}
}
