package net

import "crypto/tls"

func config() *tls.Config {
	// ok: certificate-verification-off
	return &tls.Config{MinVersion: tls.VersionTLS12}
}
