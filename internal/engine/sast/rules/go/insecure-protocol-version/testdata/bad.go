package net

import "crypto/tls"

func config() *tls.Config {
	// ruleid: insecure-protocol-version
	return &tls.Config{MinVersion: tls.VersionTLS10}
}
